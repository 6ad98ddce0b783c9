# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A gate before a page: who knows the token gets a cookie, and who has that reaches the page."""

from __future__ import annotations

import asyncio
from contextlib import suppress
import hmac
from http.cookies import CookieError, SimpleCookie
import threading
from urllib.parse import parse_qs, urlsplit

COOKIE = 'stewart_token'
HEAD_LIMIT = 10.0
"""Whoever connects has to send a request in this time [s]."""

BLOCK = 1 << 16
WELCOME = (
    'HTTP/1.1 303 See Other\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n'
    'Set-Cookie: {}={}; Path=/; HttpOnly; SameSite=Lax\r\n\r\n'
)
REFUSAL = (
    'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n'
    '\r\nThis page needs its token: http://…/?token=…\n'
)


class Gate:
    """Listen at an address and hand on to a port of this machine what has the token.

    It keeps strangers of the same network out. It does not encrypt: whoever reads the network
    reads the token, too.
    """

    def __init__(self, host: str, port: int, token: str, behind: int) -> None:
        self._token, self._behind = token, behind
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, host, port, limit=BLOCK)
        )
        self.port = int(self._server.sockets[0].getsockname()[1])
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
        try:
            head = await asyncio.wait_for(reader.readuntil(b'\r\n\r\n'), HEAD_LIMIT)
            target, cookie = _asked(head)
            if self._known(cookie):
                await self._hand_on(head, reader, writer)
                return
            known = self._known(parse_qs(urlsplit(target).query).get('token', [''])[0])
            writer.write((WELCOME.format(COOKIE, self._token) if known else REFUSAL).encode())
            await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _known(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())

    async def _hand_on(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        inner_reader, inner_writer = await asyncio.open_connection('127.0.0.1', self._behind)
        inner_writer.write(head)
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


def _asked(head: bytes) -> tuple[str, str]:
    """Return the target of a request, and the token in its cookie; empty if there is none.

    Raises:
        ValueError: If it is no request.
    """
    line, *fields = head.decode('latin-1').split('\r\n')
    _, target, _ = line.split(' ', 2)
    for field in fields:
        name, _, value = field.partition(':')
        if name.lower() == 'cookie':
            with suppress(CookieError):
                found = SimpleCookie(value.strip()).get(COOKIE)
                if found is not None:
                    return target, found.value
    return target, ''
