# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A cycle on a loopback back end, with the test in the place of the node."""

from __future__ import annotations

from collections.abc import Callable
import os
from typing import Any

from loopback import LoopbackBackend, LoopbackOptions, Trouble
import numpy as np
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.legs import Array

CYCLE = 0.002
PERIOD = 0.006
START = np.full(6, 0.3)
ZERO = np.zeros(6)
SPEEDS = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])


def ramp(time: float) -> tuple[Array, Array]:
    """Legs that speed up at 0.5 of their rates per second for one second, from START."""
    rise = min(max(time, 0.0), 1.0)
    strokes = START + SPEEDS * (0.5 * rise**2 + max(time - 1.0, 0.0))
    return strokes, SPEEDS * rise


class Rig:
    """A cycle with a loopback back end and the node's end of the block, without processes."""

    def __init__(
        self,
        trouble: Trouble = Trouble.NONE,
        after: float = 0.0,
        start: float = 0.3,
        rate: float | None = None,
    ) -> None:
        """Open the back end at time zero and run one cycle; narrow the rate limit [m/s]."""
        descriptor = SharedBlock.allocate()
        self.node, self.block = SharedBlock(descriptor), SharedBlock(descriptor)
        os.close(descriptor)
        self.backend = LoopbackBackend(
            LoopbackOptions(CYCLE, start=start, trouble=trouble.value, trouble_after=after)
        )
        self.backend.open(0.0)
        configuration = CycleConfiguration(self.backend.limits.narrowed(rate=rate))
        self.delay = configuration.interpolation.playout_delay
        self.cycle = ControlLoop(self.backend, configuration, self.block)
        self.now = 0.0
        self.states: list[State] = []
        self.reason = ''
        self.reasons: list[str] = []
        self.override = False
        self.run(CYCLE)

    def run(self, duration: float, feed: Callable[[float], Any] = lambda _now: None) -> None:
        """Step cycle by cycle."""
        for _ in range(round(duration / CYCLE)):
            feed(self.now)
            self.cycle.step(self.now)
            self.now += CYCLE
            for event in self.node.events.pop_all():
                # Events also tell what is live.
                if (state := State(int(event['state']))) not in self.states[-1:]:
                    self.states.append(state)
                self.reason = event['reason']
                self.reasons.append(self.reason)
                self.override = bool(event['override'])

    def ask(self, request: Request, value: float = 0.0) -> tuple[bool, str]:
        """Ask and run one cycle for the answer."""
        self.node.requests.push(code=request, value=value)
        self.run(CYCLE)
        (reply,) = self.node.replies.pop_all()
        return bool(reply['accepted']), reply['message']

    def quick_stop(self) -> tuple[bool, str]:
        """Raise the flag and run one cycle for the answer."""
        self.node.words['quick_stops'] += 1
        self.run(CYCLE)
        (reply,) = self.node.stops.pop_all()
        assert reply['quick_stops'] == self.node.words['quick_stops']
        return bool(reply['accepted']), reply['message']

    def send(self, stamp: float, strokes: Array, rates: Array, forces: Array = ZERO) -> None:
        """Send one setpoint."""
        self.node.setpoints.push(stamp=stamp, strokes=strokes, rates=rates, forces=forces)

    def enabled(self, duration: float = 0.05) -> Rig:
        """Enable, and run for a while [s]."""
        self.ask(Request.ENABLE)
        self.run(duration)
        assert self.cycle.state is State.ENABLED
        return self

    def moving(self) -> Rig:
        """Enable and move for one and a half seconds."""
        self.enabled(0.1)
        self._begin = self.now
        self.run(1.5, self.feed)
        assert self.cycle.state is State.ENABLED
        return self

    def feed(self, now: float) -> None:
        """Send the ramp every third cycle."""
        if round(now / CYCLE) % round(PERIOD / CYCLE) == 0:
            self.send(now, *ramp(now - self._begin))

    def run_into_trouble(self) -> None:
        """Enable and move until the back end's trouble has had its consequences."""
        self.ask(Request.ENABLE)
        self.run(0.05)
        self._begin = self.now
        self.run(2.0, self.feed)

    @property
    def commanded(self) -> Array:
        """What the drives were told, from the samples, shape (n, 6) [m]."""
        strokes = np.array([s['commanded_strokes'] for s in self.node.samples.pop_all()])
        return strokes[~np.isnan(strokes).any(axis=1)]

    @property
    def targets(self) -> Array:
        """All target strokes while enabled, shape (n, 6) [m]."""
        return np.array([target.strokes for target in self.backend.targets])
