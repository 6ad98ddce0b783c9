# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a simulated rig, made without ROS: plant, drives, encoders, IMU and bag."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
import struct
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_bags.series import JointSeries
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_driver.path.motion import NO_MOTION
from stewart_identification.recording.recordings import Recording
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories import MultiSine
from stewart_simulation.differences import build_plant
from stewart_simulation.encoders import Encoders
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.start import leg_limits

START_NS = 1_700_000_000_000_000_000
EXCHANGES = 4000.0
LEGS = [f'leg_{number}' for number in range(1, 7)]
PAYLOAD = PlantOptions(
    payload_mass=2.0,
    payload_position=(0.05, -0.03, 0.08),
    viscous_friction=20.0,
    coulomb_friction=2.0,
    position_gain=20.0,
    rate_loop_bandwidth=15.0,
    integral_time=0.1,
    force_limit=500.0,
    rated_force=100.0,
)
"""What the rig carries and rubs, and what no description says; its loops are soft."""


@dataclass(frozen=True, eq=False)
class Run:
    """What the rig knows of a run, n samples."""

    time: Array
    strokes: Array
    forces: Array
    commands: Array
    state: Array
    acceleration: Array

    def part(self, rows: slice) -> Run:
        """Return some samples of it."""
        return Run(*(getattr(self, item.name)[rows] for item in fields(self)))


def harmonics(
    centre: Pose,
    sequence: str,
    base_frequency: float,
    sine: Array,
    cosine: Array,
    duration: float = np.inf,
) -> MultiSine:
    """Return the Fourier series of coefficients (6, n) [m, rad] over a frequency [rad/s]."""
    frequency = base_frequency * np.arange(1, sine.shape[1] + 1)
    size, phase = np.hypot(sine, cosine), np.arctan2(cosine, sine)
    return MultiSine(centre, sequence, size, frequency, phase, duration=duration)


def excitation(platform: Platform, seed: int = 3, duration: float = 10.0) -> MultiSine:
    """Return five harmonics in six axes that stay inside the EX800's strokes."""
    rng = np.random.default_rng(seed)
    scale = np.array([14e-3, 14e-3, 12e-3, 0.10, 0.10, 0.16])[:, None] / np.sqrt(5)
    sine, cosine = (scale * rng.normal(0.0, 1.0, (6, 5)) for _ in range(2))
    return harmonics(
        platform.geometry.neutral_pose, 'ZYX', 2.0 * np.pi / 5.0, sine, cosine, duration=duration
    )


def wave(platform: Platform, duration: float = 10.0) -> MultiSine:
    """Return Eq. 18 of the EX800 paper, with 0.029 rad."""
    zero = np.zeros((6, 1))
    sine, cosine = zero.copy(), zero.copy()
    sine[[0, 1], 0], cosine[2, 0], sine[[3, 5], 0] = 0.029, 0.037, 0.029
    return harmonics(platform.geometry.neutral_pose, 'ZXY', 3.75, sine, cosine, duration=duration)


def run_rig(
    platform: Platform,
    trajectory: Any,
    options: PlantOptions,
    *,
    rate: float = 200.0,
    seed: int = 0,
    encoder_noise: float = 1e-6,
    force_noise: float = 0.0,
) -> Run:
    """Let the drives follow a trajectory, after a quarter of a second at its first pose.

    Targets come every 0.25 ms to soft loops: with slower ones or stiffer ones the force has a
    ripple in step with the samples, in proportion to the acceleration, which no identification
    can tell from an inertia.
    """
    period = 1.0 / EXCHANGES
    moments = np.arange(0.0, trajectory.duration, period)
    every = round(EXCHANGES / rate)
    motion = trajectory.sample(moments)
    legs = inverse(platform.geometry, motion)
    start = Pose(motion.position[0], motion.quaternion_xyzw[0])
    plant = build_plant(platform, start, options)
    drives = RigidDrives(plant, options, leg_limits(platform), hold_after=2.0 * period)
    # A generator each: encoders draw their noise for many readings at once.
    of_encoders, rng = np.random.default_rng(seed).spawn(2)
    encoders = Encoders(0.01 / 2**23, encoder_noise, 100.0, of_encoders)
    drives.on = True
    for _ in range(1000):
        drives.command(legs.stroke[0], np.zeros(6), np.zeros(6))
        drives.advance(period)
    strokes, forces, states = [], [], []
    for row in range(len(moments)):
        if row % every == 0:
            strokes.append(encoders.read(drives.strokes, period)[0])
            forces.append(drives.read_forces(NO_MOTION) + rng.normal(0.0, force_noise, 6))
            states.append(drives.state.copy())
        drives.command(legs.stroke[row], legs.rate[row], np.zeros(6))
        drives.advance(period)
    state = np.array(states)
    change = np.gradient(state[:, 7:], every * period, axis=0)
    commands = legs.stroke[::every]
    return Run(moments[::every], np.array(strokes), np.array(forces), commands, state, change)


def noisy(run: Run, force_noise: float) -> Run:
    """Return a run with noise on its forces [N]."""
    noise = np.random.default_rng(1).normal(0.0, force_noise, run.forces.shape)
    return replace(run, forces=run.forces + noise)


class Scribe:
    """Write the messages of a rig into a bag."""

    def __init__(
        self,
        path: Path,
        storage: Storage = Storage.MCAP,
        compression: Compression = Compression.NONE,
    ) -> None:
        self.writer = BagWriter(path, storage=storage, compression=compression)
        self.types = self.writer.typestore.types
        self.forms: dict[tuple[str | int, ...], tuple[bytes, list[int]]] = {}

    def __enter__(self) -> Scribe:
        return self

    def __exit__(self, *_: object) -> None:
        self.writer.close()

    def header(self, time: float, frame: str = '') -> Any:
        stamp = self.types['builtin_interfaces/msg/Time'](
            *divmod(START_NS + round(time * 1e9), 10**9)
        )
        return self.types['std_msgs/msg/Header'](stamp, frame)

    def joints(
        self,
        topic: str,
        time: float,
        strokes: Array,
        forces: Array | None,
        *,
        names: list[str] | None = None,
        bag_time: float | None = None,
    ) -> None:
        position, effort = np.asarray(strokes, float), np.asarray(forces, float)
        if forces is None:
            effort = np.empty(0)
        arrived = time if bag_time is None else bag_time
        self.writer.add_topic(topic, 'sensor_msgs/msg/JointState')
        data = self._filled(names or LEGS, time, position, effort)
        self.writer.write_raw(topic, START_NS + round(arrived * 1e9) + 300_000, data)

    def _filled(self, names: list[str], time: float, position: Array, effort: Array) -> bytes:
        """Serialise a JointState: one message of each form, into which the values then go.

        To serialise every one would take most of the time that these tests take.
        """
        key = (*names, position.size, effort.size)
        if key not in self.forms:
            self.forms[key] = self._form(names, position.size, effort.size)
        form, (stamp, strokes, forces) = self.forms[key]
        data = bytearray(form)
        struct.pack_into('<iI', data, stamp, *divmod(START_NS + round(time * 1e9), 10**9))
        data[strokes : strokes + position.nbytes] = position.tobytes()
        data[forces : forces + effort.nbytes] = effort.tobytes()
        return bytes(data)

    def _form(self, names: list[str], strokes: int, forces: int) -> tuple[bytes, list[int]]:
        """Return a message with values that are found again, and where they are."""
        kind = 'sensor_msgs/msg/JointState'
        values = [1.5 + np.arange(strokes), 101.5 + np.arange(forces)]
        message = self.types[kind](self.header(1e-9), names, values[0], np.empty(0), values[1])
        data = bytes(self.writer.typestore.serialize_cdr(message, kind))
        stamp = struct.pack('<iI', *divmod(START_NS + 1, 10**9))
        return data, [data.index(part) for part in (stamp, *(v.tobytes() for v in values))]

    def imu(self, time: float, force: Array, rate: Array) -> None:
        types = self.types
        vector, nothing = types['geometry_msgs/msg/Vector3'], np.zeros(9)
        unknown = np.concatenate([[-1.0], np.zeros(8)])
        message = types['sensor_msgs/msg/Imu'](
            self.header(time, 'imu_link'),
            types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
            unknown,
            vector(*map(float, rate)),
            nothing,
            vector(*map(float, force)),
            nothing,
        )
        self.writer.write('/imu/data', START_NS + round(time * 1e9) + 400_000, message)


def write_bag(path: Path, run: Run, **how: Any) -> Path:
    """Write strokes, forces and commands of a run."""
    with Scribe(path, **how) as scribe:
        for row, time in enumerate(run.time):
            scribe.joints('/joint_commands', time, run.commands[row], None)
            scribe.joints('/actuator_states', time, run.strokes[row], run.forces[row])
    return path


def recorded(run: Run) -> Recording:
    """Return what `read_recording` makes of the bag that `write_bag` writes, without one.

    For tests of what is made of a recording: a message takes a tenth of a millisecond to write
    and to read.
    """
    stamps = START_NS + np.round(run.time * 1e9).astype(np.int64)
    nothing = np.full_like(run.strokes, np.nan)

    def series(topic: str, strokes: Array, forces: Array) -> JointSeries:
        return JointSeries(
            topic, stamps + 300_000, stamps, '', (), tuple(LEGS), strokes, nothing, forces
        )

    actuators = series('/actuator_states', run.strokes, run.forces)
    commands = series('/joint_commands', run.commands, nothing)
    begin = int(actuators.bag_time_ns[0])
    return Recording(Path('bag'), '0' * 64, begin, actuators, commands, None, None, ())


def imu_samples(
    run: Run, position: Array, mounting: Rotation, rng: np.random.Generator, noise: float = 2e-2
) -> tuple[Array, Array]:
    """Return what an IMU measures: specific force and angular velocity in its own axes."""
    turn = Rotation.from_quat(run.state[:, 3:7])
    w, alpha = run.state[:, 10:], run.acceleration[:, 3:]
    arm = turn.as_matrix() @ position
    moved = run.acceleration[:, :3] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    back = (turn * mounting).inv()
    force = back.apply(moved - np.array([0.0, 0.0, -9.80665]))
    rate = back.apply(w)
    return (
        force + rng.normal(0.0, noise, force.shape),
        rate + rng.normal(0.0, 0.1 * noise, rate.shape) + np.array([2e-3, -1e-3, 1.5e-3]),
    )


def write_imu_bag(path: Path, time: Array, force: Array, rate: Array) -> Path:
    """Write an IMU by itself, on the clock that `time` shows."""
    with Scribe(path) as scribe:
        for row, moment in enumerate(time):
            scribe.imu(float(moment), force[row], rate[row])
    return path
