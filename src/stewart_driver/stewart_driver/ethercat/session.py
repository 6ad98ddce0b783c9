# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives in OP, cycle by cycle, from one start of the bus to its end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from stewart_driver.backend import Measurement, Targets
from stewart_driver.errors import DriveFault, DriverError
from stewart_driver.ethercat.drive_group import DriveGroup
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.errors import LegFault
from stewart_driver.ethercat.gear import PER_MILLE
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.process_map import Inputs
from stewart_driver.ethercat.rates import Rates
from stewart_driver.ethercat.starting import Line, operational, stop, Wire
from stewart_driver.ethercat.step_limit import StepLimit
from stewart_driver.ethercat.watch import Watch
from stewart_driver.legs import Array, LEGS
from stewart_driver.stuck import StuckDetector

RESET_PATIENCE = 0.3
OFF_PATIENCE = 0.2
NO_TORQUES = (0,) * LEGS
# A leg under power that stands this still while its target goes this far in so many frames has an
# encoder that is stuck, or a brake. With the former its drive pushes as hard as it can: at 60 mm/s
# it is 20 mm away in 50 ms. Encoders are finer than the band, and a lag is no standstill.
STUCK_BAND, STUCK_TRAVEL, STUCK_FRAMES = 5e-6, 3e-4, 4


class Session:
    """
    The drives of a started bus.

    Parameters
    ----------
    wire : Wire
        In OP.
    line : Line
        The drives.
    kind : DriveType
        What they are.
    options : EthercatOptions
        Cycle and patience.
    zeros : sequence of int, or None
        Position of each drive at stroke zero [count]; None takes where they stand now for it.
    watch : Watch
        Supervision of this wire.
    phase : PhaseLock
        Cycle of the drives.

    Attributes
    ----------
    group : DriveGroup
        States and controlwords.

    """

    def __init__(
        self,
        wire: Wire,
        line: Line,
        kind: DriveType,
        options: EthercatOptions,
        zeros: Sequence[int] | None,
        watch: Watch,
        phase: PhaseLock,
    ) -> None:
        """Take the first measurement."""
        self._wire, self._line, self._kind, self._options = wire, line, kind, options
        self._watch, self._phase = watch, phase
        self.group = DriveGroup(LEGS)
        self._steps = StepLimit(kind.limits.rate, options.cycle_time)
        self._rates = Rates(kind.gear, options.rate_bandwidth)
        self._stuck = StuckDetector(STUCK_BAND, STUCK_TRAVEL, STUCK_FRAMES)
        self._stuck_fault: LegFault | None = None
        self._all_on_at: float | None = None
        self._last = self._measured_at = wire.now()
        self._inputs = self._read()
        self._counts = self._positions()
        self._zeros = self._counts if zeros is None else np.array(zeros, dtype=np.float64)
        self._targets = self.strokes
        # What a drive gets that does not follow: where it stands, until it holds its leg itself.
        self._frozen = [item.position for item in self._inputs]

    @property
    def strokes(self) -> Array:
        """Where the legs are [m], shape (6,)."""
        return self._kind.gear.strokes(self._counts, self._zeros)

    @property
    def intact(self) -> bool:
        """Whether all drives still take part; costs a frame."""
        return not self._watch.lost and operational(self._wire)

    def enable(self) -> None:
        """Begin to switch all drives on."""
        self._targets = self.strokes
        self._all_on_at = None
        self._stuck.forget()
        self._stuck_fault = None
        self.group.enable()

    def exchange(self, targets: Targets, now: float) -> Measurement:
        """Send the targets, read the drives, and look for what is wrong."""
        if (early := now - self._wire.now()) > 0.0:
            # Who steps time may ask for a cycle that is yet to come.
            self._wire.sleep(early)
        elapsed, self._last = now - self._last, now
        following = self._ready(now)
        fault: DriveFault | None = None
        torques: Sequence[int] = NO_TORQUES
        if following:
            self._targets, fault = self._steps.apply(self._targets, targets.strokes, elapsed)
            torques = self._kind.gear.torques(targets.forces)
        if self._frame(torques, following=following):
            self._counts, self._measured_at = self._positions(), now
            if following:
                self._look_for_stuck()
        fault = self._watch.look(now, self._inputs, self.group) or self._stuck_fault or fault
        strokes = self.strokes
        return Measurement(
            stamp=self._measured_at,
            strokes=strokes,
            rates=self._rates.update(self._inputs, strokes, self._measured_at),
            forces=self._forces(),
            enabled=self._ready(now) and self.group.complete and not self._watch.lost,
            fault=fault,
        )

    def reset(self) -> None:
        """
        Acknowledge the faults of all drives.

        Raises
        ------
        DriverError
            If a drive stays in its fault.

        """
        self._watch.forget()
        self.group.reset()
        limit = self._wire.now() + RESET_PATIENCE
        while True:
            self._frame(NO_TORQUES, following=False)
            if not self.group.faulty:
                break
            if self._wire.now() > limit:
                fault = self._watch.drive_fault(self.group.faulty[0], self._inputs)
                raise DriverError(f'the fault cannot be reset: {fault}')
            self._wire.sleep(self._options.cycle_time)
        self.group.disable()
        self._watch.forget()

    def close(self) -> None:
        """Take the voltage off all motors and end the bus."""

        def off() -> bool:
            self.group.take([item.statusword for item in self._read()])
            return self.group.off

        stop(self._wire, self._line, self._options.cycle_time, off, OFF_PATIENCE)

    def _look_for_stuck(self) -> None:
        """Take the power from a leg that stands while its target moves: it may run away."""
        follows = np.array([self.group.follows(axis) for axis in range(LEGS)])
        stuck = self._stuck.look(self.strokes, self._targets) & follows
        for axis in np.flatnonzero(stuck):
            self.group.drop(int(axis))
            self._stuck_fault = self._stuck_fault or LegFault(
                int(axis) + 1,
                f'its encoder stands still while its target moves by {1e3 * STUCK_TRAVEL:g} mm: '
                'stuck, or the brake is; its drive is switched off',
            )

    def _ready(self, now: float) -> bool:
        """Tell whether all drives were switched on and their brakes are free."""
        if not self.group.operating:
            return False
        if self._all_on_at is None:
            self._all_on_at = now
        return now - self._all_on_at >= self._kind.brake_release

    def _frame(self, torques: Sequence[int], *, following: bool) -> bool:
        """Exchange one frame; tell whether it came back with what drives measure."""
        group = self.group
        wanted = self._kind.gear.counts(self._targets, self._zeros)
        outputs = []
        for axis, word in enumerate(group.words()):
            if not group.holds(axis):
                self._frozen[axis] = self._inputs[axis].position
            target, torque = self._frozen[axis], 0
            if following and group.follows(axis):
                target, torque = wanted[axis], torques[axis]
            outputs.append(self._line.exchanges[axis].outputs.pack(word, target, torque))
        sent = self._wire.now()
        counter = self._wire.exchange(outputs)
        back = self._wire.now()
        self._watch.count(counter, back - sent, back)
        if counter <= 0:
            return False
        # What a lost drive has measured last stays where it was.
        self._inputs = self._read()
        self._phase.update(self._wire.clock)
        group.take([item.statusword for item in self._inputs])
        return True

    def _read(self) -> list[Inputs]:
        return [
            item.inputs.unpack(data)
            for item, data in zip(self._line.exchanges, self._wire.inputs(), strict=True)
        ]

    def _positions(self) -> Array:
        return np.array([item.position for item in self._inputs], dtype=np.float64)

    @property
    def measures_forces(self) -> bool:
        """Whether all drives report a torque."""
        return all(item.inputs.measures_torque for item in self._line.exchanges)

    def _forces(self) -> Array | None:
        torques = [item.torque for item in self._inputs]
        if None in torques:
            return None
        return np.array(torques, dtype=np.float64) * (PER_MILLE * self._kind.gear.rated_force)
