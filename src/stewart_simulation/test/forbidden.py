# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a command where the kernel refuses namespaces: ``forbidden.py limit|seccomp command…``.

``limit``: the number of namespaces is 0, as an administrator sets it; here in a user namespace of
our own. ``seccomp``: a filter refuses to make them, and the capabilities are gone, as in a
container with Docker's default profile.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
import platform
import sys

from stewart_simulation.ethercat import namespace

NOT_POSSIBLE = 77
UNSHARE = {'x86_64': 272, 'aarch64': 97}
PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 24, 38, 2
CAPABILITIES = 64
LOAD_NUMBER, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE_EPERM, ALLOW = 0x00050001, 0x7FFF0000
LIBRARY = ctypes.CDLL(None, use_errno=True)


class Instruction(ctypes.Structure):
    """``struct sock_filter``."""

    _fields_ = (
        ('code', ctypes.c_uint16),
        ('jt', ctypes.c_uint8),
        ('jf', ctypes.c_uint8),
        ('k', ctypes.c_uint32),
    )


class Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (('length', ctypes.c_uint16), ('filter', ctypes.POINTER(Instruction)))


def limit() -> None:
    """Allow no namespace inside the one that is made here."""
    user = os.geteuid()
    if LIBRARY.unshare(namespace.NEW_USER):
        raise OSError(ctypes.get_errno(), 'no user namespace')
    Path('/proc/self/uid_map').write_text(f'0 {user} 1', encoding='ascii')
    Path('/proc/sys/user/max_user_namespaces').write_text('0', encoding='ascii')


def seccomp() -> None:
    """Refuse the system call, for this process and its children."""
    for capability in range(CAPABILITIES):
        LIBRARY.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    steps = (Instruction * 4)(
        Instruction(LOAD_NUMBER, 0, 0, 0),
        Instruction(JUMP_EQUAL, 0, 1, UNSHARE[platform.machine()]),
        Instruction(RETURN, 0, 0, REFUSE_EPERM),
        Instruction(RETURN, 0, 0, ALLOW),
    )
    LIBRARY.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if LIBRARY.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(Program(len(steps), steps)), 0, 0):
        raise OSError(ctypes.get_errno(), 'no filter for system calls')


def main() -> None:
    """Give the permission up, then become the command."""
    try:
        {'limit': limit, 'seccomp': seccomp}[sys.argv[1]]()
    except (OSError, KeyError) as error:
        print(f'cannot be forbidden here: {error}', file=sys.stderr)
        sys.exit(NOT_POSSIBLE)
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == '__main__':
    main()
