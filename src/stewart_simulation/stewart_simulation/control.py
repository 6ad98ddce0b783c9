# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of what runs: over a Unix socket, or at their times from a file.

A request over the socket is ``{"fault": "cut", "after": 3}`` or ``{"fault": "observe"}``, a JSON
object on a line; the answer is ``{"answer": …}`` or ``{"error": "one sentence"}``. The socket is
a file, so that it can be reached from outside the network namespace. A line of a script is the
same with seconds since the start: ``{"at": 2.5, "fault": "cut", "after": 3}``.
"""

from __future__ import annotations

from collections import deque
import json
from pathlib import Path
import socket
from typing import Any

from stewart_simulation.errors import ControlError, FaultError
from stewart_simulation.fault_table import FaultTable
from stewart_simulation.loop import unix_connection, UnixServer

LARGEST_REQUEST = 65536


class ControlServer(UnixServer):
    """The side of what breaks, by the faults of a table."""

    def __init__(self, path: Path, faults: FaultTable) -> None:
        super().__init__(path, socket.SOCK_STREAM)
        self._faults = faults
        self._pending: dict[int, bytes] = {}

    def serve(self, descriptor: int) -> bool:
        """Answer what a client has sent; False once it is gone."""
        client = self.clients[descriptor]
        try:
            data = client.recv(4096)
            *lines, rest = (self._pending.pop(descriptor, b'') + data).split(b'\n')
            for line in lines:
                client.sendall(self.answer(line) + b'\n')
        except OSError:
            data = rest = b''
        if not data or len(rest) > LARGEST_REQUEST:
            self.drop(descriptor)
            return False
        self._pending[descriptor] = rest
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


class ControlClient:
    """The other side, for whoever breaks things; raises `ControlError` if nobody listens there."""

    def __init__(self, path: Path) -> None:
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

    def __exit__(self, *_: object) -> None:
        self.close()


class Script:
    """Faults of a file whose time comes; raises `FaultError` with the line that cannot be used."""

    def __init__(self, path: Path, faults: FaultTable) -> None:
        steps = []
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), start=1):
            if not line.strip():
                continue
            try:
                arguments = json.loads(line)
                at, fault = float(arguments.pop('at')), str(arguments.pop('fault'))
            except (ValueError, KeyError, AttributeError, TypeError) as error:
                where = f'{path.name}, line {number}'
                raise FaultError(where, f'unusable: {error!r}') from error
            faults.check(fault, arguments)
            steps.append((at, fault, arguments))
        self._steps = deque(sorted(steps, key=lambda step: step[0]))
        self._faults = faults
        self._began: float | None = None

    def play(self, now: float) -> None:
        """Apply what is due; the first call is time zero [s]."""
        self._began = now if self._began is None else self._began
        while self._steps and self._steps[0][0] <= now - self._began:
            _, fault, arguments = self._steps.popleft()
            self._faults.apply(fault, **arguments)
