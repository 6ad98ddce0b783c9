# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time the state estimation: one sample, a recording, and filterpy's filter beside it.

The recording is ten minutes of the SRS at 100 Hz, read from CSV files and from a bag.
"""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

from pathlib import Path
import sys
import tempfile
import time

from filterpy.kalman import MerweScaledSigmaPoints, UnscentedKalmanFilter
import numpy as np
from srs_simulated import simulate, SimulatedRun
from stewart_bags.writing import BagWriter
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.replay import replay
from stewart_estimation.settings import (
    Adaptation,
    DelayEstimation,
    Gate,
    Reinitialisation,
    settings_for,
)
from stewart_estimation.verbs.measurements import read_bag, read_imu, read_legs
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import matrix_from_quaternion

FILTERPY = 'predict + update, filterpy, 16 states'
PACKAGES = ('numpy', 'scipy', 'numba', 'filterpy')
MINUTES, ROUND, STEP = 10.0, 500, 0.01
START_NS = 1_700_000_000_000_000_000
IMU = 'time_s,fx_mps2,fy_mps2,fz_mps2,p_radps,q_radps,r_radps'
LEGS = 'time_s,' + ','.join(f'leg_{leg}_m' for leg in range(1, 7))


def sensor(run: SimulatedRun, row: int) -> Array:
    """Return where the IMU is at a row [m]."""
    truth = run.truth[row]
    lever = matrix_from_quaternion(truth.quaternion_xyzw) @ run.platform.imu.position
    return np.asarray(truth.position + lever)


class PaperFilter:
    """Sixteen additive states in filterpy, as the paper has them, by the midpoint rule."""

    def __init__(self, run: SimulatedRun) -> None:
        self.run = run
        joints = run.platform.geometry.platform_joints - run.platform.imu.position
        self.joints = joints @ run.platform.imu.rotation
        points = MerweScaledSigmaPoints(16, 0.1, 2.0, 0.0)
        self.filter = UnscentedKalmanFilter(16, 6, STEP, self.lengths, self.move, points)
        self.filter.x[:3] = sensor(run, 0)
        # The sensor's axes point down: half a turn about x.
        self.filter.x[6:10] = 1.0, 0.0, 0.0, 0.0
        self.filter.P = np.diag([1e-10] * 3 + [1e-2] * 3 + [1e-10] * 4 + [1.0] * 3 + [1e-2] * 3)
        self.filter.Q = np.diag([1e-13] * 3 + [5e-11] * 3 + [1e-12] * 4 + [1e-16] * 6)
        self.filter.R = np.diag(run.errors.length**2)
        self.row = 0

    def lengths(self, x: Array) -> Array:
        """Return the lengths of a state."""
        rotation = matrix_from_quaternion(x[6:10])
        legs = x[:3] + self.joints @ rotation.T - self.run.platform.geometry.base_joints
        return np.linalg.norm(legs, axis=1)

    def move(self, x: Array, dt: float, sample: Array) -> Array:
        """Move a state on."""
        p, q, r = sample[3:] - x[13:16]
        matrix = np.array([[0, r, -q, p], [-r, 0, p, q], [q, -p, 0, r], [-p, -q, -r, 0]])
        middle = x[6:10] + 0.25 * dt * matrix @ x[6:10]
        force = matrix_from_quaternion(middle) @ (sample[:3] - x[10:13])
        acceleration = force + self.run.platform.gravity
        out = x.copy()
        out[:3] += dt * x[3:6] + 0.5 * dt * dt * acceleration
        out[3:6] += dt * acceleration
        out[6:10] += 0.5 * dt * matrix @ middle
        out[6:10] /= np.linalg.norm(out[6:10])
        return out

    def step(self) -> None:
        """Predict and update once."""
        self.row += 1
        imu = self.run.imu
        sample = np.concatenate([imu.specific_forces[self.row], imu.angular_velocities[self.row]])
        self.filter.predict(sample=sample)
        self.filter.update(self.run.legs.lengths[self.row])


class Ours:
    """The live estimation, sample by sample."""

    def __init__(self, run: SimulatedRun, settings) -> None:
        self.run, self.row = run, 0
        self.filter = LiveEstimation(run.platform.geometry, settings)

    def step(self) -> None:
        """Take a sample of the legs and one of the IMU."""
        imu, legs, row = self.run.imu, self.run.legs, self.row
        self.filter.legs(legs.stamps[row], legs.lengths[row])
        self.filter.imu(imu.stamps[row], imu.specific_forces[row], imu.angular_velocities[row])
        self.row += 1


def steps(make, count: int):
    """Return a call that makes a filter and takes it over the first samples of the run."""

    def call() -> object:
        filter_ = make()
        for _ in range(count):
            filter_.step()
        return filter_.filter

    return call


def from_files(run: SimulatedRun, settings, folder: Path):
    """Return a call that reads ten minutes of CSV files and filters them."""
    imu, legs = folder / 'imu.csv', folder / 'legs.csv'
    np.savetxt(
        imu,
        np.column_stack([run.imu.stamps, run.imu.specific_forces, run.imu.angular_velocities]),
        delimiter=',', header=IMU, comments='',
    )  # fmt: skip
    np.savetxt(
        legs, np.column_stack([run.legs.stamps, run.legs.lengths]),
        delimiter=',', header=LEGS, comments='',
    )  # fmt: skip
    geometry = run.platform.geometry
    return lambda: replay(geometry, settings, read_imu(imu), read_legs(legs, geometry))


def from_bag(run: SimulatedRun, settings, folder: Path):
    """Return a call that reads ten minutes of a bag and filters them."""
    path, geometry = folder / 'bag', run.platform.geometry
    strokes = run.legs.lengths - geometry.retracted_length
    names, none, unknown = [f'leg_{leg}' for leg in range(1, 7)], np.empty(0), np.zeros(9)
    with BagWriter(path) as writer:
        types = writer.typestore.types
        time_of, header = types['builtin_interfaces/msg/Time'], types['std_msgs/msg/Header']
        vector = types['geometry_msgs/msg/Vector3']
        turn = types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
        imu, joints = types['sensor_msgs/msg/Imu'], types['sensor_msgs/msg/JointState']
        for row, seconds in enumerate(run.imu.stamps):
            stamp = START_NS + round(seconds * 1e9)
            when = time_of(*divmod(stamp, 10**9))
            force = vector(*run.imu.specific_forces[row].tolist())
            rate = vector(*run.imu.angular_velocities[row].tolist())
            said = imu(header(when, 'imu_link'), turn, unknown, rate, unknown, force, unknown)
            writer.write('/imu/data', stamp, said)
            legs = joints(header(when, 'base_link'), names, strokes[row], none, none)
            writer.write('/actuator_states', stamp, legs)

    def call() -> object:
        found = read_bag(path, geometry)
        return replay(geometry, settings, found.imu, found.legs)

    return call


def main() -> int:
    """Measure, print and write."""
    run = simulate('MP1', 1, duration=60.0 * MINUTES)
    geometry, errors = run.platform.geometry, run.errors
    settings = settings_for(
        run.platform,
        specific_force=errors.specific_force,
        angular_velocity=errors.angular_velocity,
        length=errors.length,
    )
    everything = settings_for(
        run.platform,
        specific_force=errors.specific_force,
        angular_velocity=errors.angular_velocity,
        length=errors.length,
        gate=Gate(),
        delay=DelayEstimation(),
        adaptive_legs=Adaptation(),
        adaptive_imu=Adaptation(),
        reinitialisation=Reinitialisation(),
    )
    found = replay(geometry, settings, run.imu, run.legs)
    ours = steps(lambda: Ours(run, settings), ROUND)
    theirs = steps(lambda: PaperFilter(run), ROUND // 10)
    paper = theirs()
    difference = float(np.abs(paper.x[:3] - sensor(run, ROUND // 10)).max())
    if not difference < 1e-3:
        raise RuntimeError(f'the filter in filterpy does something else: {difference:.2e} m')
    count = len(run.legs)
    tasks = [
        harness.Task('live, sample by sample, from Python', ours, ROUND, FILTERPY, 0.15),
        harness.Task(FILTERPY, theirs, ROUND // 10),
        harness.Task(
            'replay',
            lambda: replay(geometry, settings, run.imu, run.legs),
            count,
            FILTERPY,
            0.02,
        ),
        harness.Task(
            'replay, steps kept for the smoother',
            lambda: replay(geometry, settings, run.imu, run.legs, keep=True),
            count,
        ),
        harness.Task(
            'replay, delay, gate, adaptation, restarts',
            lambda: replay(geometry, everything, run.imu, run.legs),
            count,
        ),
    ]
    with tempfile.TemporaryDirectory() as name:
        seconds = {}
        for kind, make in (('CSV files', from_files), ('bag', from_bag)):
            read = make(run, settings, Path(name))
            began = time.perf_counter()
            rows = len(read())
            seconds[kind] = time.perf_counter() - began
            task = f'replay of a recording, {kind}, with reading'
            tasks.append(harness.Task(task, read, rows, FILTERPY, 0.05))
        about = harness.machine(PACKAGES)
        timings = harness.measure(tasks)
    ratio = timings[1].median_us / timings[2].median_us
    taken = ', '.join(f'{kind} {value:.2f} s' for kind, value in seconds.items())
    print(f'{rows} samples read and filtered: {taken}; filterpy takes {ratio:.0f} times')
    status = harness.report(
        'estimation', timings, about, sample='sample', seconds=seconds, ratio_filterpy=ratio,
        rms_position_m=float(np.sqrt(np.nanmean((found.position - run.truth.position) ** 2))),
    )  # fmt: skip
    return status


if __name__ == '__main__':
    sys.exit(main())
