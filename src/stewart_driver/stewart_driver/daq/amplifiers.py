# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six amplifiers on the outputs of a card: strokes and rates in, volts out.

Both kinds have the methods `follow`, `safe` and `reset`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stewart_driver.daq.calibration import Calibration
from stewart_driver.daq.card import CodeRange
from stewart_driver.daq.options import DaqOptions
from stewart_driver.daq.sensors import Scan
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array, END_MARGIN, LEGS
from stewart_driver.path.motion import LegMotion


class PositionLoop:
    r"""Six proportional-integral loops with the target's rate fed forward.

    .. math:: u = \operatorname{clip}(\dot q_t + K (q_t - q) + K / T \int (q_t - q)\,dt)

    The integral is what an amplifier's own offset needs. It rests while the rate is at its limit
    and the error would push it further (anti-windup by conditional integration).

    Args:
        gain: Rate per distance from the target [1/s].
        integral_time: Time in which the integral grows by what the gain gives [s].
        rate_limit: Largest rate that is asked for [m/s].
    """

    def __init__(self, gain: float, integral_time: float, rate_limit: float) -> None:
        self._gain, self._growth, self._limit = gain, gain / integral_time, rate_limit
        self.reset()

    def reset(self) -> None:
        """Forget the integral."""
        self._integral: Array = np.zeros(LEGS)

    def rates(
        self,
        targets: Array,
        target_rates: Array,
        measured: Array,
        trusted: NDArray[np.bool_],
        elapsed: float,
    ) -> Array:
        """Return the rates (6,) that the amplifiers shall have until the next call [m/s].

        Args:
            targets, target_rates (6,): Where the legs shall be [m], [m/s].
            trusted (6,): Legs whose sensor is valid; the others coast on the target's rate.
        """
        limit = self._limit
        errors = np.where(trusted, targets - measured, 0.0)
        # What a false reading has wound up would go on pushing.
        self._integral = np.where(trusted, self._integral, 0.0)
        asked = target_rates + self._gain * errors + self._integral
        rates: Array = np.minimum(np.maximum(asked, -limit), limit)
        further = (asked != rates) & (np.sign(errors) == np.sign(asked))
        growth = self._growth * errors * elapsed
        self._integral = np.where(further, self._integral, self._integral + growth)
        return rates


class PositionAmplifiers:
    """Amplifiers that go to the stroke that their voltage means.

    Safe is the voltage of the present stroke: hold.
    """

    def __init__(self, calibration: Calibration, options: DaqOptions, outputs: CodeRange) -> None:
        self._calibration = calibration
        self._lower, self._upper = options.stroke_lower, options.stroke_upper
        self._lead = options.lead
        self._held = np.zeros(LEGS)
        for name, stroke in (('stroke_lower', self._lower), ('stroke_upper', self._upper)):
            _require(outputs, calibration, name, stroke, 'm')

    def follow(self, targets: LegMotion, _: Scan, __: NDArray[np.bool_]) -> Array:
        """Return the volts (6,) of the targets; measured strokes play no part."""
        strokes = targets.strokes
        # Only the lead is kept from going beyond an end.
        lower, upper = np.minimum(strokes, self._lower), np.maximum(strokes, self._upper)
        ahead = np.minimum(np.maximum(strokes + self._lead * targets.rates, lower), upper)
        # A leg that is held outside is not thrown back to its end, and goes no farther.
        lower = np.minimum(self._held, self._lower - END_MARGIN)
        upper = np.maximum(self._held, self._upper + END_MARGIN)
        return self.safe(np.minimum(np.maximum(ahead, lower), upper))

    def safe(self, strokes: Array) -> Array:
        """Return the volts (6,) that hold these strokes, wherever they are."""
        self._held = strokes
        return self._calibration.volts(strokes)

    def reset(self) -> None:
        """Do nothing: the amplifiers close the loop."""


class VelocityAmplifiers:
    """Amplifiers that move at the rate that their voltage means; the position loop is closed here.

    Safe is the calibrated zero: at 0 V the offset of an amplifier runs on, for ever.
    """

    def __init__(self, calibration: Calibration, options: DaqOptions, outputs: CodeRange) -> None:
        self._calibration = calibration
        limit = options.reserve * options.rate
        for rate in (limit, -limit):
            _require(outputs, calibration, 'rate', rate, 'm/s')
        self._loop = PositionLoop(options.position_gain, options.integral_time, limit)

    def follow(self, targets: LegMotion, scan: Scan, trusted: NDArray[np.bool_]) -> Array:
        """Return the volts (6,) of the rates that the position loop asks for."""
        rates = self._loop.rates(
            targets.strokes, targets.rates, scan.strokes, trusted, scan.elapsed
        )
        return self._calibration.volts(rates)

    def safe(self, strokes: Array) -> Array:
        """Return the volts (6,) of rate zero, wherever the legs stand."""
        return self._calibration.volts(np.zeros_like(strokes))

    def reset(self) -> None:
        """Forget the integral."""
        self._loop.reset()


def _require(
    outputs: CodeRange, calibration: Calibration, key: str, value: float, unit: str
) -> None:
    """Refuse a stroke or a rate that not every output can ask for."""
    volts = calibration.volts(np.full(LEGS, value))
    outside = np.flatnonzero((volts < outputs.lower) | (volts > outputs.upper))
    if len(outside):
        leg = int(outside[0])
        raise ConfigurationError(
            key,
            value,
            f'a value that leg {leg + 1} reaches within {outputs}; {value:g} {unit} would take '
            f'{volts[leg]:.3f} V',
        )
