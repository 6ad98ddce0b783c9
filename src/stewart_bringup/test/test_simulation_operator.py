# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated run ends although the drives or the sensors never get ready."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from stewart_bringup.simulation.operator import Operator, Phase
from stewart_bringup.simulation.schedule import NANOSECONDS
from stewart_driver.control.cycle_link import CycleLink
from stewart_driver.control.state_machine import Request, State

PERIOD, ALL = NANOSECONDS // 200, 0b111111


class Drives:
    """Stand in for the driver: answers as it is told to, and is on or off at once.

    Attributes:
        refuses: Until when ENABLE is refused [s].
        leaves: State that is entered after the first second of being enabled.
    """

    def __init__(self, refuses: float = 0.0, leaves: State | None = None) -> None:
        self.loop = Mock(CycleLink, cycles=1, request=self.request)
        self.refuses, self.leaves = refuses, leaves
        self.now, self.enabled, self.state = NANOSECONDS, 0, State.DISABLED

    def request(self, request: Request) -> tuple[bool, str]:
        if request is Request.DISABLE:
            self.state = State.DISABLED
        elif self.now < self.refuses * NANOSECONDS:
            return False, 'the strokes are not absolute'
        else:
            self.state, self.enabled = State.ENABLED, self.now
        return True, ''

    def run(self, missing: str = '') -> tuple[Operator, float]:
        """Return the operator after its run, and how long that was [s]; two minutes at most."""
        start = Mock()
        operator = Operator(self.loop, lambda: missing, start)
        while operator.phase is not Phase.DONE and self.now < 120 * NANOSECONDS:
            self.now += PERIOD
            if self.leaves is not None and self.enabled and self.now - self.enabled > NANOSECONDS:
                self.state = self.leaves
            operator.look(self.now, self.state, ALL if self.state is State.ENABLED else 0)
            if start.called:
                break
        return operator, self.now / NANOSECONDS - 1.0


def test_drives_that_refuse_to_come_on_end_the_run_with_their_reason() -> None:
    operator, took = Drives(refuses=1000.0).run()
    assert operator.phase is Phase.DONE
    assert operator.reason == 'the drives do not come on: the strokes are not absolute'
    assert took == pytest.approx(5.0, abs=0.1)


def test_drives_that_refuse_for_a_moment_are_asked_again() -> None:
    operator, _ = Drives(refuses=4.0).run()
    assert (operator.phase, operator.reason) == (Phase.PLAYING, '')


def test_a_run_without_poses_ends_with_what_is_missing_and_the_drives_off() -> None:
    drives = Drives()
    operator, took = drives.run('no pose of the platform')
    assert (operator.phase, drives.state) == (Phase.DONE, State.DISABLED)
    assert operator.reason == 'the motion cannot begin after 30 s: no pose of the platform'
    assert took == pytest.approx(30.5, abs=0.1)


def test_a_fault_on_the_way_to_off_is_how_it_ended() -> None:
    operator = Operator(Drives().loop, lambda: '', Mock())
    operator.settle(NANOSECONDS)
    for state in (State.ENABLED, State.STOPPING):
        operator.look(10 * NANOSECONDS, state, ALL, '')
        assert operator.phase is Phase.DISABLING
    operator.look(11 * NANOSECONDS, State.FAULT, 0, 'leg 3: following error')
    assert operator.phase is Phase.DONE
    assert operator.reason == 'the driver is in FAULT: leg 3: following error'


@pytest.mark.parametrize('leaves', [State.DISABLED, State.FAULT])
def test_a_driver_that_leaves_before_the_motion_begins_ends_the_run(leaves: State) -> None:
    operator, took = Drives(leaves=leaves).run('no estimate')
    assert operator.phase is Phase.DONE
    assert leaves.name in operator.reason
    assert took == pytest.approx(1.0, abs=0.1)
