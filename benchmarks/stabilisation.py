# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of a ship's roll, pitch and heave on a platform that keeps level, by sea state.

``python benchmarks/stabilisation.py -o build/stabilisation.json`` A vigo on a 1:10 model of a boat
of 25 m, SIMULATED; the drives are taken for a pure delay. Seas have a peak period of 3.5 s and
2.9 s √(Hs/m) more. Beside it stands what the predictor itself is wrong by, over the delay and with
the noise of its IMU, which is what would be left if legs had no limits.
"""

from __future__ import annotations

import argparse
from collections import deque
import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.control.stabilisation import Stabilisation
from stewart_kinematics.control.wave_observer import WaveObserver
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_simulation.ship import at_scale, Ship

PERIOD, SCALE, NOISES = 0.005, 10.0, (0.02, 1e-3)
# Playout, drives and IMU [s].
DELAYS = 0.05, 0.02, 0.01
BEGIN, GRAVITY = 40.0, np.array([0.0, 0.0, -9.80665])


def study(height: float, seed: int, duration: float = 120.0) -> dict[str, object]:
    """Return the residuals of one sea."""
    peak_period = 3.5 + 2.9 * np.sqrt(height)
    ship = Ship(Jonswap(height, peak_period), seed, np.radians(150.0), at_scale(SCALE))
    guard, rng = MotionGuard(load_platform('vigo')), np.random.default_rng(seed)
    observer = WaveObserver(peak_period / np.sqrt(SCALE), PERIOD)
    control, judge = Stabilisation(guard, PERIOD), MotionGuard(load_platform('vigo'))
    playout, drive, imu = (round(delay / PERIOD) for delay in DELAYS)
    late, pending, predictions = playout + drive, deque(), deque()
    bias = rng.normal(0.0, [0.03] * 3 + [2e-3] * 3)
    rows, bounds = [], []
    for n in range(round((BEGIN + duration) / PERIOD)):
        time = n * PERIOD
        felt = ship.at(time - imu * PERIOD)
        force = -felt.field(GRAVITY)[:3]
        sample = np.concatenate([force, felt.turn]) + bias
        sample += rng.normal(size=6) * np.repeat(NOISES, 3)
        observer.update(sample[:3], sample[3:])
        predicted = observer.predict((late + imu) * PERIOD)
        # It begins when the observer has settled, and softly.
        soft = min(max((time - 20.0) / 10.0, 0.0), 1.0)
        motion = control.advance(soft * predicted)
        judge.admit(motion, time)
        pending.append(motion)
        predictions.append(predicted[0])
        if len(pending) <= late:
            continue
        there, guess = pending.popleft(), predictions.popleft()
        if time < BEGIN:
            continue
        base = ship.at(time)
        attitude = base.rotation @ Rotation.from_quat(there.quaternion_xyzw).as_matrix()
        tilt = Rotation.from_matrix(attitude).as_euler('ZYX')[:0:-1]
        place = (base.position + base.rotation @ there.position)[2]
        own = Rotation.from_matrix(base.rotation).as_euler('ZYX')[:0:-1]
        rows.append([*tilt, place, *own, base.position[2]])
        bounds.append(np.array([*own, base.position[2]]) - guess)
    spread, wrong = np.std(rows, axis=0), np.std(bounds, axis=0)
    return {
        'significant_height_m': height,
        'peak_period_s': round(peak_period, 2),
        'seed': seed,
        'ship_rms': named(spread[3:]),
        'residual_percent': named(100.0 * spread[:3] / spread[3:]),
        'predictor_percent': named(100.0 * wrong / spread[3:]),
        'steps_on_a_stop_percent': 100 * control.limited,
    }


def named(values: np.ndarray) -> dict[str, float]:
    """Return three numbers by name."""
    return dict(zip(('roll', 'pitch', 'heave'), values.tolist(), strict=True))


def main() -> None:
    """Run all seas."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('-o', '--output', type=Path)
    parser.add_argument('--heights', type=float, nargs='+', default=[0.5, 1.0, 2.0, 3.0, 4.0])
    parser.add_argument('--duration', type=float, default=120.0, help='of each sea [s]')
    asked = parser.parse_args()
    results = [study(height, 1, asked.duration) for height in asked.heights]
    text = json.dumps({'scale': SCALE, 'delays_s': DELAYS, 'seas': results}, indent=2)
    if asked.output:
        asked.output.write_text(text + '\n')
    print(text)


if __name__ == '__main__':
    main()
