# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Homing by the drives, one leg after the other (CiA 402, mode 6), for incremental encoders.

All drives come on and hold; then each in turn goes to mode 6, moves its leg by itself to a limit
switch or an index pulse, and comes back to mode 8 with its actual position as its target.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from enum import IntFlag
from math import ceil
import struct
from typing import Annotated, NamedTuple

import numpy as np
from stewart_driver.errors import ConfigurationError, LegFault, TransportError
from stewart_driver.ethercat.cia402 import objects
from stewart_driver.ethercat.cia402.states import Mode, Status
from stewart_driver.ethercat.drive_group import FRAMES_TO_ACT
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.gear import Gear
from stewart_driver.ethercat.guards import Setting
from stewart_driver.ethercat.process_data import Inputs
from stewart_driver.ethercat.sdo import SdoChannel
from stewart_driver.legs import Array, END_MARGIN, LEGS, STANDSTILL
from stewart_tables.yaml_models import Check

# The request has to be renewed within this time, else the motion halts [s].
HOMING_DEAD_MAN = 1.0
# A homing may take longer than strokes, speeds and ramps say, by this factor and time [s].
TIME_MARGIN, LATEST_START = 1.5, 1.0
# A halted leg is at rest, beside its ramp, and a drive in another mode, within this time [s].
HALT_TIMEOUT, MODE_TIMEOUT = 1.0, 0.5
# Of 6098h: to switches and index pulses, and the present position.
METHODS, IN_PLACE = (*range(1, 38),), frozenset({35, 37})


class Bits(IntFlag):
    """Bits of the controlword in mode 6, beside those of Enable Operation."""

    NONE = 0
    START = 1 << 4
    HALT = 1 << 8


# Statusword in mode 6: attained and at rest, and failed.
ATTAINED, FAILED = int(Status.TARGET_REACHED | Status.TARGET_FOLLOWED), int(Status.FOLLOWING_ERROR)


class HomingPlan(NamedTuple):
    """Homing of a type of drive.

    Attributes:
        methods: Of 6098h that it has.
        fast_speed, slow_speed: To the switch, and to its edge or the index pulse [m/s].
        stroke: Of a leg at home [m].
    """

    methods: tuple[Annotated[int, Check(least=METHODS[0], most=METHODS[-1])], ...]
    fast_speed: Annotated[float, Check(key='fast_speed_mps', positive=True)]
    slow_speed: Annotated[float, Check(key='slow_speed_mps', positive=True)]
    acceleration: Annotated[float, Check(key='acceleration_mps2', positive=True)]
    stroke: Annotated[float, Check(key='stroke_m')]

    def require(self, method: int) -> None:
        """Refuse a method that the drives do not have; raises `ConfigurationError`."""
        if method not in self.methods:
            known = ', '.join(str(item) for item in self.methods)
            raise ConfigurationError('homing_method', method, f'0, or of the drive type: {known}')

    def settings(self, method: int, gear: Gear) -> Iterator[Setting]:
        """Yield what a drive is told; home itself is count 0, so that 607Ch cannot be mistaken."""
        counts = abs(gear.counts_per_metre)
        yield Setting(
            'homing method', objects.HOMING_METHOD, 0, struct.pack('<b', method), signed=True
        )
        for subindex, speed in ((1, self.fast_speed), (2, self.slow_speed)):
            data = struct.pack('<I', max(round(counts * speed), 1))
            yield Setting('homing speed', objects.HOMING_SPEEDS, subindex, data)
        data = struct.pack('<I', max(round(counts * self.acceleration), 1))
        yield Setting('homing acceleration', objects.HOMING_ACCELERATION, 0, data)
        yield Setting('home offset', objects.HOME_OFFSET, 0, bytes(4), signed=True)

    def near(self, gear: Gear) -> float:
        """Return how far from 0 a leg may stand that has come home [count].

        A drive need not turn back to its switch or index pulse, which it has overrun meanwhile.
        """
        overrun = self.fast_speed**2 / (2.0 * self.acceleration)
        return abs(gear.counts_per_metre) * (overrun + END_MARGIN)

    def longest(self, gear: Gear, stroke: float) -> float:
        """Return how long the homing of a leg may take [s].

        At the fast speed a whole stroke [m] at most; at the slow one what braking has overshot,
        and two revolutions of the motor for the edge of the switch and the index pulse.
        """
        revolution = gear.lead / gear.ratio
        slowly = self.fast_speed**2 / (2.0 * self.acceleration) + 2.0 * revolution
        ramps = 4.0 * self.fast_speed / self.acceleration
        moving = stroke / self.fast_speed + slowly / self.slow_speed + ramps
        return TIME_MARGIN * moving + LATEST_START


class _NotHomed(Exception):
    """Homing has ended for this reason, with no leg to blame."""


class HomingMotion:
    """The way of all legs to home; it is told of every frame, and says what goes into the next.

    Args:
        drives: Legs 1 to 6, object by object; told how to home before.
        mode_mapped: Of each drive, whether its mode is exchanged cyclically; else it is set by
            SDO.
        stroke: Longest way of a leg [m].
        cycle_time, now: Time between frames, and present instant [s].
        beside: Asks a drive while frames go on; `Wire.beside`.
        in_place: Whether home is where the legs stand, so that a drive may be there at once.

    Attributes:
        powered: Whether the drives shall be on.
        axis: Drive 0 to 5 that moves by itself, and whose target counts for nothing.
        mode, bits: Its mode of operation, and its further bits of the controlword.
        over: Whether nothing moves any more.
        homed: Whether all legs are home.
        said: Why it has ended, or how far it has come.
        fault: Which leg has failed.
    """

    def __init__(
        self,
        plan: HomingPlan,
        drives: Sequence[SdoChannel],
        mode_mapped: Sequence[bool],
        gear: Gear,
        stroke: float,
        cycle_time: float,
        now: float,
        beside: Callable[[int, Callable[[], bytes | None]], Generator[None, None, bytes | None]],
        *,
        in_place: bool = False,
    ) -> None:
        self._drives, self._mode_mapped, self._beside = drives, mode_mapped, beside
        self._in_place, self._near = in_place, plan.near(gear)
        self._longest = plan.longest(gear, stroke)
        self._slow_frames = ceil(MODE_TIMEOUT / cycle_time)
        self._halt_time = HALT_TIMEOUT + plan.fast_speed / plan.acceleration
        self._halt_frames = ceil(self._halt_time / cycle_time)
        self._asked_at = now
        self._halted = ''
        self._now = now
        self._inputs: Sequence[Inputs] = ()
        self._rates: Array = np.zeros(LEGS)
        self._holding = False
        self._steps = self._home_all()
        self.powered = False
        self.axis: int | None = None
        self.mode, self.bits = Mode.CYCLIC_SYNCHRONOUS_POSITION, Bits.NONE
        self.over = self.homed = False
        self.said = 'the drives come on'
        self.fault: LegFault | None = None

    def ask(self, now: float) -> None:
        """Renew the request at an instant [s]."""
        self._asked_at = now

    def halt(self, reason: str) -> None:
        """Bring the leg that moves to rest, and end."""
        self._halted = self._halted or reason

    def advance(
        self, now: float, inputs: Sequence[Inputs], rates: Array, *, holding: bool
    ) -> None:
        """Take note of a frame.

        Args:
            inputs: What the drives report, legs 1 to 6.
            rates (6,): Measured [m/s].
            holding: Whether all drives are on and hold their legs, but for the one that moves.
        """
        self._now, self._inputs, self._rates, self._holding = now, inputs, rates, holding
        if now - self._asked_at > HOMING_DEAD_MAN:
            self.halt(f'nobody has asked for it for {HOMING_DEAD_MAN:g} s')
        try:
            next(self._steps)
            return
        except StopIteration:
            self.homed, self.said = True, 'all legs have homed'
        except LegFault as fault:
            self.fault, self.said = fault, str(fault)
        except (_NotHomed, TransportError) as error:
            self.said = f'homing was halted: {error}'
        self.over = True

    def _home_all(self) -> Iterator[None]:
        """Do one step per frame."""
        self.powered = True
        while not self._holding:
            self._look()
            yield
        for axis in range(LEGS):
            self.said = f'leg {axis + 1} goes home'
            self.axis = axis
            yield from self._home(axis)
            self.axis = None
            yield

    def _look(self) -> None:
        if self._halted:
            raise _NotHomed(self._halted)

    def _home(self, axis: int) -> Iterator[None]:
        """Home one leg; whatever happens, its drive is at rest and in mode 8 in the end."""
        yield from self._switch(axis, Mode.HOMING)
        self.bits = Bits.START
        wrong = yield from self._until_attained(axis)
        attained = not (wrong or self._halted) and self._holding
        if not attained:
            self.bits = Bits.START | Bits.HALT
        wrong = yield from self._rest(axis, wrong)
        if attained and not (wrong or self._at_zero(axis)):
            count = self._inputs[axis].position
            wrong = f'its drive says that it is home, but at {count} counts instead of 0'
        yield from self._switch(axis, Mode.CYCLIC_SYNCHRONOUS_POSITION)
        self.bits = Bits.NONE
        if wrong:
            raise LegFault(axis + 1, wrong)
        self._look()
        if not attained:
            raise _NotHomed('a drive has left operation')

    def _until_attained(self, axis: int) -> Generator[None, None, str]:
        """Wait until a leg is home or has to be halted; return what is wrong.

        A drive may say for a while how its last homing has ended, for it takes its time to begin
        anew. Only one that homes in place may have begun and ended between two frames.
        """
        start, frames, begun = self._now, 0, False
        while True:
            word, elapsed = self._inputs[axis].statusword, self._now - start
            attained, failed = word & ATTAINED == ATTAINED, bool(word & FAILED)
            begun = begun or not (attained or failed)
            known = begun or (attained and self._in_place and self._at_zero(axis))
            # Until then the statusword may be that of the frames before the start bit.
            if frames >= 2 * FRAMES_TO_ACT:
                if failed and (begun or elapsed > LATEST_START):
                    return 'its drive reports a homing error (statusword bit 13)'
                if self._halted or not self._holding or (attained and known):
                    return ''
                if not known and elapsed > LATEST_START:
                    return (
                        f'its drive has not begun to home within {LATEST_START:g} s: it says all '
                        'the time that it is home (statusword bits 10 and 12)'
                    )
                if elapsed > self._longest:
                    return f'it has not come home within {self._longest:.1f} s'
            frames += 1
            yield

    def _at_zero(self, axis: int) -> bool:
        """Tell whether the count of a leg is that of home, for the home offset is 0."""
        return abs(self._inputs[axis].position) <= self._near

    def _rest(self, axis: int, wrong: str) -> Generator[None, None, str]:
        """Wait until a leg stands, and its counts are those that go with its statusword."""
        still = 0
        for _ in range(self._halt_frames):
            still = still + 1 if abs(self._rates[axis]) < STANDSTILL else 0
            if still > FRAMES_TO_ACT:
                return wrong
            yield
        return wrong or f'it still moves {self._halt_time:.2f} s after the end of its homing'

    def _switch(self, axis: int, mode: Mode) -> Iterator[None]:
        """Change the mode of a drive, and wait until it says so."""
        drive, self.mode = self._drives[axis], mode
        try:
            if not self._mode_mapped[axis]:
                data = bytes([mode])
                yield from self._beside(drive.leg, lambda: drive.write(objects.MODE, 0, data))
            for _ in range(self._slow_frames):
                yield
                found = self._inputs[axis].mode
                if found is None:
                    answer = yield from self._beside(
                        drive.leg, lambda: drive.read(objects.MODE_DISPLAY, 0)
                    )
                    found = (answer or b'\0')[0]
                if found == mode:
                    break
            else:
                raise LegFault(
                    axis + 1, f'its drive stays in mode {found} (6061h), asked for is {mode}'
                )
        except SdoRefused as error:
            raise LegFault(axis + 1, str(error)) from error
        for _ in range(FRAMES_TO_ACT):
            yield
