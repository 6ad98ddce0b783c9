# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Control of a running segment: one JSON object per line over a Unix socket.

A request is ``{"fault": "cut", "after": 3}`` or ``{"fault": "observe"}``; the answer is
``{"answer": …}`` or ``{"error": "one sentence"}``. The socket is a file, so that it can be
reached from outside the network namespace.
"""

from __future__ import annotations

import json
from pathlib import Path
import socket
from types import TracebackType
from typing import Any

from stewart_simulation.ethercat.errors import ControlError, FaultError
from stewart_simulation.fault_table import FaultTable
from stewart_simulation.unix_sockets import unix_connection, unix_listener

LARGEST_REQUEST = 65536


class ControlServer:
    """The segment's side; it never blocks.

    Args:
        path: Socket to make; it must not exist.
        faults: What is called.
    """

    def __init__(self, path: Path, faults: FaultTable) -> None:
        """Listen."""
        self._path, self._faults = path, faults
        self.listener = unix_listener(path, socket.SOCK_STREAM)
        self.clients: dict[int, tuple[socket.socket, bytearray]] = {}

    def accept(self) -> int:
        """Take a new client; return its descriptor."""
        client, _ = self.listener.accept()
        client.setblocking(True)
        self.clients[client.fileno()] = (client, bytearray())
        return client.fileno()

    def serve(self, descriptor: int) -> bool:
        """Answer what a client has sent; False once it is gone."""
        client, pending = self.clients[descriptor]
        try:
            data = client.recv(4096)
            pending += data
            while b'\n' in pending:
                line, _, rest = bytes(pending).partition(b'\n')
                pending[:] = rest
                client.sendall(self.answer(line) + b'\n')
        except OSError:
            data = b''
        if not data or len(pending) > LARGEST_REQUEST:
            client.close()
            del self.clients[descriptor]
            return False
        return True

    def answer(self, line: bytes) -> bytes:
        """Carry out one request."""
        try:
            request = json.loads(line)
            fault = request.pop('fault')
            return json.dumps({'answer': self._faults.call(fault, **request)}).encode()
        except FaultError as error:
            return json.dumps({'error': str(error)}).encode()
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            return json.dumps({'error': f'not a request: {error!r}'}).encode()

    def close(self) -> None:
        """Remove the socket."""
        for client, _ in self.clients.values():
            client.close()
        self.listener.close()
        self._path.unlink(missing_ok=True)


class ControlClient:
    """The other side, for whoever breaks things.

    Args:
        path: Socket of the segment.
    """

    def __init__(self, path: Path) -> None:
        """Connect; raises `ControlError`."""
        try:
            self._socket = unix_connection(path, socket.SOCK_STREAM)
        except OSError as error:
            raise ControlError(f'no segment listens at {path}: {error.strerror}') from error
        self._stream = self._socket.makefile('rb')

    def call(self, fault: str, **arguments: Any) -> Any:
        """Carry out one request and return its answer; raises `ControlError`."""
        try:
            self._socket.sendall(json.dumps({'fault': fault, **arguments}).encode() + b'\n')
            line = self._stream.readline()
        except OSError as error:
            raise ControlError(f'the segment is gone: {error.strerror}') from error
        if not line:
            raise ControlError('the segment is gone')
        answer = json.loads(line)
        if 'error' in answer:
            raise ControlError(answer['error'])
        return answer['answer']

    def close(self) -> None:
        """Hang up."""
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> ControlClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
