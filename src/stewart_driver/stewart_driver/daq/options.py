# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the analogue card: plain values with a meaning, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LegLimits, LEGS
from stewart_driver.rig_file import DaqCalibration, load_rig, MODES
from stewart_tables.settings import param, positive, require

REFERENCES = ('ground', 'common', 'diff')
FIRST_SIX = (0, 1, 2, 3, 4, 5)
# Fewer cycles missed in a row are common without real-time priority.
FEWEST_CYCLES = 5
CALLS = 3


@dataclass(frozen=True)
class SensorOptions:
    """Which card, and what its inputs mean."""

    card: str = param('comedi', 'how the card is reached: comedi, or an installed card type')
    device: str = param('/dev/comedi0', 'file name of the card, or socket of a simulated one')
    driver: str = param('addi_apci_3120', 'kernel driver that is expected; empty: any')
    rig_file: str = param('', 'calibration file of this machine, with its card')
    input_channels: tuple[int, ...] = param(FIRST_SIX, 'analogue inputs of legs 1 to 6')
    input_range: tuple[float, float] = param((-10.0, 10.0), 'range of the inputs [V]')
    reference: str = param(
        'ground', 'what inputs are measured against: ground, common, diff', choices=REFERENCES
    )
    saturation_margin: float = param(
        0.005, 'an input this close to an end of its range is saturated [V]', min=0.0
    )
    rate_bandwidth: float = positive(30.0, 'corner frequency of the measured rate [Hz]')
    longest_call: float = positive(0.02, 'a call of the card that takes longer has failed [s]')

    def __post_init__(self) -> None:
        require(self)
        _require_channels('input_channels', self.input_channels)

    def calibration(self) -> DaqCalibration:
        """Return what the volts mean on this machine; raises `ConfigurationError`."""
        wanted = 'a calibration file with a calibration of the card (stewart calibrate-daq)'
        found = load_rig(self.rig_file).daq if self.rig_file else None
        if found is None:
            raise ConfigurationError('rig_file', self.rig_file, wanted)
        return found


@dataclass(frozen=True)
class DaqOptions(SensorOptions):
    """How the card drives the legs; every field is a parameter ``daq.<field>``."""

    mode: str = param('position', 'what the amplifiers take: position or velocity', choices=MODES)
    cycle_time: float = positive(0.004, 'time from one exchange to the next [s]')
    output_channels: tuple[int, ...] = param(FIRST_SIX, 'analogue outputs of legs 1 to 6')
    enable_channel: int = param(
        -1, 'digital output that switches the amplifiers on; -1: they are always on', min=-1
    )
    enable_delay: float = param(0.1, 'from switching the amplifiers on to operation [s]', min=0.0)
    stroke_lower: float = param(0.0, 'lower end of the stroke of every leg [m]', min=0.0)
    stroke_upper: float = positive(0.16, 'upper end of the stroke of every leg [m]')
    rate: float = positive(0.5, 'largest rate of a leg [m/s]')
    acceleration: float = positive(5.0, 'largest acceleration of a leg [m/s2]')
    lead: float = param(
        0.0,
        'position mode: the command is this far ahead on its tangent, to undo a lag [s]',
        min=0.0,
    )
    position_gain: float = positive(12.0, 'velocity mode: gain of the position loop [1/s]')
    integral_time: float = positive(0.5, 'velocity mode: integral time of the position loop [s]')
    reserve: float = positive(
        1.2, 'velocity mode: largest rate asked of an amplifier / largest rate of a leg'
    )
    largest_runaway: float = positive(
        0.05, 'velocity mode: a leg may run on by so much while loop or card hang [m]'
    )
    stuck_band: float = positive(
        2e-4, 'a reading that stays this close counts as constant: more than its noise [m]'
    )
    stuck_travel: float = positive(
        5e-3, 'a sensor is stuck if the command went this far meanwhile: more than a lag [m]'
    )
    stuck_cycles: int = param(25, 'and if that took so many cycles at least', min=1)
    worst_residual: float = positive(1e-3, 'a calibration with a larger residual is refused [m]')

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_channels('output_channels', self.output_channels)
        least = FEWEST_CYCLES * self.cycle_time
        if self.stall_limit < least:
            fastest = self.largest_runaway / (least + CALLS * self.longest_call) / self.reserve
            raise ConfigurationError(
                'rate',
                self.rate,
                f'at most {fastest:.3g} m/s: a leg may run on by largest_runaway = '
                f'{1e3 * self.largest_runaway:g} mm for {FEWEST_CYCLES} cycles and {CALLS} calls '
                f'of {1e3 * self.longest_call:g} ms (longest_call)',
            )

    @property
    def stall_limit(self) -> float:
        """Time without a cycle after which another process has to set the outputs [s].

        A velocity amplifier keeps its last rate meanwhile, and for the call that hangs, one that
        reads and one that sets the zero. A position amplifier rests where its last voltage says.
        """
        if self.mode == 'position':
            return inf
        return self.largest_runaway / (self.reserve * self.rate) - CALLS * self.longest_call

    def limits(self) -> LegLimits:
        """Return what the legs may do."""
        return LegLimits.alike(self.stroke_lower, self.stroke_upper, self.rate, self.acceleration)


def _require_channels(name: str, channels: Sequence[int]) -> None:
    if len(set(channels)) != LEGS or len(channels) != LEGS or min(channels) < 0:
        raise ConfigurationError(name, tuple(channels), 'six different channels, from 0')
