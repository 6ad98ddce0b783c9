# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The person at the rig: switches the drives on, plays the motion, switches them off."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from stewart_bringup.simulation.schedule import NANOSECONDS
from stewart_driver.control.cycle_link import CycleLink
from stewart_driver.control.state_machine import Request, State

# Between the last setpoint and switching off [ns].
SILENCE = NANOSECONDS // 2
# So long drives may take to lose their power; some cannot be switched off at all [ns].
POWER_OFF = NANOSECONDS // 2


class Phase(Enum):
    """What is being done."""

    ENABLING = 'enabling'
    WAITING = 'waiting for poses'
    PLAYING = 'playing'
    SETTLING = 'settling'
    DISABLING = 'switching off'
    DONE = 'done'


class Operator:
    """Whoever has the rig.

    Args:
        loop: The driver.
        ready: Tells whether there is all that the motion waits for, with enabled drives.
        start: Starts the motion.

    Attributes:
        reason: Why the motion was not played to its end; empty if it was.
    """

    def __init__(
        self, loop: CycleLink, ready: Callable[[], bool], start: Callable[[], None]
    ) -> None:
        self._loop, self._ready, self._start = loop, ready, start
        self._silent_since = self._disabled_since = 0
        self.phase, self.reason = Phase.ENABLING, ''

    def look(self, now: int, state: State, live: int) -> None:
        """Do what is to be done at an instant [ns] with the driver in a state.

        `live` has the bits of the legs under power.
        """
        if state is State.FAULT and self.phase is not Phase.DISABLING:
            self.reason = self.reason or 'the driver is in FAULT'
            self.phase = Phase.DISABLING
        if self.phase is Phase.ENABLING:
            if state is State.ENABLED:
                self.phase = Phase.WAITING
            elif state is State.DISABLED and self._loop.cycles:
                self._loop.request(Request.ENABLE)
        elif self.phase is Phase.WAITING and self._ready():
            self.phase = Phase.PLAYING
            self._start()
        elif self.phase is Phase.SETTLING and now - self._silent_since > SILENCE:
            self._loop.request(Request.DISABLE)
            self.phase = Phase.DISABLING
        elif self.phase is Phase.DISABLING and (
            state is State.FAULT or (state is State.DISABLED and self._off(now, live))
        ):
            self.phase = Phase.DONE

    def _off(self, now: int, live: int) -> bool:
        self._disabled_since = self._disabled_since or now
        return not live or now - self._disabled_since > POWER_OFF

    def settle(self, now: int, reason: str = '') -> None:
        """Take note that the last setpoint has been given [ns], and why, if before the end."""
        self.reason = reason
        self._silent_since, self.phase = now, Phase.SETTLING
