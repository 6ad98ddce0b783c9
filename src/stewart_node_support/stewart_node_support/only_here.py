# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One rig in a namespace: what is asked of one would reach another, which may be of metal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import errno
from hashlib import sha256
import os
from socket import AF_UNIX, SOCK_DGRAM, socket

from stewart_node_support.errors import StartUpError


@contextmanager
def only_here(namespace: str) -> Iterator[None]:
    """Keep other rigs of this machine out of a namespace, from before the driver says anything.

    The name of a socket, without a file, is what two that start at once cannot both have; it goes
    with the process.

    Raises:
        StartUpError: If another rig has it.
    """
    where = f'{os.environ.get("ROS_DOMAIN_ID", "0")} /{namespace.strip("/")}'
    # A socket's name is shorter than a namespace may be.
    name = sha256(where.encode()).hexdigest()
    with socket(AF_UNIX, SOCK_DGRAM) as taken:
        try:
            taken.bind(f'\0stewart rig {name}')
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise not_alone(namespace) from None
        yield


def not_alone(namespace: str) -> StartUpError:
    """Return what says that another rig runs there."""
    return StartUpError(
        f'another rig runs in the namespace /{namespace.strip("/")} already: end it, or give '
        'this one a ROS_DOMAIN_ID (or, where it takes one, a namespace) of its own'
    )
