# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A network of our own: user and network namespace, and a pair of virtual Ethernet ports in it.

Made without root: in a user namespace of its own a process has the capabilities that raw sockets
and new interfaces need. The kernel lets only a process with a single thread enter one, and removes
everything when the last process in it is gone.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from stewart_simulation.ethercat.errors import NamespaceError
from stewart_simulation.ethercat.permissions import what_permits

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
PR_SET_PDEATHSIG = 1
NET_ADMIN, NET_RAW = 12, 13
MASTER_PORT, SEGMENT_PORT = 'ecat0', 'ecat1'


def threads() -> int:
    """Return how many threads this process has."""
    return len(os.listdir('/proc/self/task'))


def enter() -> None:
    """Move this process into a user and a network namespace of its own.

    It is root in there and nobody special outside. Its children follow.

    Raises:
        NamespaceError: If the process has more than one thread, or the machine forbids it; the
            message names the lines that permit it.
    """
    step = 'make a user and network namespace'
    if (count := threads()) > 1:
        raise NamespaceError(step, f'the process has {count} threads and may have one')
    user, group = os.geteuid(), os.getegid()
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(NEW_USER | NEW_NETWORK):
        number = ctypes.get_errno()
        raise NamespaceError(step, os.strerror(number), what_permits(number))
    try:
        _write('setgroups', 'deny')
        _write('uid_map', f'0 {user} 1')
        _write('gid_map', f'0 {group} 1')
    except OSError as error:
        raise NamespaceError(
            'become root in the namespace', str(error.strerror), what_permits(error.errno or 0)
        ) from error


def _write(name: str, text: str) -> None:
    Path('/proc/self', name).write_text(text, encoding='utf-8')


def connect(master: str = MASTER_PORT, segment: str = SEGMENT_PORT) -> None:
    """Make two virtual Ethernet ports that are connected to each other.

    Args:
        master, segment: Their names.

    Raises:
        NamespaceError: If this is not allowed here.
    """
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
    for line in Path('/proc/self/status').read_text(encoding='utf-8').splitlines():
        if line.startswith('CapEff:'):
            held = int(line.split()[1], 16)
            return bool(held >> NET_ADMIN & 1 and held >> NET_RAW & 1)
    return False


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel for a signal when the parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
