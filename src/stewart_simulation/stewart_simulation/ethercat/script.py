# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A timed list of faults: one JSON object per line, with seconds since the segment began.

``{"at": 2.5, "fault": "cut", "after": 3}``
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from stewart_simulation.ethercat.errors import FaultError
from stewart_simulation.fault_table import FaultTable


@dataclass(frozen=True)
class Step:
    """One line of a script.

    Attributes:
        at: When [s].
        fault: Name, as `FaultTable.apply` takes it.
        arguments: Of the fault.
    """

    at: float
    fault: str
    arguments: dict[str, Any]


class Script:
    """Applies faults when their time has come.

    Args:
        steps: In any order.
        faults: What is called.
    """

    def __init__(self, steps: list[Step], faults: FaultTable) -> None:
        """Check every step; raises `FaultError`."""
        for step in steps:
            faults.check(step.fault, step.arguments)
        self._steps = deque(sorted(steps, key=lambda step: step.at))
        self._faults = faults
        self._began: float | None = None

    @classmethod
    def load(cls, path: Path, faults: FaultTable) -> Script:
        """Read a file; raises `FaultError` with the line that cannot be used."""
        steps = []
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), start=1):
            if line.strip():
                try:
                    step = json.loads(line)
                    at, fault = float(step.pop('at')), str(step.pop('fault'))
                except (ValueError, KeyError, AttributeError, TypeError) as error:
                    raise FaultError(
                        f'{path.name}, line {number}', f'unusable: {error!r}'
                    ) from error
                steps.append(Step(at, fault, step))
        return cls(steps, faults)

    def play(self, now: float) -> None:
        """Apply what is due; the first call is time zero [s]."""
        self._began = now if self._began is None else self._began
        while self._steps and self._steps[0].at <= now - self._began:
            step = self._steps.popleft()
            self._faults.apply(step.fault, **step.arguments)
