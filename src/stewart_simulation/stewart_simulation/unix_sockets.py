# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Unix sockets that are there only once they answer, in a folder of any depth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import socket


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """Yield a name for a path short enough for the kernel, which takes 107 bytes of it."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f'/proc/self/fd/{folder}/{path.name}'
    finally:
        os.close(folder)


def unix_listener(path: Path, kind: socket.SocketKind) -> socket.socket:
    """Return a socket that listens at a path.

    Binding makes the file, and until the socket listens whoever has seen the file is refused. So
    it is bound beside its place, and put there when it listens.

    Args:
        path: Where; it must not exist (FileExistsError).
        kind: What goes through it: a stream or packets.
    """
    listener = socket.socket(socket.AF_UNIX, kind)
    beside = path.with_name(f'~{path.name}')
    try:
        with _address(beside) as name:
            listener.bind(name)
        listener.listen(4)
        os.link(beside, path)
    except OSError:
        listener.close()
        raise
    finally:
        beside.unlink(missing_ok=True)
    return listener


def unix_connection(
    path: Path, kind: socket.SocketKind, timeout: float | None = None
) -> socket.socket:
    """Return a socket that is connected to the one that listens at a path.

    Args:
        path: Where; OSError if nobody listens there.
        kind: What goes through it: a stream or packets.
        timeout: The longest a call waits [s]; for ever if not given.
    """
    connection = socket.socket(socket.AF_UNIX, kind)
    try:
        connection.settimeout(timeout)
        with _address(path) as name:
            connection.connect(name)
    except OSError:
        connection.close()
        raise
    return connection
