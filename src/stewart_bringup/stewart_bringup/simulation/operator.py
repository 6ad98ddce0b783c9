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
# So long drives are asked again that refuse to come on: some get ready a little later [ns].
REFUSED = 5 * NANOSECONDS
# The longest wait for enabled drives, and then for poses and estimates [s].
PATIENCE = 30
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
        missing: Tells what the motion still waits for, with enabled drives; empty for nothing.

    Attributes:
        reason: Why the motion was not played to its end; empty if it was.
    """

    def __init__(
        self, loop: CycleLink, missing: Callable[[], str], start: Callable[[], None]
    ) -> None:
        self._loop, self._missing, self._start = loop, missing, start
        self._silent_since = self._disabled_since = self._refused_since = 0
        self._waits_since: int | None = None
        self.phase, self.reason = Phase.ENABLING, ''

    def look(self, now: int, state: State, live: int, why: str = '') -> None:
        """Do what is to be done at an instant [ns] with the driver in a state, entered for `why`.

        `live` has the bits of the legs under power.
        """
        if state is State.FAULT:
            self.reason = self.reason or 'the driver is in FAULT' + (f': {why}' if why else '')
            self.phase = Phase.DISABLING
        if self.phase is Phase.ENABLING:
            self._enable(now, state)
        elif self.phase is Phase.WAITING:
            self._wait(now, state)
        elif self.phase is Phase.SETTLING and now - self._silent_since > SILENCE:
            self._loop.request(Request.DISABLE)
            self.phase = Phase.DISABLING
        elif self.phase is Phase.DISABLING and (
            state is State.FAULT or (state is State.DISABLED and self._off(now, live))
        ):
            self.phase = Phase.DONE

    def _enable(self, now: int, state: State) -> None:
        """Ask for enabled drives until they are, or refuse for too long."""
        if state is State.ENABLED:
            self.phase, self._waits_since = Phase.WAITING, None
            return
        if self._has_waited(now):
            self.settle(now, f'the drives were not ENABLED within {PATIENCE} s')
        elif state is State.DISABLED and self._loop.cycles:
            accepted, said = self._loop.request(Request.ENABLE)
            self._refused_since = 0 if accepted else self._refused_since or now
            if not accepted and now - self._refused_since >= REFUSED:
                self._give_up(f'the drives do not come on: {said}')

    def _wait(self, now: int, state: State) -> None:
        """Start the motion once nothing is missing."""
        if state is not State.ENABLED:
            self._give_up(f'the driver went to {state.name} before the motion began')
        elif not (missing := self._missing()):
            self.phase = Phase.PLAYING
            self._start()
        elif self._has_waited(now):
            self.settle(now, f'the motion cannot begin after {PATIENCE} s: {missing}')

    def _has_waited(self, now: int) -> bool:
        if self._waits_since is None:
            self._waits_since = now
        return now - self._waits_since > PATIENCE * NANOSECONDS

    def _give_up(self, reason: str) -> None:
        self.reason, self.phase = reason, Phase.DISABLING

    def _off(self, now: int, live: int) -> bool:
        self._disabled_since = self._disabled_since or now
        return not live or now - self._disabled_since > POWER_OFF

    def settle(self, now: int, reason: str = '') -> None:
        """Take note that the last setpoint has been given [ns], and why, if before the end."""
        self.reason = reason
        self._silent_since, self.phase = now, Phase.SETTLING
