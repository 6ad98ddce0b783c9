# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the control loop tells the node, through the block that they share."""

from __future__ import annotations

import numpy as np
from stewart_driver.backend import Backend, Measurement
from stewart_driver.control.cycle_link import StateChange
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import StateMachine
from stewart_driver.legs import LEGS, read_only
from stewart_driver.path.motion import LegMotion

UNKNOWN = read_only(np.full(LEGS, np.nan))


class BlockWriter:
    """Writes changes of the state, samples and counters, and no number that has not changed.

    Args:
        block: Shared with the node.
        backend: Knows whether the strokes are absolute, and how its frames fare.
        machine: State of the loop and its reason.
        publish_every: Every so many cycles a sample is written.
    """

    def __init__(
        self, block: SharedBlock, backend: Backend, machine: StateMachine, publish_every: int
    ) -> None:
        self._block, self._backend, self._machine = block, backend, machine
        self._wire = backend.wire
        self._publish_every = publish_every
        self._steps = 0
        self._told: StateChange | None = None
        self._error = self._slipped = 0.0

    def refuse(self, why: str) -> None:
        """Tell why a setpoint or a jog was refused."""
        self._block.refusals.push(text=why)

    def state(
        self, now: float, measured: Measurement | None, scaling: float, *, override: bool
    ) -> None:
        """Tell the state if anything of it has changed, also if it lasts less than a cycle.

        Args:
            now: Instant of the cycle on the steady clock [s].
            measured: The newest one; what is live, braked or without torque.
            scaling: Speed at which paths are played [-].
            override: Whether legs may be outside their strokes.
        """
        machine = self._machine
        told = StateChange(
            now, machine.state, self._backend.homed, machine.reason, scaling, override
        )
        if measured is not None:
            told = told._replace(live=measured.live, braked=measured.braked, sto=measured.sto)
        if self._told is None or told[1:] != self._told[1:]:
            self._told = told
            self._block.events.push(**told._asdict())

    def counters(self, slipped: float, error: float) -> None:
        """Tell how far the path is behind its schedule [s], and a leg was from its command [m]."""
        words = self._block.words
        if abs(slipped - self._slipped) > 1e-9:
            words['slipped'] = self._slipped = slipped
        if error != self._error:
            words['largest_following_error'] = self._error = error
        if self._wire is not None:
            self._wire.write_to(words)

    def sample(self, measured: Measurement, command: LegMotion | None) -> None:
        """Tell a measurement, if its turn has come, and the command, where drives follow one."""
        self._steps += 1
        if self._steps % self._publish_every:
            return
        self._block.samples.push(
            stamp=measured.stamp,
            strokes=measured.strokes,
            rates=measured.rates,
            forces=UNKNOWN if measured.forces is None else measured.forces,
            commanded_strokes=UNKNOWN if command is None else command.strokes,
            commanded_rates=UNKNOWN if command is None else command.rates,
        )
