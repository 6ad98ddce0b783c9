# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults called by name, over a Unix socket or at their times from a file.

A request over the socket is ``{"fault": "cut", "after": 3}`` or ``{"fault": "observe"}``, a JSON
object on a line; the answer is ``{"answer": …}`` or ``{"error": "one sentence"}``. The socket is
a file, so that it can be reached from outside the network namespace. A line of a script is the
same with seconds since the start: ``{"at": 2.5, "fault": "cut", "after": 3}``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
import inspect
import json
from math import inf, isfinite
from pathlib import Path
import socket
import struct
from typing import Any

from stewart_simulation.errors import ControlError, FaultError
from stewart_simulation.loop import json_of, unix_connection, UnixServer
from stewart_tables.errors import shown
from stewart_tables.progress import tell

# What a fault raises for arguments of another kind than it takes.
MISFITS = (TypeError, ValueError, OverflowError, RecursionError, AttributeError, struct.error)


class FaultTable:
    """Every public method of a subclass is a fault or mends one, except those named here."""

    @classmethod
    def describe(cls) -> dict[str, tuple[str, str]]:
        """Return arguments and meaning of every fault, without anything that could break."""
        described = {}
        for name, method in vars(cls).items():
            if name.startswith('_') or name in vars(FaultTable):
                continue
            _, *parameters = inspect.signature(method).parameters.values()
            arguments = ', '.join(
                item.name if item.default is item.empty else f'{item.name}={item.default!r}'
                for item in parameters
            )
            described[name] = arguments, (inspect.getdoc(method) or '').partition('\n')[0]
        return described

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that `apply` knows."""
        return tuple(self.describe())

    def find(self, fault: str) -> Callable[..., None]:
        """Return what causes a fault; raises `FaultError` if there is none of this name."""
        if fault not in self.names:
            raise FaultError(fault, 'does not exist', self.names)
        return self._cause(fault)

    def _cause(self, fault: str) -> Callable[..., None]:
        cause: Callable[..., None] = getattr(self, fault)
        return cause

    def check(self, fault: str, arguments: Mapping[str, Any]) -> None:
        """Raise `FaultError` where name or arguments do not fit, without breaking anything."""
        try:
            inspect.signature(self.find(fault)).bind(**arguments)
        except TypeError as error:
            raise FaultError(fault, str(error)) from error

    def apply(self, fault: str, /, **arguments: Any) -> None:
        """Cause a fault by its name; raises `FaultError` where name or arguments do not fit."""
        cause = self.find(fault)
        self.check(fault, arguments)
        try:
            cause(**arguments)
        except MISFITS as error:
            raise FaultError(fault, str(error)) from error

    def call(self, fault: str, /, **arguments: Any) -> Any:
        """Carry out a request: ``observe``, which returns what is seen, or a fault."""
        if fault == 'observe':
            return self.observe()
        self.apply(fault, **arguments)
        return None

    def observe(self) -> dict[str, Any]:
        """Return what can be seen from outside, in plain types."""
        return {}


def within(name: str, value: Any, lower: float, upper: float = inf) -> float:
    """Return a number; raises ValueError if it is none, not finite or outside its bounds."""
    if isinstance(value, int | float) and isfinite(value) and lower <= value <= upper:
        return value
    bounds = f'{lower:g} to {upper:g}' if upper < inf else f'at least {lower:g}'
    raise ValueError(f'{name} must be {bounds}, not {value!r}')


def whole(name: str, value: Any, lower: int, upper: float = inf) -> int:
    """Return a whole number; raises ValueError like `within`, or if it has a fraction."""
    if within(name, value, lower, upper) != int(value):
        raise ValueError(f'{name} must be a whole number, not {value!r}')
    return int(value)


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
            request = json_of(line)
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
            reason = f'no virtual rig listens at {path} ({error.strerror})'
            raise ControlError(reason) from error
        self._stream = self._socket.makefile('rb')

    def call(self, fault: str, /, **arguments: Any) -> Any:
        """Carry out one request and return its answer; raises `ControlError`."""
        if 'fault' in arguments:
            raise ControlError(f'{fault}: no fault has an argument fault')
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
                arguments = json_of(line)
                at, fault = float(arguments.pop('at')), str(arguments.pop('fault'))
            except (ValueError, KeyError, AttributeError, TypeError, OverflowError) as error:
                expected = f'expected {{"at": seconds, "fault": "name", ...}}, got {shown(line)}'
                raise FaultError(f'{path.name}, line {number}', expected) from error
            faults.check(fault, arguments)
            steps.append((at, fault, arguments))
        self._steps = deque(sorted(steps, key=lambda step: step[0]))
        self._faults = faults
        self._began: float | None = None

    def play(self, now: float) -> None:
        """Apply what is due; the first call is time zero [s].

        A line whose values do not fit is told on stderr, and the rig goes on.
        """
        self._began = now if self._began is None else self._began
        while self._steps and self._steps[0][0] <= now - self._began:
            _, fault, arguments = self._steps.popleft()
            try:
                self._faults.apply(fault, **arguments)
            except FaultError as error:
                tell(error)
