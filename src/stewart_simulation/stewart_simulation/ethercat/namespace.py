# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A network of our own: user and network namespace, and a pair of virtual Ethernet ports in it.

Made without root: in a user namespace of its own a process has the capabilities that raw sockets
and new interfaces need. The kernel lets only a process with a single thread enter one, and removes
everything when the last process in it is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
import ctypes
import errno
import os
from pathlib import Path

from stewart_simulation.errors import SegmentError

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
PR_SET_PDEATHSIG = 1
NET_ADMIN, NET_RAW = 12, 13
MASTER_PORT, SEGMENT_PORT = 'ecat0', 'ecat1'


# The lines that permit a network of our own.
UBUNTU = 'Ubuntu 24.04: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0'
DEBIAN = 'Debian before 11, hardened kernels: sudo sysctl kernel.unprivileged_userns_clone=1'
LIMITS = (
    'all namespaces used up: sudo sysctl user.max_user_namespaces=10000 '
    'user.max_net_namespaces=10000'
)
CONTAINERS = 'Docker, Podman: run with --cap-add=NET_ADMIN --cap-add=NET_RAW'
EVERY = (UBUNTU, DEBIAN, LIMITS, CONTAINERS)
# Where the kernel shows what forbids it, and what it then shows.
SIGNS = (
    ('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1', UBUNTU),
    ('/proc/sys/kernel/unprivileged_userns_clone', '0', DEBIAN),
    ('/proc/sys/user/max_user_namespaces', '0', LIMITS),
    ('/proc/sys/user/max_net_namespaces', '0', LIMITS),
)
FILTERED = 'Seccomp:\t2'


class NamespaceError(SegmentError, OSError):
    """A network of our own cannot be made on this machine."""

    def __init__(self, step: str, reason: str, lines: Sequence[str] = EVERY) -> None:
        offered = '\n  '.join(lines)
        super().__init__(f'cannot {step}: {reason}. What permits it:\n  {offered}')


def what_permits(number: int) -> tuple[str, ...]:
    """Return the lines that may permit what the kernel has refused with this `errno`.

    Those whose cause is seen here; all, if none is.
    """
    if number in {errno.ENOSPC, errno.EUSERS}:
        return (LIMITS,)
    seen = [line for place, forbidding, line in SIGNS if _read(place).strip() == forbidding]
    # In a container the settings of the host can be read, but are not what is in the way first.
    if FILTERED in _read('/proc/self/status'):
        seen.insert(0, CONTAINERS)
    return tuple(dict.fromkeys(seen)) or EVERY


def _read(place: str) -> str:
    try:
        return Path(place).read_text(encoding='utf-8')
    except OSError:
        return ''


def enter() -> None:
    """Move this process into a user and a network namespace of its own, and its children with it.

    It is root in there and nobody special outside.

    Raises:
        NamespaceError: If the process has more than one thread, or the machine forbids it.
    """
    step = 'make a user and network namespace'
    if (count := len(os.listdir('/proc/self/task'))) > 1:
        raise NamespaceError(step, f'the process has {count} threads and may have one')
    user, group = os.geteuid(), os.getegid()
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(NEW_USER | NEW_NETWORK):
        number = ctypes.get_errno()
        raise NamespaceError(step, os.strerror(number), what_permits(number))
    try:
        for name, text in (
            ('setgroups', 'deny'),
            ('uid_map', f'0 {user} 1'),
            ('gid_map', f'0 {group} 1'),
        ):
            Path('/proc/self', name).write_text(text, encoding='utf-8')
    except OSError as error:
        raise NamespaceError(
            'become root in the namespace', str(error.strerror), what_permits(error.errno or 0)
        ) from error


def connect(master: str = MASTER_PORT, segment: str = SEGMENT_PORT) -> None:
    """Make two virtual Ethernet ports, connected; raises `NamespaceError` if it is forbidden."""
    from pyroute2 import IPRoute, NetlinkError

    try:
        with IPRoute() as route:
            route.link('add', ifname=master, kind='veth', peer=segment)
            for name in (master, segment):
                (number,) = route.link_lookup(ifname=name)
                route.link('set', index=number, state='up')
    except NetlinkError as error:
        reason = os.strerror(error.code)
        raise NamespaceError(
            f'connect {master} with {segment}', reason, what_permits(error.code)
        ) from error


def disconnect(port: str) -> None:
    """Remove a port and its peer; harmless if they are gone."""
    from pyroute2 import IPRoute, NetlinkError

    with IPRoute() as route:
        for number in route.link_lookup(ifname=port):
            try:
                route.link('del', index=number)
            except NetlinkError as error:
                if error.code != errno.ENODEV:
                    raise


def may_use_raw_sockets() -> bool:
    """Tell whether this process may make interfaces and raw sockets where it is."""
    for line in _read('/proc/self/status').splitlines():
        if line.startswith('CapEff:'):
            held = int(line.split()[1], 16)
            return bool(held >> NET_ADMIN & 1 and held >> NET_RAW & 1)
    return False


def prepare() -> tuple[str, str, bool]:
    """Make the wire between master and segment; raises `NamespaceError` where that is impossible.

    In a namespace of our own where the machine allows it; else, with the capabilities NET_ADMIN
    and NET_RAW, where we are.

    Returns:
        Port of the master, port of the segment, and whether the ports are to be removed.
    """
    try:
        enter()
    except NamespaceError as refusal:
        if not may_use_raw_sockets():
            raise
        ports = f'em{os.getpid()}', f'es{os.getpid()}'
        try:
            connect(*ports)
        except NamespaceError:
            # Root of a user namespace has capabilities that are worth nothing outside.
            raise refusal from None
        return (*ports, True)
    connect()
    return MASTER_PORT, SEGMENT_PORT, False


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel for a signal when the parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
