# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The web server of a view: at the address that was asked for, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
import errno
import gzip
import hmac
import io
import ipaddress
import os
import re
import secrets
import socket
import sys
from typing import Any

from stewart_kinematics.errors import ConfigurationError, StewartError
from stewart_viewer.gate import Gate, SECRET_FIELD
import viser

THIS_MACHINE = '127.0.0.1'
# One that was free is free no more, once in some thousand times.
PORTS_TRIED = 20
TOKEN_NAME = 'STEWART_TOKEN'
TOKEN = re.compile(r'[A-Za-z0-9_-]{8,128}')
HEAD = b'<head>'
# viser sends one message of all buttons and sliders in 50 ms, and of those that wait the last one
# alone: while a button is held and tells that twenty times a second, a quick stop would be lost.
# Its timer is of that length; at 0 nothing waits for another one.
UNHURRIED = b"""<script>
{
  const later = window.setTimeout;
  window.setTimeout = (call, delay, ...more) => later(call, delay === 50 ? 0 : delay, ...more);
}
</script>"""
# A connection that is dead looks like a platform at rest: nobody tells the page that it is. What a
# live view says again and again (`Status.beat`) stands still then.
WATCHED = b"""<script>
{
  const bar = document.createElement('div');
  bar.id = 'silent';
  bar.textContent = 'No connection: nothing here is current, and no button works';
  bar.style.cssText = 'position:fixed;top:0;left:0;right:0;z-index:9999;padding:.6em;'
    + 'background:#b91c1c;color:white;font:bold 1.1em sans-serif;text-align:center';
  let last, since = Date.now();
  window.setInterval(() => {
    const beat = document.getElementById('beat')?.textContent;
    if (beat === undefined || beat !== last) {
      last = beat;
      since = Date.now();
      bar.remove();
    } else if (Date.now() - since > 2500) {
      document.body.append(bar);
    }
  }, 500);
}
</script>"""


class AddressTaken(StewartError, OSError):
    """The server cannot listen where it shall."""


@dataclass(frozen=True, eq=False)
class Page:
    """A served page: what draws it, where it is, and the gate in front of it."""

    server: viser.ViserServer
    url: str
    gate: Gate

    def close(self) -> None:
        """Stop serving."""
        self.gate.close()
        self.server.stop()


def asked_token() -> str:
    """Return the token that the environment asks for; others can read arguments, parameters."""
    return os.environ.get(TOKEN_NAME, '')


def open_page(host: str, port: int, token: str = '') -> Page:
    """Serve an empty page to itself and to programs; with a token, only to whoever knows that.

    Raises:
        AddressTaken: If nothing can listen there.
        ConfigurationError: If others than this machine shall reach it without a token, or the
            token is none.
    """
    check_address(host, port, token)
    secret = secrets.token_hex(16)
    server = open_server(THIS_MACHINE, 0, secret)
    try:
        gate = _gate(host, port, token, server.get_port(), secret)
    except OSError as error:
        server.stop()
        raise _taken(host, port, error) from error
    url = f'http://[{host}]:{gate.port}' if ':' in host else f'http://{host}:{gate.port}'
    return Page(server, f'{url}/?token={token}' if token else url, gate)


def check_address(host: str, port: int, token: str) -> None:
    """Refuse where a page cannot be served; raises as `open_page`."""
    if token and not TOKEN.fullmatch(token):
        raise ConfigurationError(TOKEN_NAME, token, '8 to 128 letters, digits, - or _')
    if not token and not _is_loopback(host):
        expected = 'a token, since others than this machine can then move the platform'
        raise ConfigurationError(f'{TOKEN_NAME} for host {host}', None, expected)
    _free_port(host, port)


def _gate(host: str, port: int, *words: Any) -> Gate:
    """Open a gate; where any port will do, at another one if somebody has just taken it."""
    for _ in range(PORTS_TRIED):
        try:
            return Gate(host, _free_port(host, port), *words)
        except OSError as error:
            if port or error.errno != errno.EADDRINUSE:
                raise
    return Gate(host, _free_port(host, port), *words)


def open_server(host: str, port: int, secret: str = '') -> viser.ViserServer:
    """Serve an empty page at an address and port; 0 for any port that is free.

    viser takes the next free port if the one asked for is taken, and by default listens to
    everybody; whoever reaches the page can move the platform, so neither happens here.

    Args:
        host, port: Where it listens.
        secret: What every request has to bring in `SECRET_FIELD`; empty: nothing, and then
            pages of other sites reach it, too, through a browser of this machine.

    Raises:
        AddressTaken: If nothing can listen there.
    """
    free = _free_port(host, port)
    guard = _asking_for(secret) if secret else contextlib.nullcontext()
    with contextlib.redirect_stdout(io.StringIO()), guard:
        return viser.ViserServer(host=host, port=free, verbose=False)


@contextlib.contextmanager
def _asking_for(secret: str) -> Iterator[None]:
    """Make the server that viser opens meanwhile refuse what lacks a secret.

    viser has no setting for that, and hands its own answers to the library that serves.
    """
    library: Any = sys.modules['websockets.asyncio.server']
    serve, used = library.serve, []

    def guarded(*words: Any, process_request: Any, **options: Any) -> Any:
        used.append(True)

        def answer(connection: Any, request: Any) -> Any:
            brought = request.headers.get(SECRET_FIELD, '')
            if not hmac.compare_digest(brought.encode(), secret.encode()):
                return connection.respond(403, '')
            return _unhurried(process_request(connection, request))

        return serve(*words, process_request=answer, **options)

    library.serve = guarded
    try:
        yield
    finally:
        library.serve = serve
    if not used:
        raise RuntimeError('this version of viser serves in another way, and cannot be guarded')


def _unhurried(answer: Any) -> Any:
    """Return an answer of viser, the page with our scripts in it; None where it goes on itself."""
    if answer is None or not answer.headers.get('Content-Type', '').startswith('text/html'):
        return answer
    packed = answer.headers['Content-Encoding'] == 'gzip'
    body = gzip.decompress(answer.body) if packed else answer.body
    if HEAD not in body:
        raise RuntimeError('this version of viser has another page, and loses what is pressed')
    body = body.replace(HEAD, HEAD + UNHURRIED + WATCHED, 1)
    answer.body = gzip.compress(body) if packed else body
    # To assign another value would add it.
    del answer.headers['Content-Length']
    answer.headers['Content-Length'] = str(len(answer.body))
    return answer


def _free_port(host: str, port: int) -> int:
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise _taken(host, port, error) from error
        return int(probe.getsockname()[1])


def _taken(host: str, port: int, error: OSError) -> AddressTaken:
    reason = 'it is taken' if error.errno == errno.EADDRINUSE else f'{error.strerror}'
    return AddressTaken(f'cannot serve a page at {host}:{port}: {reason}')


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'
