# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The firmware: registers, the lock, the stream; a pure state machine over given times.

It is as strict as the sensor: what is written while locked, or to a code that does not exist, is
ignored without a word, and a rate that the line does not carry is lowered without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import pi
from struct import pack

import numpy as np
from stewart_kinematics.motion import Array
from stewart_simulation.serial_imu import protocol
from stewart_simulation.serial_imu.inertial import GRAVITY, InertialState
from stewart_simulation.serial_imu.inertial_kernels import limit
from stewart_simulation.serial_imu.measurement import angles, Imperfections, measure, rows_of
from stewart_simulation.serial_imu.protocol import FACTORY, frame

RESTART = 0.4


@dataclass
class Sensor:
    """State of the sensor.

    Attributes:
        flaws: Noise and bias.
        rng: Source of the noise.
        registers, saved: In use, and what comes back after a loss of power.
        needs_restart: Registers that some firmware obeys only after saving and a restart, although
            it shows what was written.
        rate_cap: The rate is silently lowered to this [Hz].
        silent: Nothing is sent.
        frozen: The values sent never change.
        yaw_drift: Of the six-axis algorithm [rad/s].
    """

    flaws: Imperfections = field(default_factory=Imperfections)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    registers: dict[int, int] = field(default_factory=lambda: dict(FACTORY))
    saved: dict[int, int] = field(default_factory=lambda: dict(FACTORY))
    needs_restart: frozenset[int] = frozenset()
    rate_cap: float = float('inf')
    silent: bool = False
    frozen: bool = False
    yaw_drift: float = 1e-4

    def __post_init__(self) -> None:
        """Power up."""
        self._input = b''
        self._unlocked_until = 0.0
        self._silent_until = float('-inf')
        self._since = float('-inf')
        self._yaw = 0.0
        self._once = False
        self._last = b''
        self._used = dict(self.registers)
        # Memory of the low pass, see `limit`.
        self._filter: Array | None = None

    @property
    def baud(self) -> int:
        """Speed of its line."""
        return protocol.BAUDS[self._used[protocol.BAUD]]

    @baud.setter
    def baud(self, value: int) -> None:
        """Change the speed behind the host's back."""
        self._take(protocol.BAUD, protocol.baud_code(value))

    @property
    def rate(self) -> float:
        """Cycles per second that it was told to send, which the line may not carry [Hz]."""
        return protocol.RATES[self._used[protocol.RATE]]

    @rate.setter
    def rate(self, value: float) -> None:
        """Change the rate behind the host's back."""
        self._take(protocol.RATE, protocol.rate_code(value))

    def _take(self, register: int, value: int) -> None:
        self.registers[register] = self._used[register] = value

    @property
    def byte_time(self) -> float:
        """How long a byte takes [s]."""
        return protocol.BITS_PER_BYTE / self.baud

    @property
    def content(self) -> tuple[int, ...]:
        """Types of a cycle."""
        return _types(self._used[protocol.CONTENT])

    @property
    def period(self) -> float:
        """Time between cycles as it is, not as it was asked for; inf without a stream [s]."""
        rate = min(_carried(self.rate, self._used[protocol.CONTENT], self.baud), self.rate_cap)
        return 1.0 / rate if rate > 0.0 else float('inf')

    def receive(self, data: bytes, now: float) -> bytes:
        """Take commands of the host, whole or in pieces, at a time [s]; return the answers."""
        self._input += data
        answer = b''
        while (start := self._input.find(protocol.PREFIX)) >= 0:
            command = self._input[start : start + protocol.COMMAND_LENGTH]
            if len(command) < protocol.COMMAND_LENGTH:
                break
            self._input = self._input[start + protocol.COMMAND_LENGTH :]
            answer += self._obey(command[2], int.from_bytes(command[3:], 'little'), now)
        self._input = self._input[-protocol.COMMAND_LENGTH :]
        return b'' if self._mute(now) else answer

    def _obey(self, register: int, value: int, now: float) -> bytes:
        if register == protocol.READ:
            words = [self.registers.get(value + offset, 0) for offset in range(4)]
            return frame(protocol.ANSWER, pack('<4H', *words))
        if register == protocol.KEY:
            self._unlocked_until = now + protocol.UNLOCKED_FOR if value == protocol.UNLOCK else now
        elif now < self._unlocked_until:
            if register == protocol.SAVE:
                self._keep(value, now)
            elif value in protocol.VALUES.get(register, ()):
                self._write(register, value)
        return b''

    def _write(self, register: int, value: int) -> None:
        self.registers[register] = value
        if register in self.needs_restart:
            return
        self._used[register] = value
        if register == protocol.ALGORITHM:
            self._since = float('-inf')
        elif register == protocol.RATE:
            self._once = value == protocol.SINGLE

    def _keep(self, value: int, now: float) -> None:
        if value == protocol.KEEP:
            self.saved = dict(self.registers)
        elif value == protocol.FACTORY_SETTINGS:
            self.registers, self.saved, self._used = dict(FACTORY), dict(FACTORY), dict(FACTORY)
        elif value == protocol.REBOOT:
            self.restart(now)

    def restart(self, now: float) -> None:
        """Lose what was not saved, and be silent for a moment."""
        self.registers, self._used = dict(self.saved), dict(self.saved)
        self._filter = None
        self._unlocked_until = now
        self._silent_until = now + RESTART
        self._since = float('-inf')

    def cycle(self, state: InertialState, now: float) -> bytes:
        """Return the frames of one cycle at a time [s], back to back, in ascending order.

        There are none while the sensor is silent.
        """
        if self._mute(now):
            return b''
        if self.frozen and self._last:
            return self._last
        return self._measured([state], [now])[0]

    def cycles(self, states: Sequence[InertialState], times: Sequence[float]) -> list[bytes]:
        """Return the frames of successive cycles between which nobody tells the sensor anything.

        Their times increase [s]; the frames of each are those of `cycle`, bit for bit.
        """
        if self.frozen or self._mute(times[0]):
            return list(map(self.cycle, states, times))
        return self._measured(states, times)

    def _measured(self, states: Sequence[InertialState], times: Sequence[float]) -> list[bytes]:
        samples, instants = rows_of(states), np.array(times)
        self._limit(samples, instants)
        yaws = self._yaw_offsets(states[0], instants)
        measured = measure(states, samples, self.flaws, self.rng, instants, yaws)
        frames = measured.frames(self.content)
        self._last = frames[-1]
        return frames

    def _limit(self, samples: Array, times: Array) -> None:
        """Leave what the low pass lets through of samples (n, 13), and the ranges.

        The delay of the low pass, 1 / (2 pi corner), is what data sheets of such sensors state for
        their digital filters: 8 ms at 20 Hz. It begins settled.
        """
        if self._filter is None:
            self._filter = np.concatenate([times[:1], samples[0, :6], samples[0, :6]])
        corner = protocol.BANDWIDTHS[self._used[protocol.BANDWIDTH]]
        force = GRAVITY * protocol.ACCELEROMETER_RANGES[self._used[protocol.ACCELEROMETER_RANGE]]
        turn = pi / 180.0 * protocol.GYROSCOPE_RANGES[self._used[protocol.GYROSCOPE_RANGE]]
        ranges = np.array([force, force, force, turn, turn, turn])
        limit(times, 0.5 / (pi * corner), ranges, self._filter, samples)

    def single(self) -> bool:
        """Tell, once, that a single cycle was asked for."""
        once, self._once = self._once, False
        return once

    def _mute(self, now: float) -> bool:
        return self.silent or now < self._silent_until

    def _yaw_offsets(self, first: InertialState, times: Array) -> Array:
        """Without the magnetometer yaw begins at zero and drifts."""
        if self._used[protocol.ALGORITHM] == protocol.NINE_AXES:
            return np.zeros(len(times))
        if self._since == float('-inf'):
            self._since, self._yaw = float(times[0]), -angles(first.quaternion_xyzw)[2]
        return self._yaw + self.yaw_drift * (times - self._since)


@cache
def _types(mask: int) -> tuple[int, ...]:
    """Return the types that a value of CONTENT switches on, in the order of a cycle."""
    return tuple(protocol.TIME + bit for bit in range(11) if mask >> bit & 1)


@cache
def _carried(asked: float, content: int, baud: int) -> float:
    """Return the rate that a line carries of the one asked for; 0 without a stream [Hz]."""
    length = len(_types(content)) * protocol.FRAME_LENGTH
    if not length:
        return 0.0
    room = baud / protocol.BITS_PER_BYTE / length
    # At the lowest rates of the table any line carries everything.
    return min(asked, max(rate for rate in protocol.RATES.values() if rate <= room))
