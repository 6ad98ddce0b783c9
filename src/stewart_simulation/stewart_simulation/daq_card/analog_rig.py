# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the volts of a card mean: six position sensors and six amplifiers on a plant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import ceil
from typing import Protocol

import numpy as np
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array, LegLimits, LEGS, read_only
from stewart_simulation.daq_card.card import Card

# A velocity amplifier follows its command for ever, so it is told anew this often [s].
SLICE = 1e-3
# What is used of ±10 V over the full stroke, or up to the full rate.
SWING = 8.0
TOLERANCE = 0.01
ZERO = read_only(np.zeros(LEGS))


class Mode(Enum):
    """What an amplifier takes its voltage for."""

    POSITION = 'position'
    VELOCITY = 'velocity'


class Drives(Protocol):
    """What the amplifiers act on: `RigidDrives` or `LaggingDrives`."""

    strokes: Array
    on: bool

    def command(self, strokes: Array, rates: Array, forces: Array) -> None:
        """Take new targets [m], [m/s], [N]."""

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""


@dataclass(frozen=True, eq=False)
class AnalogSettings:
    """Sensors and amplifiers of six legs; what they tell is gain times volts plus offset.

    Attributes:
        sensor_gains, sensor_offsets (6,): Of the position sensors [m/V], [m].
        command_gains, command_offsets (6,): Of the amplifiers: [m/V], [m] in position mode, [m/(s
            V)], [m/s] in velocity mode.
        mode: What the amplifiers take.
        sensor_noise: Standard deviation of what a sensor gives [V].
        enable_channel: Digital output that switches the amplifiers on; -1: they are always on.
    """

    sensor_gains: Array
    sensor_offsets: Array
    command_gains: Array
    command_offsets: Array
    mode: Mode = Mode.POSITION
    sensor_noise: float = 2e-4
    enable_channel: int = 0

    def __post_init__(self) -> None:
        if not -1 <= self.enable_channel <= 3:
            raise ConfigurationError('enable_channel', self.enable_channel, '-1 to 3')

    @classmethod
    def for_legs(cls, limits: LegLimits, mode: Mode, *, seed: int) -> AnalogSettings:
        """Return sensors and amplifiers that fit some legs, each a little different.

        Args:
            limits: The stroke, or the rate, is spread over ±8 V.
            seed: Of the differences: gains scatter by 1 %, offsets by 1 % of what 8 V mean.
        """
        rng = np.random.default_rng(seed)
        lower, upper = limits.stroke_lower, limits.stroke_upper
        stroke_gain, middle = (upper - lower) / (2.0 * SWING), 0.5 * (lower + upper)
        position = mode is Mode.POSITION
        command_gain = stroke_gain if position else np.full(LEGS, limits.rate / SWING)

        def scatter() -> Array:
            return np.asarray(rng.normal(0.0, TOLERANCE, LEGS))

        return cls(
            sensor_gains=stroke_gain * (1.0 + scatter()),
            sensor_offsets=middle + SWING * stroke_gain * scatter(),
            command_gains=command_gain * (1.0 + scatter()),
            command_offsets=(middle if position else 0.0) + SWING * command_gain * scatter(),
            mode=mode,
        )


class AnalogRig:
    """A plant that is driven and measured through a card."""

    def __init__(
        self, card: Card, drives: Drives, settings: AnalogSettings, rng: np.random.Generator
    ) -> None:
        self._card, self._drives, self._settings, self._rng = card, drives, settings, rng
        self._sense()

    def advance(self, duration: float) -> None:
        """Let amplifiers and plant act for some time [s], then let the sensors look."""
        drives = self._drives
        drives.on = self._amplifiers_on()
        count = max(ceil(duration / SLICE), 1)
        for _ in range(count):
            self._command()
            drives.advance(duration / count)
        self._sense()

    def sensor_volts(self, strokes: Array) -> Array:
        """Return what ideal sensors give at some strokes, shape (6,) [V]."""
        settings = self._settings
        return np.asarray((strokes - settings.sensor_offsets) / settings.sensor_gains)

    def _amplifiers_on(self) -> bool:
        channel = self._settings.enable_channel
        return channel < 0 or self._card.digital_outputs[channel]

    def _command(self) -> None:
        settings, drives = self._settings, self._drives
        asked = settings.command_gains * self._card.outputs + settings.command_offsets
        if settings.mode is Mode.POSITION:
            drives.command(asked, ZERO, ZERO)
        else:
            # From where the legs are: a velocity amplifier corrects no position.
            drives.command(drives.strokes.copy(), asked, ZERO)

    def _sense(self) -> None:
        noise = self._rng.normal(0.0, self._settings.sensor_noise, LEGS)
        self._card.inputs(self.sensor_volts(self._drives.strokes) + noise)
