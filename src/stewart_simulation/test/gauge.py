# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Somebody with a gauge and a voltmeter: points for a calibration, with errors of reading."""

from __future__ import annotations

import numpy as np
from stewart_driver.daq.calibration import CalibrationTable
from stewart_driver.legs import Array, LEGS
from stewart_simulation.daq_card.analog_rig import AnalogSettings, Mode, SWING


def measure_points(
    settings: AnalogSettings,
    rng: np.random.Generator,
    *,
    count: int = 9,
    gauge_error: float = 1e-5,
    rate_error: float = 1e-4,
) -> CalibrationTable:
    """Return what somebody would write down who calibrates these sensors and amplifiers.

    Args:
        settings: What is calibrated.
        rng: Source of the errors.
        count: Points, spread over ±8 V.
        gauge_error, rate_error: Standard deviation of a measured stroke [m], and of a measured
            rate [m/s].

    Returns:
        Strokes with the volts of sensors and, in position mode, amplifiers; in velocity mode the
        outputs with rates.
    """
    shape = (count, LEGS)
    outputs = np.repeat(np.linspace(-SWING, SWING, count)[:, None], LEGS, axis=1)
    meant = settings.command_gains * outputs + settings.command_offsets
    if settings.mode is Mode.POSITION:
        strokes, rates = meant, None
    else:
        middle, half = settings.sensor_offsets, SWING * settings.sensor_gains
        strokes = middle + half * outputs / SWING
        rates = meant + rng.normal(0.0, rate_error, shape)
    inputs: Array = (strokes - settings.sensor_offsets) / settings.sensor_gains
    return CalibrationTable(
        inputs=inputs + rng.normal(0.0, settings.sensor_noise, shape),
        outputs=outputs,
        strokes=strokes + rng.normal(0.0, gauge_error, shape),
        rates=rates,
    )
