# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The web server of a view: at the address that was asked for, or not at all."""

from __future__ import annotations

import contextlib
import errno
import io
import socket

from stewart_kinematics.errors import StewartError
import viser


class AddressTaken(StewartError, OSError):
    """The server cannot listen where it shall."""


def open_server(host: str, port: int) -> viser.ViserServer:
    """Serve an empty page at an address and port; 0 for any port that is free.

    viser takes the next free port if the one asked for is taken, and by default listens to
    everybody; whoever reaches the page can move the platform, so neither happens here.

    Raises:
        AddressTaken: If nothing can listen there.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = 'it is taken' if error.errno == errno.EADDRINUSE else f'{error.strerror}'
            raise AddressTaken(f'cannot serve a page at {host}:{port}: {reason}') from error
        free = probe.getsockname()[1]
    with contextlib.redirect_stdout(io.StringIO()):
        return viser.ViserServer(host=host, port=free, verbose=False)
