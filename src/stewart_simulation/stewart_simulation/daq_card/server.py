# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The card's side of its socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import select
import socket
import struct

from stewart_simulation.daq_card.card import Card
from stewart_simulation.daq_card.wire import LONGEST, Request
from stewart_simulation.unix_sockets import unix_listener


class CardServer:
    """Let programs reach a card over a Unix socket; it never waits.

    Args:
        path: Socket to make; it must not exist.
        card: Who answers.
        advance: Called before every answer: brings the world, and with it the card's inputs, up to
            now.

    Attributes:
        listener: Readable when a program wants to connect.
        clients: Connected programs by descriptor.
    """

    def __init__(self, path: Path, card: Card, advance: Callable[[], None]) -> None:
        """Listen."""
        self._path, self._card, self._advance = path, card, advance
        self._owners: dict[int, int] = {}
        self.listener = unix_listener(path, socket.SOCK_SEQPACKET)
        self.clients: dict[int, socket.socket] = {}

    def accept(self) -> int:
        """Take a new program; return its descriptor.

        Those that were there before are served first: the locks of one that was killed must be
        gone before the next one asks for them.
        """
        for descriptor in list(self.clients):
            while select.select([descriptor], [], [], 0.0)[0] and self.serve(descriptor):
                pass
        client, _ = self.listener.accept()
        client.setblocking(False)
        self.clients[client.fileno()] = client
        return client.fileno()

    def serve(self, descriptor: int) -> bool:
        """Answer one call of a program; False once it is gone."""
        client = self.clients.get(descriptor)
        if client is None:
            return False
        try:
            request = client.recv(LONGEST)
            if request:
                self._advance()
                self._remember(descriptor, request)
                client.send(self._card.handle(request))
                return True
        except BlockingIOError:
            return True
        except OSError:
            pass
        self._drop(descriptor)
        return False

    def close(self) -> None:
        """Hang up and remove the socket."""
        for descriptor in list(self.clients):
            self._drop(descriptor)
        self.listener.close()
        self._path.unlink(missing_ok=True)

    def _remember(self, descriptor: int, request: bytes) -> None:
        """Note under which name a program locks, to unlock it when it dies."""
        try:
            self._owners[descriptor] = Request.decode(request).owner
        except (ValueError, struct.error):
            return

    def _drop(self, descriptor: int) -> None:
        self.clients.pop(descriptor).close()
        owner = self._owners.pop(descriptor, None)
        if owner is not None:
            self._card.release(owner)
