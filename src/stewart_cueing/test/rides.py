# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""For tests: rides that nobody recorded."""

from __future__ import annotations

import numpy as np
from stewart_cueing.vehicle.inputs import VehicleRide
from stewart_cueing.vehicle.washout import LEVEL


def drive(seconds: float, interval: float) -> VehicleRide:
    """Return acceleration, bends and a hard stop over a rough road, from a rest to a rest."""
    time = np.arange(0.0, seconds, interval)
    rng = np.random.default_rng(7)
    samples = np.tile(LEVEL, (time.size, 1))
    soft = np.minimum(1.0, np.minimum(time, seconds - time).clip(0.0))
    samples[:, 0] += 1.5 * np.sin(0.7 * time) * soft - 3.0 * np.exp(-((time - 0.7 * seconds) ** 2))
    samples[:, 1] += 1.2 * np.sin(0.45 * time) * soft
    samples[:, 5] += 0.15 * np.sin(0.45 * time) * soft
    for frequency in rng.uniform(1.0, 4.0, 6):
        samples[:, 2] += 0.25 * np.sin(2.0 * np.pi * frequency * time) * soft
        samples[:, 4] += 0.01 * np.sin(2.0 * np.pi * frequency * time + 1.0) * soft
    return VehicleRide(time, samples)
