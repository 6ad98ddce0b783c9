# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of a ship's roll, pitch and heave on a platform that keeps level, by sea state.

A vigo on a 1:10 model of a boat of 25 m, SIMULATED; the drives are taken for a pure delay. Seas
have a peak period of 3.5 s and 2.9 s √(Hs/m) more. Beside it stands what the predictor itself is
wrong by, over the delay and with the noise of its IMU: what would be left if legs had no limits;
and the bound by delay and IMU noise alone: the deviation of a Kalman filter in its steady state
that knows the filter's spectrum with the size of this sea, its biases and the mean tilt.
"""

from __future__ import annotations

import argparse
from collections import deque
import time

# The harness comes first: it holds the libraries to one thread.
from harness import machine, OUTPUT, save  # isort: skip

import numpy as np
from scipy.linalg import solve_discrete_are
from scipy.spatial.transform import Rotation
from stewart_cueing.ship import wave_observer
from stewart_cueing.ship.stabilisation import BaseStabiliser
from stewart_cueing.ship.wave_observer import WaveObserver
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_simulation.ship import at_scale, Ship

PERIOD, SCALE, NOISES = 0.005, 10.0, (0.02, 1e-3)
# Playout, drives and IMU [s].
DELAYS = 0.05, 0.02, 0.01
BEGIN, GRAVITY = 40.0, np.array([0.0, 0.0, -9.80665])


def study(height: float, seeds: list[int], duration: float) -> dict[str, object]:
    """Return the residuals of one sea, RMS over all seeds with constant offsets."""
    parts = [play(height, seed, duration) for seed in seeds]
    squares = np.mean([np.square(part[0]) for part in parts], axis=0)
    residual, whole, wrong = np.sqrt(squares)
    angles, heave, limited = np.mean([part[1] for part in parts], axis=0)
    return {
        'significant_height_m': height,
        'peak_period_s': round(peak_period_of(height), 2),
        'seeds': seeds,
        'ship_rms': named(whole),
        'residual_rms': named(residual),
        'predictor_rms': named(wrong),
        'bound_rms': named(bound(peak_period_of(height) / np.sqrt(SCALE), whole)),
        'mean_angle_share': float(angles),
        'mean_heave_share': float(heave),
        'limited': float(limited),
    }


def peak_period_of(height: float) -> float:
    """Return the peak period of a sea [s]."""
    return float(3.5 + 2.9 * np.sqrt(height))


def play(height: float, seed: int, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Play one sea.

    Returns:
        RMS (3, 3) of roll, pitch [rad], heave [m]: left, of the ship, of the predictor's error.
        Means of the shares of angles and heave and of what is limited (3,) [-].
    """
    peak_period = peak_period_of(height)
    ship = Ship(Jonswap(height, peak_period), seed, np.radians(150.0), at_scale(SCALE))
    platform, rng = load_platform('vigo'), np.random.default_rng(seed)
    level, calm = platform.geometry.neutral_pose.position[2], at_scale(SCALE).arm[2] / SCALE
    model_period = peak_period / np.sqrt(SCALE)
    observer = WaveObserver(model_period, PERIOD)
    control = BaseStabiliser(MotionGuard(platform), PERIOD, model_period)
    judge = MotionGuard(platform)
    playout, drive, imu = (round(delay / PERIOD) for delay in DELAYS)
    # A setpoint is for the instant of the call, what it follows for a period later.
    late, pending = playout + drive, deque()
    guesses = deque([np.zeros(3)])
    bias = rng.normal(0.0, [0.03] * 3 + [2e-3] * 3)
    rows, shares, limited = [], [], 0
    for n in range(round((BEGIN + duration) / PERIOD)):
        now = n * PERIOD
        felt = ship.at(now - imu * PERIOD)
        sample = np.concatenate([-felt.field(GRAVITY)[:3], felt.turn]) + bias
        sample += rng.normal(size=6) * np.repeat(NOISES, 3)
        observer.update(sample[:3], sample[3:])
        predicted = observer.predict((late + imu + 1) * PERIOD)
        # It begins when the observer has settled, and softly.
        motion = control.advance(now, min(max((now - 20.0) / 10.0, 0.0), 1.0) * predicted)
        judge.admit(motion, now)
        pending.append(motion)
        guesses.append(predicted[0])
        if len(pending) <= late:
            continue
        there, guess = pending.popleft(), guesses.popleft()
        if now < BEGIN:
            continue
        shares.append(control.shares[0])
        limited += bool(control.governor.limited_by)
        base = ship.at(now)
        attitude = base.rotation @ Rotation.from_quat(there.quaternion_xyzw).as_matrix()
        place = (base.position + base.rotation @ there.position)[2] - level - calm
        own = np.array([*tilt(base.rotation), base.position[2] - calm])
        rows.append(np.array([[*tilt(attitude), place], own, own - guess]))
    found = np.sqrt(np.mean(np.square(rows), axis=0))
    return found, np.append(np.mean(shares, axis=0), limited / len(rows))


def bound(model_period: float, sizes: np.ndarray) -> np.ndarray:
    """Return what delay and IMU noise leave of motions of these RMS (3,) [rad], [m]."""
    observer = WaveObserver(model_period, PERIOD, spreads=tuple(sizes.tolist()))
    ahead = sum(round(delay / PERIOD) for delay in DELAYS) * PERIOD + PERIOD
    deviations = []
    for channel in observer.channels:
        wave = slice(0, wave_observer.SIZE)
        step, rows = channel._step[wave, wave], channel._rows[:, wave]
        before = solve_discrete_are(step.T, rows.T, channel._driven[wave, wave], channel._noises)
        gain = np.linalg.solve(rows @ before @ rows.T + channel._noises, rows @ before).T
        channel._covariance[wave, wave] = before - gain @ rows @ before
        deviations.append(channel.deviation(ahead))
    return np.array(deviations)


def tilt(rotation: np.ndarray) -> np.ndarray:
    """Return roll and pitch [rad]."""
    return Rotation.from_matrix(rotation).as_euler('ZYX')[:0:-1]


def named(values: np.ndarray) -> dict[str, float]:
    """Return three numbers by name."""
    return dict(zip(('roll', 'pitch', 'heave'), values.tolist(), strict=True))


def plot(seas: list[dict[str, object]]) -> None:
    """Draw what is left over the height of the sea, with the predictor's part and the bound."""
    import matplotlib as mpl

    mpl.use('Agg')
    from matplotlib import pyplot as plt

    heights = [sea['significant_height_m'] for sea in seas]
    figure, axes = plt.subplots(1, 3, sharex=True, figsize=(8, 3.3), layout='constrained')
    for axis, name in zip(axes, ('roll', 'pitch', 'heave'), strict=True):
        for key, label, style in (
            ('residual_rms', 'left on the platform', 'o-'),
            ('predictor_rms', "predictor's error", 's--'),
            ('bound_rms', 'bound by delay and noise', 'k:'),
        ):
            parts = [100.0 * sea[key][name] / sea['ship_rms'][name] for sea in seas]
            axis.plot(heights, parts, style, markersize=4, label=label)
        axis.set(title=name, xlabel='Hs [m]', ylim=(0.0, None))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("of the ship's, RMS [%]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc='outside lower center', ncols=3)
    figure.savefig(OUTPUT / 'stabilisation.png', dpi=120)


def main() -> None:
    """Run all seas."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--heights', type=float, nargs='+', default=[0.5, 1.0, 2.0, 3.0, 4.0])
    parser.add_argument('--duration', type=float, default=40.0, help='of each sea [s]')
    parser.add_argument('--seeds', type=int, nargs='+', default=[1, 2])
    text = 'prior deviation of a mean tilt [rad] (default: %(default)s)'
    parser.add_argument('--mean', type=float, default=wave_observer.MEAN, help=text)
    asked = parser.parse_args()
    wave_observer.MEAN = asked.mean
    about = machine(['numpy', 'scipy'])
    begin = time.process_time()
    seas = []
    for height in asked.heights:
        seas.append(study(height, asked.seeds, asked.duration))
        print(seas[-1], flush=True)
    content = {
        'machine': about,
        'seas': seas,
        'seconds': asked.duration,
        'seeds': asked.seeds,
        'mean_tilt_prior_rad': asked.mean,
        'model_scale': SCALE,
        'delays_s': DELAYS,
        'processor_s': time.process_time() - begin,
    }
    save('stabilisation', content)
    plot(seas)


if __name__ == '__main__':
    main()
