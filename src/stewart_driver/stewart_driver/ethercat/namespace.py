# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Go where the wire is: into a network namespace, and the user namespace that owns it."""

from __future__ import annotations

import ctypes
import fcntl
import os

from stewart_driver.ethercat.errors import NoNamespace

NS_GET_USERNS = 0xB701
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
OWN = '/proc/self/ns'


def enter(path: str) -> None:
    """Move this process into a network namespace.

    In a user namespace that one's own user has made, one has every capability, so that raw
    sockets need no root. The kernel lets only a process with a single thread in.

    Args:
        path: File of the namespace, such as ``/proc/<pid>/ns/net``.

    Raises:
        NoNamespace: If there is none, or it may not be entered.
    """
    try:
        network = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise NoNamespace(path, str(error.strerror)) from error
    try:
        if _same(network, 'net'):
            return
        owner = _owner(network, path)
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


def _owner(network: int, path: str) -> int:
    try:
        return fcntl.ioctl(network, NS_GET_USERNS)
    except OSError as error:
        raise NoNamespace(path, f'its owner cannot be found, {error.strerror}') from error


def _set(descriptor: int, kind: int, path: str) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(descriptor, kind) == 0:
        return
    reason = os.strerror(ctypes.get_errno())
    threads = len(os.listdir('/proc/self/task'))
    if threads > 1:
        reason += f' (this process has {threads} threads and may have one)'
    raise NoNamespace(path, reason)
