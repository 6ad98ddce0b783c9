# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a network interface is there, permitted and free for a master."""

from __future__ import annotations

import errno
import socket

from stewart_driver.errors import TransportError
from stewart_driver.ethercat.errors import BusTaken, NoInterface

ETHERCAT = 0x88A4


def claim(interface: str) -> socket.socket:
    """Keep other masters of ours off the interface: they would reset each other's drives.

    The name of the socket is in no file system, and gone with this process.
    """
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(f'\0stewart-ethercat-{interface}')
    except OSError:
        claim.close()
        raise BusTaken(interface) from None
    return claim


def check(name: str) -> None:
    """Find out why an interface cannot be opened, which SOEM does not tell."""
    try:
        socket.if_nametoindex(name)
    except OSError:
        known = [known for _, known in socket.if_nameindex()]
        raise NoInterface(name, known) from None
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERCAT)).close()
    except OSError as error:
        if error.errno in {errno.EPERM, errno.EACCES}:
            raise no_permission(name) from None
        raise


def no_permission(interface: str) -> TransportError:
    """Return the error that says what permits raw frames."""
    return TransportError(
        f'no permission for raw Ethernet frames on {interface}: they take CAP_NET_RAW and '
        'CAP_NET_ADMIN; run the command as scripts/grant <command>'
    )
