# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One thread that waits for everything at once."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
import select
import socket
import time
from typing import Protocol


class Server(Protocol):
    """A listening socket with clients, as control and card have it."""

    listener: socket.socket

    def accept(self) -> int:
        """Take a new client; return its descriptor."""

    def serve(self, descriptor: int) -> bool:
        """Answer a client; False once it is gone."""


class Loop:
    """Descriptors with their handlers, and one appointment."""

    def __init__(self) -> None:
        """Wait for nothing yet."""
        self._epoll = select.epoll()
        self._handlers: dict[int, Callable[[], None]] = {}

    def watch(self, descriptor: int, handler: Callable[[], None]) -> None:
        """Call a handler whenever a descriptor is readable."""
        self._epoll.register(descriptor, select.EPOLLIN)
        self._handlers[descriptor] = handler

    def forget(self, descriptor: int) -> None:
        """Call it no more; the descriptor may be closed already."""
        if self._handlers.pop(descriptor, None) is None:
            return
        try:
            self._epoll.unregister(descriptor)
        except OSError:
            return  # closed, and forgotten by the kernel

    def serve(self, server: Server) -> None:
        """Take and answer the clients of a server."""

        def accept() -> None:
            client = server.accept()
            self.watch(client, lambda: None if server.serve(client) else self.forget(client))

        self.watch(server.listener.fileno(), accept)

    def run(self, turn: Callable[[float], float], ended: Callable[[], bool], idle: float) -> None:
        """Wait and serve until told to end.

        Args:
            turn: Called after every wait with the time; returns when it wants to be called again
                [s].
            ended: Tells the end.
            idle: Longest wait [s].
        """
        due = -inf
        while not ended():
            patience = min(max(due - time.monotonic(), 0.0), idle)
            for descriptor, _ in self._epoll.poll(patience):
                handler = self._handlers.get(descriptor)
                if handler is not None:
                    handler()
            due = turn(time.monotonic())

    def close(self) -> None:
        """Let go of everything."""
        self._epoll.close()
