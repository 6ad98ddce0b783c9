# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The web server of a view: at the address that was asked for, or not at all."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
import errno
import io
import ipaddress
import re
import socket

from stewart_kinematics.errors import ConfigurationError, StewartError
from stewart_viewer.gate import Gate
import viser

THIS_MACHINE = '127.0.0.1'
TOKEN = re.compile(r'[A-Za-z0-9_-]{8,128}')


class AddressTaken(StewartError, OSError):
    """The server cannot listen where it shall."""


@dataclass(frozen=True, eq=False)
class Page:
    """A served page: what draws it, where it is, and the gate in front of it, if any."""

    server: viser.ViserServer
    url: str
    gate: Gate | None = None

    def close(self) -> None:
        """Stop serving."""
        if self.gate is not None:
            self.gate.close()
        self.server.stop()


def open_page(host: str, port: int, token: str = '') -> Page:
    """Serve an empty page; with a token, only to whoever knows that.

    Raises:
        AddressTaken: If nothing can listen there.
        ConfigurationError: If others than this machine shall reach it without a token, or the
            token is none.
    """
    free = check_address(host, port, token)
    if not token:
        server = open_server(host, free)
        return Page(server, f'http://{host}:{server.get_port()}')
    server = open_server(THIS_MACHINE, 0)
    gate = Gate(host, free, token, server.get_port())
    return Page(server, f'http://{host}:{gate.port}/?token={token}', gate)


def check_address(host: str, port: int, token: str) -> int:
    """Return a port at which a page can be served; raises as `open_page`."""
    if token and not TOKEN.fullmatch(token):
        raise ConfigurationError('token', token, '8 to 128 letters, digits, - or _')
    if not token and not _is_loopback(host):
        expected = 'one, since others than this machine can then move the platform (--token)'
        raise ConfigurationError(f'token for host {host}', None, expected)
    return _free_port(host, port)


def open_server(host: str, port: int) -> viser.ViserServer:
    """Serve an empty page at an address and port; 0 for any port that is free.

    viser takes the next free port if the one asked for is taken, and by default listens to
    everybody; whoever reaches the page can move the platform, so neither happens here.

    Raises:
        AddressTaken: If nothing can listen there.
    """
    free = _free_port(host, port)
    with contextlib.redirect_stdout(io.StringIO()):
        return viser.ViserServer(host=host, port=free, verbose=False)


def _free_port(host: str, port: int) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = 'it is taken' if error.errno == errno.EADDRINUSE else f'{error.strerror}'
            raise AddressTaken(f'cannot serve a page at {host}:{port}: {reason}') from error
        return int(probe.getsockname()[1])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'
