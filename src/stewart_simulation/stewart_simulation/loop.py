# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One thread that waits for everything at once, and Unix sockets that it serves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import json
from math import inf
import os
from pathlib import Path
import select
import socket
import time
from typing import Any


def json_of(text: bytes | str) -> Any:
    """Return what JSON of others says; raises `ValueError` if it is none, or nests too deep."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError('too many levels of nesting') from error


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """Yield a name for a path short enough for the kernel, which takes 107 bytes of it."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f'/proc/self/fd/{folder}/{path.name}'
    finally:
        os.close(folder)


def unix_listener(path: Path, kind: socket.SocketKind) -> socket.socket:
    """Return a socket that listens at a path; raises FileExistsError if something is there.

    Binding makes the file, and until the socket listens whoever has seen the file is refused. So
    it is bound beside its place, and put there when it listens.
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
    """Return a socket connected to the one at a path; raises OSError if nobody listens there.

    A call waits for at most the timeout [s], without one for ever.
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


class UnixServer(ABC):
    """A listening socket with clients; it never waits for one that says nothing.

    Attributes:
        listener: Readable when a program wants to connect.
        clients: Connected programs by descriptor.
    """

    def __init__(self, path: Path, kind: socket.SocketKind) -> None:
        self._path = path
        self.listener = unix_listener(path, kind)
        self.clients: dict[int, socket.socket] = {}

    def accept(self) -> int:
        """Take a new client; return its descriptor."""
        client, _ = self.listener.accept()
        self.clients[client.fileno()] = client
        return client.fileno()

    @abstractmethod
    def serve(self, descriptor: int) -> bool:
        """Answer what a client has sent; False once it is gone."""

    def drop(self, descriptor: int) -> None:
        """Hang up on a client."""
        self.clients.pop(descriptor).close()

    def close(self) -> None:
        """Hang up and remove the socket."""
        for descriptor in list(self.clients):
            self.drop(descriptor)
        self.listener.close()
        self._path.unlink(missing_ok=True)


class Loop:
    """Descriptors with their handlers, and one appointment."""

    def __init__(self) -> None:
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

    def serve(self, server: UnixServer) -> None:
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
