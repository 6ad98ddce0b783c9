# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A module that runs in an interpreter of its own, which this process started and has to end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
import os
import subprocess
import sys
from typing import Any, ClassVar

from stewart_tables.one_thread import ONE_THREAD

# Signals of the terminal are for this process, which ends the other in order. A session of its
# own would keep them away, too; but where Linux shares processors among sessions, such a child may
# wait seconds for its turn (docs/decisions/0105).
APART: dict[str, Any] = (
    {'process_group': 0} if sys.version_info >= (3, 11) else {'start_new_session': True}
)


def environment() -> dict[str, str]:
    """Return the environment of an interpreter that finds what this one finds.

    It has one thread: with more it could not enter a network namespace.
    """
    return {**os.environ, **ONE_THREAD, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}


def spawn(
    arguments: Sequence[str], variables: Mapping[str, str] | None = None, **streams: Any
) -> subprocess.Popen[bytes]:
    """Start a module with arguments, more environment variables, and further ones of `Popen`."""
    return subprocess.Popen(
        [sys.executable, '-m', *arguments],
        env={**environment(), **(variables or {})},
        **APART,
        **streams,
    )


class ChildProcess(ABC):
    """A process that was started here."""

    called: ClassVar[str]
    """What it is called in sentences."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def exit_reason(self) -> str:
        """Return one sentence on why it is gone; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ''
        how = f'was killed by signal {-code}' if code < 0 else f'ended with code {code}'
        reason = self._said()
        return f'{self.called} {how}' + (f': {reason}' if reason else '')

    def kill(self) -> None:
        """Kill it, and do not wait: it may hang where the kernel does not end it."""
        self._process.kill()

    @abstractmethod
    def _said(self) -> str:
        """Return what it gave as the reason for its end; may be empty."""
