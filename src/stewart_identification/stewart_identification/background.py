# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An identification in a thread of its own, to be watched and stopped from another."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
import threading
from typing import Any

from stewart_identification.bags_to_parameters import identify_bags, Written
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array


class State(Enum):
    """How far a job is."""

    IDLE = 'nothing to do yet'
    RUNNING = 'running'
    DONE = 'done'
    UNDETERMINED = 'done, but the recordings do not determine a body'
    FAILED = 'failed'


class Job:
    """One identification.

    Attributes:
        share: Of the search that is done, 0 to 1.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._result: dict[str, Any] = {}
        self.state, self.share, self.message = State.IDLE, 0.0, 'no bag given'

    def start(self, bags: list[str], platform: str, output: Path, **options: Any) -> None:
        """Begin what `identify_bags` does with these arguments; returns at once."""
        self.state, self.message = State.RUNNING, 'begins'
        work = partial(identify_bags, bags, platform, output, **options)
        self._thread = threading.Thread(
            target=self._run, args=(work,), name='identification', daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ask the search to end with the best it has."""
        self._stop.set()

    def join(self) -> None:
        """Wait for the end."""
        if self._thread is not None:
            self._thread.join()

    def result(self) -> dict[str, Any]:
        """Return what was found as plain values; only a message where it failed."""
        return {'state': self.state.value, 'message': self.message, **self._result}

    def _run(self, work: Callable[..., Written]) -> None:
        try:
            written = work(stage=self._stage, progress=self._progress)
        except Exception as error:
            expected = isinstance(error, (StewartError, OSError))
            text = ' '.join(str(error).split())
            self.message = text if expected else f'{type(error).__name__}: {text}'
            self.state = State.FAILED
            if expected:
                return
            raise
        self._result = written.as_dict()
        self.message, self.share = written.outcome.verdict, 1.0
        self.state = State.UNDETERMINED if written.parameters is None else State.DONE

    def _stage(self, text: str) -> None:
        self.message = text

    def _progress(self, done: int, planned: int, best: Array, cost: float) -> bool:
        self.share = done / max(planned, 1)
        self.message = f'fitting, {done} of {planned} iterations, cost {cost:.6g}'
        return not self._stop.is_set()
