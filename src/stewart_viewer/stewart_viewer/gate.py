# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A gate before a page: strangers, and pages of other sites, are kept out.

Where there is a token, who knows it gets a cookie, and who has that reaches the page.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
import hmac
import ipaddress
import socket
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

COOKIE = 'stewart_token_{}'
"""A cookie is sent to every port of its host, so each viewer's has the port in its name."""

SECRET_FIELD = 'X-Stewart-Gate'
"""In this field of a request the gate tells the server behind it that it comes from the gate."""

HEAD_LIMIT = 10.0
"""Whoever connects has to send a request in this time [s]."""

STALLED = 4000
"""A connection that has taken nothing for so long is closed [ms]: what a person presses while the
network stalls is not to be carried out when it comes back."""

BLOCK = 1 << 16
FRAMES = ('frame', 'iframe', 'object', 'embed')
WELCOME = (
    'HTTP/1.1 303 See Other\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n'
    'Set-Cookie: {}={}; Path=/; HttpOnly; SameSite=Lax\r\n\r\n'
)
REFUSAL = (
    'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n'
    '\r\n{}\n'
)
NEEDS_TOKEN = 'This page needs its token: http://…/?token=…'

UNANSWERED = (
    OSError,
    ValueError,
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    # Before Python 3.11 it is no OSError.
    asyncio.TimeoutError,
    # The gate closes; of a connection that ends so, asyncio tells with a traceback.
    asyncio.CancelledError,
)


class Gate:
    """Listen at an address, and hand on to a port of this machine what may pass.

    A browser asks in the name of every page that it shows, also of other sites, and the address
    of this machine does not keep those out; but it says which page asks, and which name was
    looked up. What is no browser says neither, and passes. A token keeps strangers of the same
    network out, too. Nothing is encrypted: whoever reads the network reads the token.

    Args:
        host, port: Where it listens; 0 for any port that is free.
        token: What has to be known; empty for nothing.
        behind: Port of this machine to hand on to.
        secret: Handed on in `SECRET_FIELD`.
    """

    def __init__(self, host: str, port: int, token: str, behind: int, secret: str) -> None:
        self._host, self._token, self._behind = host.lower(), token, behind
        self._mark = f'{SECRET_FIELD}: {secret}\r\n'.encode()
        self._loop = asyncio.new_event_loop()
        try:
            self._server = self._loop.run_until_complete(
                asyncio.start_server(self._serve, host, port, limit=BLOCK)
            )
        except OSError:
            self._loop.close()
            raise
        self.port = int(self._server.sockets[0].getsockname()[1])
        self._cookie = COOKIE.format(self.port)
        self._thread = threading.Thread(target=self._loop.run_forever, name='gate', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the gate, and every connection through it."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stream: Any = writer.get_extra_info('socket')
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED)
        try:
            head = await asyncio.wait_for(reader.readuntil(b'\r\n\r\n'), HEAD_LIMIT)
            target, fields = _asked(head)
            if stranger := self._stranger(fields):
                answer = REFUSAL.format(stranger)
            elif not self._token or self._known(_cookie(fields, self._cookie)):
                await self._hand_on(head, reader, writer)
                return
            elif self._known(parse_qs(urlsplit(target).query).get('token', [''])[0]):
                answer = WELCOME.format(self._cookie, self._token)
            else:
                answer = REFUSAL.format(NEEDS_TOKEN)
            writer.write(answer.encode())
            await writer.drain()
        except UNANSWERED:
            pass
        finally:
            writer.close()

    def _stranger(self, fields: dict[str, str]) -> str:
        """Say why a browser asks in the name of another site; empty if it does not."""
        host, origin = fields.get('host', '').lower(), fields.get('origin')
        # Another site's name may be made to lead here, but no cookie of ours belongs to it.
        if not self._token and not self._is_ours(urlsplit(f'//{host}').hostname or ''):
            return f'This page is not at {host or "no host"}, but at the address that was printed.'
        if origin is not None and origin.lower() not in (f'http://{host}', f'https://{host}'):
            return 'Pages of other sites may not speak to this one.'
        within = fields.get('sec-fetch-dest') in FRAMES
        if within and fields.get('sec-fetch-site') not in ('same-origin', 'none'):
            return 'This page is not shown within others.'
        return ''

    def _is_ours(self, name: str) -> bool:
        """Tell a name that nobody else can make lead here."""
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in ('localhost', self._host)
        return True

    def _known(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())

    async def _hand_on(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        inner_reader, inner_writer = await asyncio.open_connection('127.0.0.1', self._behind)
        line, rest = head.split(b'\r\n', 1)
        inner_writer.write(line + b'\r\n' + self._mark + rest)
        pumps = [
            asyncio.ensure_future(_pump(reader, inner_writer)),
            asyncio.ensure_future(_pump(inner_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            inner_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()


def _asked(head: bytes) -> tuple[str, dict[str, str]]:
    """Return the target of a request, and its fields by their names in small letters.

    Raises:
        ValueError: If it is no request.
    """
    line, *rest = head.decode('latin-1').removesuffix('\r\n\r\n').split('\r\n')
    _, target, _ = line.split(' ', 2)
    fields: dict[str, str] = {}
    for field in rest:
        name, _, value = field.partition(':')
        given = fields.get(name.lower())
        fields[name.lower()] = value.strip() if given is None else f'{given}; {value.strip()}'
    return target, fields


def _cookie(fields: dict[str, str], name: str) -> str:
    """Return what a cookie of a request holds; empty if there is none.

    Those of other programs at the same host come with it, and hold anything.
    """
    for part in fields.get('cookie', '').split(';'):
        key, _, value = part.partition('=')
        if key.strip() == name:
            return value.strip()
    return ''
