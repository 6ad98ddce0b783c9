# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A back end without drives: measured is what was commanded, and faults come on request.

It stands in for drives in tests of everything above them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
import time
from typing import ClassVar

import numpy as np
from stewart_driver.backend import Backend, Measurement
from stewart_driver.errors import DriveFault, DriverError, HomingError, TransportError
from stewart_driver.legs import LegLimits, LEGS
from stewart_driver.path.motion import LegMotion
from stewart_tables.settings import param, positive


class Trouble(Enum):
    """What a loopback back end can be told to do wrong."""

    NONE = 'none'
    DRIVE_FAULT = 'drive fault'
    BROKEN = 'transport broken'
    NOT_A_NUMBER = 'measures NaN'
    JUMP = 'measurement jumps'
    STUCK = 'measurement stays'
    DROPPED_OUT = 'drives leave operation'
    NEVER_ON = 'drives never switch on'
    NOT_OPENED = 'cannot be opened'
    CRASH = 'the code has a bug, which shows once the drives are on'
    NOT_HOMED = 'strokes not absolute'
    SLOW_RESET = 'a drive fault that takes half a minute to reset'


FAULTS = (Trouble.DRIVE_FAULT, Trouble.SLOW_RESET)


@dataclass(frozen=True)
class LoopbackOptions:
    """How a loopback back end behaves.

    Attributes:
        cycle_time: Time between exchanges [s].
        start: Stroke of all legs at first [m].
        trouble: Value of a `Trouble`.
        trouble_after: When it begins, since `LoopbackBackend.open` [s].
    """

    cycle_time: float = positive(0.002, 'time between exchanges [s]')
    start: float = positive(0.3, 'stroke of all legs at first [m]')
    trouble: str = param('none', 'value of a Trouble')
    trouble_after: float = param(0.0, 'when it begins, since opening [s]', min=0.0)


class LoopbackBackend(Backend):
    """Six perfect drives with strokes from 0 to 0.6 m, up to 0.6 m/s and 6 m/s².

    Args:
        options: How it behaves.

    Attributes:
        targets: What it was told while enabled.
        enabled: Whether the drives are on.
    """

    name: ClassVar[str] = 'loopback'
    simulated = True
    homed = True
    limits = LegLimits(np.zeros(LEGS), np.full(LEGS, 0.6), rate=0.6, acceleration=6.0)
    options_type: ClassVar[type] = LoopbackOptions

    def __init__(self, options: LoopbackOptions) -> None:
        self._options, self.cycle_time = options, options.cycle_time
        self._trouble = Trouble(options.trouble)
        self._strokes = np.full(LEGS, options.start)
        self._opened = self._now = 0.0
        self.enabled = False
        self.homed = self._trouble is not Trouble.NOT_HOMED
        self.targets: list[LegMotion] = []
        self._kept_to = 'nothing'

    def keep_within(self, limits: LegLimits) -> None:
        """Remember the rate."""
        self._kept_to = f'{limits.rate:g} m/s'

    def open(self, now: float) -> None:
        """Start the time of the trouble."""
        if self._trouble is Trouble.NOT_OPENED:
            raise TransportError(f'no drives answer on loopback, kept to {self._kept_to}')
        self._opened = self._now = now

    def close(self) -> None:
        """Switch off."""
        self.enabled = False

    def enable(self) -> None:
        """Switch on at once."""
        self.enabled = self._trouble is not Trouble.NEVER_ON

    def why_not_on(self) -> str:
        """Blame leg 3."""
        return '' if self.enabled else 'leg 3 is SWITCHED_ON'

    def disable(self) -> None:
        """Switch off at once."""
        self.enabled = False

    def home(self) -> str:
        """Refuse in trouble NOT_HOMED."""
        if self._trouble is Trouble.NOT_HOMED:
            raise HomingError('the strokes of loopback are not absolute')
        return 'loopback is always absolute'

    def reset_fault(self) -> None:
        """End the trouble, with patience where it is a slow one."""
        end = time.monotonic() + 30.0
        while self._trouble is Trouble.SLOW_RESET and time.monotonic() < end:
            if self.interrupted():
                raise DriverError('interrupted')
            time.sleep(1e-3)
        self._trouble = Trouble.NONE

    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        """Measure the targets of the exchange before, then take new ones."""
        trouble = self._trouble if now - self._opened >= self._options.trouble_after else None
        if trouble is Trouble.BROKEN:
            raise TransportError('loopback is broken')
        if trouble is Trouble.CRASH and self.enabled:
            raise RuntimeError('a bug in loopback')
        if trouble is Trouble.DROPPED_OUT:
            self.enabled = False
        self._now = now
        strokes = self._strokes.copy()
        if trouble is Trouble.NOT_A_NUMBER:
            strokes[3] = np.nan
        if trouble is Trouble.JUMP:
            strokes[1] += 0.01
        if self.enabled:
            self.targets.append(targets)
            if trouble is not Trouble.STUCK:
                self._strokes = targets.strokes
        return Measurement(
            stamp=now,
            strokes=strokes,
            rates=targets.rates,
            enabled=self.enabled,
            live=(1 << LEGS) - 1 if self.enabled else 0,
            fault=DriveFault(3, 0x7305, 'encoder') if trouble in FAULTS else None,
        )
