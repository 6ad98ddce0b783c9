# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Record what is on the graph, in a process of its own that pictures do not hold up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO

PATIENCE = 15.0
"""Longest time in which a recorder has to close its bag [s]."""


class BagRecorder:
    """Start and stop the node ``recorder`` on every topic of the graph.

    Args:
        folder: Where bags are written, on the machine of the viewer.
        arguments: More ROS arguments, such as ``-p use_sim_time:=true``.
    """

    def __init__(self, folder: Path, arguments: Sequence[str] = ()) -> None:
        self._folder, self._arguments = folder, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._path = folder
        self._log: IO[bytes]
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Whether something is being recorded."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> str:
        """Start where nothing is recorded; return where the bag is, in words."""
        with self._lock:
            if self._process is None:
                self._start()
            return f'recording into {self._path} on the machine of the viewer'

    def stop(self) -> str:
        """Stop where something is recorded; return what has come of it, in words."""
        with self._lock:
            return 'nothing is recorded' if self._process is None else self._stop()

    def ended(self) -> str:
        """Return what has come of a recording that has ended by itself; empty if none has."""
        # Whoever stops it meanwhile says that, and may take long.
        if not self._lock.acquire(blocking=False):
            return ''
        try:
            return self._stop() if self._process is not None and not self.running else ''
        finally:
            self._lock.release()

    def close(self) -> None:
        """Stop if something is being recorded."""
        with self._lock:
            if self._process is not None:
                self._stop()

    def _start(self) -> None:
        self._path = self._new_path()
        words = ['--ros-args', '-p', f'output:={self._path}', *self._arguments]
        self._folder.mkdir(parents=True, exist_ok=True)
        # Lives as long as the process; a pipe that nobody reads would stop it once it is full.
        # Where no bag can be written, it cannot either, and that is said at once.
        self._log = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'stewart_bags.nodes.recorder', *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )

    def _new_path(self) -> Path:
        """Return where no bag is; that before may not have been begun yet."""
        begun = (self._folder / f'bag_{datetime.now():%Y_%m_%d_%H_%M_%S}').absolute()
        path, number = begun, 1
        while path == self._path or path.exists():
            number += 1
            path = begun.with_name(f'{begun.name}_{number}')
        return path

    def _stop(self) -> str:
        assert self._process is not None
        process, self._process = self._process, None
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        with self._log:
            try:
                code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return f'**Record**: the bag was not closed within {PATIENCE:g} s: {self._path}'
            self._log.seek(0)
            said = self._log.read().decode(errors='replace')
        if code:
            last = said.strip().splitlines()[-1:] or [f'exit code {code}']
            return f'**Record**: {last[0]}'
        if not self._path.exists():
            return '**Record**: stopped before the bag was begun'
        return f'recorded: {self._path}'
