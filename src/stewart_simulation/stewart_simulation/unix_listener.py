# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Unix sockets that are there only once they answer."""

from __future__ import annotations

import os
from pathlib import Path
import socket


def unix_listener(path: Path, kind: socket.SocketKind) -> socket.socket:
    """
    Return a socket that listens at a path.

    Binding makes the file, and until the socket listens whoever has seen the file is refused. So
    it is bound beside its place, and put there when it listens.

    Parameters
    ----------
    path : Path
        Where; it must not exist (FileExistsError).
    kind : socket.SocketKind
        What goes through it: a stream or packets.

    """
    listener = socket.socket(socket.AF_UNIX, kind)
    # No longer than the path itself, which may have just the length that the kernel allows.
    beside = path.with_name(f'~{path.name[1:]}')
    try:
        listener.bind(str(beside))
        listener.listen(4)
        os.link(beside, path)
    except OSError:
        listener.close()
        raise
    finally:
        beside.unlink(missing_ok=True)
    return listener
