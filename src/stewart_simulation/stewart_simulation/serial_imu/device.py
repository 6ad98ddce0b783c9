# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The firmware: registers, the lock, the stream; a pure state machine over given times.

It is as strict as the sensor: what is written while locked, or to a code that does not exist, is
ignored without a word, and a rate that the line does not carry is lowered without a word.

"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from struct import pack
from types import MappingProxyType

import numpy as np
from stewart_driver.witmotion.commands import (
    Algorithm,
    BaudCode,
    BAUDS,
    BITS_PER_BYTE,
    carried_rate,
    COMMAND_LENGTH,
    content_types,
    PREFIX,
    RateCode,
    RATES,
    Register,
    Save,
    UNLOCK_KEY,
    UNLOCKED_FOR,
)
from stewart_driver.witmotion.frames import FrameType
from stewart_simulation.serial_imu.inertial import InertialState
from stewart_simulation.serial_imu.measurement import angles, frame, Imperfections, Measurement

# As captured from a WTGAHRS2; 9600 baud do not carry these nine frames at 10 Hz.
FACTORY: MappingProxyType[int, int] = MappingProxyType(
    {
        Register.CONTENT: 0x07DE,
        Register.RATE: RateCode.HZ_10,
        Register.BAUD: BaudCode.BAUD_9600,
        Register.ALGORITHM: Algorithm.NINE_AXIS,
    }
)
VALUES: MappingProxyType[int, frozenset[int]] = MappingProxyType(
    {
        Register.CONTENT: frozenset(range(0x0800)),
        Register.RATE: frozenset(RateCode),
        Register.BAUD: frozenset(BaudCode),
        Register.ALGORITHM: frozenset(Algorithm),
    }
)
HERTZ = {code: rate for rate, code in RATES.items()}
BAUD_OF: dict[int, int] = {code: baud for baud, code in BAUDS.items()}
RESTART = 0.4


@dataclass
class Sensor:
    """
    State of the sensor.

    Attributes
    ----------
    flaws : Imperfections
        Noise and bias.
    rng : numpy.random.Generator
        Source of the noise.
    registers, saved : dict of int to int
        In use, and what comes back after a loss of power.
    baud_needs_restart : bool
        Some firmware takes another speed only after saving and a restart.
    rate_cap : float
        The rate is silently lowered to this [Hz].
    silent : bool
        Nothing is sent.
    frozen : bool
        The values sent never change.
    yaw_drift : float
        Of the six-axis algorithm [rad/s].

    """

    flaws: Imperfections = field(default_factory=Imperfections)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    registers: dict[int, int] = field(default_factory=lambda: dict(FACTORY))
    saved: dict[int, int] = field(default_factory=lambda: dict(FACTORY))
    baud_needs_restart: bool = False
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
        self._line = self.registers[Register.BAUD]

    @property
    def baud(self) -> int:
        """Speed of its line."""
        return BAUD_OF[self._line]

    @baud.setter
    def baud(self, value: int) -> None:
        """Change the speed behind the host's back."""
        self.registers[Register.BAUD] = self._line = BAUDS[value]

    @property
    def byte_time(self) -> float:
        """How long a byte takes [s]."""
        return BITS_PER_BYTE / self.baud

    @property
    def content(self) -> tuple[FrameType, ...]:
        """Types of a cycle."""
        return content_types(self.registers[Register.CONTENT])

    @property
    def period(self) -> float:
        """Time between cycles as it is, not as it was asked for; inf without a stream [s]."""
        registers = self.registers
        asked, content = registers[Register.RATE], registers[Register.CONTENT]
        rate = min(_rate(asked, content, self.baud), self.rate_cap)
        return 1.0 / rate if rate > 0.0 else float('inf')

    def receive(self, data: bytes, now: float) -> bytes:
        """
        Take bytes from the host.

        Parameters
        ----------
        data : bytes
            Commands, whole or in pieces.
        now : float
            Time [s].

        Returns
        -------
        bytes
            Answers.

        """
        self._input += data
        answer = b''
        while (start := self._input.find(PREFIX)) >= 0:
            command = self._input[start : start + COMMAND_LENGTH]
            if len(command) < COMMAND_LENGTH:
                break
            self._input = self._input[start + COMMAND_LENGTH :]
            answer += self._obey(command[2], int.from_bytes(command[3:], 'little'), now)
        self._input = self._input[-COMMAND_LENGTH:]
        return b'' if self._mute(now) else answer

    def _obey(self, register: int, value: int, now: float) -> bytes:
        if register == Register.READ:
            words = [self.registers.get(value + offset, 0) for offset in range(4)]
            return frame(FrameType.REGISTER, pack('<4H', *words))
        if register == Register.KEY:
            self._unlocked_until = now + UNLOCKED_FOR if value == UNLOCK_KEY else now
        elif now < self._unlocked_until:
            if register == Register.SAVE:
                self._keep(value, now)
            elif value in VALUES.get(register, ()):
                self._write(register, value, now)
        return b''

    def _write(self, register: int, value: int, now: float) -> None:
        self.registers[register] = value
        if register == Register.BAUD and not self.baud_needs_restart:
            self._line = value
        elif register == Register.ALGORITHM:
            self._since = float('-inf')
        elif register == Register.RATE:
            self._once = value == RateCode.ONCE

    def _keep(self, value: int, now: float) -> None:
        if value == Save.KEEP:
            self.saved = dict(self.registers)
        elif value == Save.FACTORY:
            self.registers, self.saved = dict(FACTORY), dict(FACTORY)
            self._line = self.registers[Register.BAUD]
        elif value == Save.REBOOT:
            self.restart(now)

    def restart(self, now: float) -> None:
        """Lose what was not saved, and be silent for a moment."""
        self.registers = dict(self.saved)
        self._line = self.registers[Register.BAUD]
        self._unlocked_until = now
        self._silent_until = now + RESTART
        self._since = float('-inf')

    def cycle(self, state: InertialState, now: float) -> bytes:
        """
        Return the frames of one cycle.

        Parameters
        ----------
        state : InertialState
            Truth now.
        now : float
            Time [s].

        Returns
        -------
        bytes
            Back to back, in ascending order; nothing while it is silent.

        """
        if self._mute(now):
            return b''
        if self.frozen and self._last:
            return self._last
        measured = Measurement(
            state, self.flaws, self.rng, time=now, yaw_offset=self._yaw_offset(state, now)
        )
        self._last = b''.join(measured.frame(kind) for kind in self.content)
        return self._last

    def single(self) -> bool:
        """Tell, once, that a single cycle was asked for."""
        once, self._once = self._once, False
        return once

    def _mute(self, now: float) -> bool:
        return self.silent or now < self._silent_until

    def _yaw_offset(self, state: InertialState, now: float) -> float:
        """Without the magnetometer yaw begins at zero and drifts."""
        if self.registers[Register.ALGORITHM] == Algorithm.NINE_AXIS:
            return 0.0
        if self._since == float('-inf'):
            self._since, self._yaw = now, -angles(state.quaternion_xyzw)[2]
        return self._yaw + self.yaw_drift * (now - self._since)


@cache
def _rate(asked: int, content: int, baud: int) -> float:
    """Return the rate that a line carries of the one asked for; 0 without a stream [Hz]."""
    types = content_types(content)
    rate = HERTZ.get(RateCode(asked), 0.0)
    # At the lowest rates of the table any line carries everything.
    return min(rate, carried_rate(types, baud)) if types else 0.0
