# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory node, feed-forward and inverse kinematics in simulated time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_bringup.simulation.motions import Motion as Played
from stewart_bringup.simulation.schedule import NANOSECONDS
from stewart_bringup.simulation.series import Rows
from stewart_driver.legs import Array, LEGS
from stewart_driver.path.motion import LegMotion
from stewart_dynamics.feed_forward import FeedForward
from stewart_kinematics.control.admission import Admission
from stewart_kinematics.control.playback import Playback
from stewart_kinematics.errors import StewartError

AHEAD = 200
"""So many setpoints are made at once: nothing that makes them depends on the platform."""


@dataclass(frozen=True, eq=False)
class Block:
    """Successive setpoints, n of them.

    Attributes:
        stamps (n,): [ns].
        parts (n, 3): Of a `Motion`.
        forces (n, 6): Feed-forward; None where there is none [N].
        strokes, rates (n, 6): Of the legs; None where the one setpoint of the block is refused
            [m], [m/s].
    """

    stamps: NDArray[np.int64]
    parts: tuple[Array, ...]
    forces: Array | None
    strokes: Array | None
    rates: Array | None


class SetpointStream:
    """Setpoints of a motion, each given at its instant.

    Attributes:
        executed: Stamp of the last setpoint that was executed; 0: none [ns].
        refusal: Why the last one that was refused was refused; empty if none was.
    """

    def __init__(
        self,
        played: Played,
        admission: Admission,
        feed: FeedForward | None,
        rows: dict[str, Rows],
    ) -> None:
        self._source, self._admission, self._feed = played.source, admission, feed
        self._period = round(NANOSECONDS / played.parameters.rate)
        self._rows = rows
        self._block: Block | None = None
        self._next = self._published = 0
        self.executed, self.refusal = 0, ''

    def give(self, playback: Playback, now: int) -> tuple[LegMotion, tuple[Array, ...]] | None:
        """Return the setpoint of the legs and the parts of its `Motion`; None if it is refused.

        `now` is a period after the call before [ns].
        """
        block, k = self._block, self._next
        if block is None or k == len(block.stamps):
            self.publish()
            # After a refusal one by one, until one is executed again.
            ahead = 1 if block is not None and block.strokes is None else AHEAD
            block, k = self._made(playback, now, ahead), 0
            self._block, self._published = block, 0
        self._next = k + 1
        if block.strokes is None or block.rates is None:
            return None
        self.executed = now
        forces = np.zeros(LEGS) if block.forces is None else block.forces[k]
        legs = LegMotion(now / NANOSECONDS, block.strokes[k], block.rates[k], forces)
        return legs, tuple([part[k] for part in block.parts])

    def publish(self) -> None:
        """Publish what was given and is not yet published."""
        block, given = self._block, slice(self._published, self._next)
        if block is None or given.start == given.stop:
            return
        self._published = given.stop
        stamps, parts = block.stamps[given], [part[given] for part in block.parts]
        self._rows['setpoint'].add(stamps, stamps, *parts)
        if block.forces is not None:
            self._rows['joint_efforts'].add(stamps, stamps, block.forces[given])
        if block.strokes is not None and block.rates is not None:
            self._rows['platform/commanded'].add(stamps, stamps, *parts)
            self._rows['joint_commands'].add(
                stamps, stamps, block.strokes[given], block.rates[given]
            )

    def fall_silent(self) -> None:
        """Give no more; what was made ahead is forgotten."""
        self.publish()
        self._block = None

    def _made(self, playback: Playback, now: int, ahead: int) -> Block:
        """Make the setpoints from now on: as many as are executed, or one that is refused."""
        stamps = now + self._period * np.arange(ahead)
        motion, forces = playback.sample(stamps), None
        if self._feed is not None:
            try:
                forces = self._feed.forces(*motion.parts())
            except StewartError as error:
                if ahead > 1:
                    return self._made(playback, now, 1)
                self.refusal = str(error)
        try:
            legs = self._admission.admit_run(self._source, motion, stamps / NANOSECONDS)
            if not len(legs.stroke):
                legs = self._admission.admit(self._source, motion[0], now / NANOSECONDS)
        except StewartError as error:
            self.refusal = str(error)
            some, strokes, rates = slice(1), None, None
        else:
            some, strokes, rates = slice(len(legs.stroke)), legs.stroke, legs.rate
        forces = None if forces is None else forces[some]
        return Block(stamps[some], motion[some].parts(), forces, strokes, rates)
