# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Go where the wire is: into a network namespace, and the user namespace that owns it."""

from __future__ import annotations

import ctypes
import fcntl
import os

from stewart_driver.errors import TransportError

NS_GET_USERNS = 0xB701
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
OWN = '/proc/self/ns'


def enter(path: str) -> None:
    """Move this process into a network namespace, a file such as ``/proc/<pid>/ns/net``.

    In a user namespace that one's own user has made, one has every capability, so that raw
    sockets need no root. The kernel lets only a process with a single thread in.

    Raises:
        TransportError: If there is none, or it may not be entered.
    """
    try:
        network = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(path, str(error.strerror)) from error
    try:
        if _same(network, 'net'):
            return
        try:
            owner = fcntl.ioctl(network, NS_GET_USERNS)
        except OSError as error:
            why = f'its owner cannot be found, {error.strerror}'
            raise _refused(path, why) from error
        try:
            if not _same(owner, 'user'):
                _set(owner, NEW_USER, path)
        finally:
            os.close(owner)
        _set(network, NEW_NETWORK, path)
    finally:
        os.close(network)


def _same(descriptor: int, kind: str) -> bool:
    return os.path.samestat(os.fstat(descriptor), os.stat(f'{OWN}/{kind}'))


def _set(descriptor: int, kind: int, path: str) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(descriptor, kind) == 0:
        return
    reason = os.strerror(ctypes.get_errno())
    threads = len(os.listdir('/proc/self/task'))
    if threads > 1:
        reason += f' (this process has {threads} threads and may have one)'
    raise _refused(path, reason)


def _refused(path: str, reason: str) -> TransportError:
    return TransportError(f'cannot enter the network namespace {path}: {reason}')
