# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which line permits a network of our own on this machine, as far as one sees what forbids it."""

from __future__ import annotations

import errno
from pathlib import Path

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


def what_permits(number: int) -> tuple[str, ...]:
    """Return the lines that may permit what the kernel has refused.

    Args:
        number: What it has refused with, as in `errno`.

    Returns:
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
