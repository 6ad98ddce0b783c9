# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A run of the simulated SRS as a bag, spoilt as a test wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from srs_simulated import SimulatedRun
from stewart_bags.writing import BagWriter
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion

START_NS = 1_700_000_000_000_000_000
UNKNOWN = np.zeros(9)
LATE = 0.04
"""Of the poses of a tracker [s]."""

Spoil = Callable[[Any], Any]


def write_bag(
    run: SimulatedRun,
    path: Path,
    spoil: Spoil = lambda item: item,
    *,
    covariance: tuple[Any, Any] = (UNKNOWN, UNKNOWN),
    only: str = '',
    tracker: str = '',
) -> str:
    """Write IMU and legs of a run, and poses from outside as messages of the type `tracker`.

    Every message goes through `spoil` with `number`, `topic` and `message`; `late` delays its
    receipt [ns].
    """
    with BagWriter(path) as writer:
        types = writer.typestore.types
        messages = [*_imu(types, run, covariance), *_legs(types, run)]
        if tracker:
            messages += _poses(types, run, types[f'geometry_msgs/msg/{tracker}'])
        for number, (stamp_ns, topic, message) in enumerate(sorted(messages, key=lambda m: m[0])):
            if only not in topic:
                continue
            spoilt = spoil(SimpleNamespace(number=number, topic=topic, message=message))
            received = stamp_ns + 100_000 + getattr(spoilt, 'late', 0)
            writer.write(spoilt.topic, received, spoilt.message)
    return str(path)


def _header(types: Any, stamp_ns: int, frame: str) -> Any:
    stamp = types['builtin_interfaces/msg/Time'](*divmod(stamp_ns, 10**9))
    return types['std_msgs/msg/Header'](stamp, frame)


def _imu(types: Any, run: SimulatedRun, covariance: tuple[Any, Any]) -> Iterator[Any]:
    imu, vector = run.imu, types['geometry_msgs/msg/Vector3']
    for stamp, force, rate in zip(
        imu.stamps, imu.specific_forces, imu.angular_velocities, strict=True
    ):
        stamp_ns = START_NS + round(stamp * 1e9)
        message = types['sensor_msgs/msg/Imu'](
            _header(types, stamp_ns, 'imu_link'),
            types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
            np.array([-1.0, *[0.0] * 8]),
            vector(*rate.tolist()),
            np.asarray(covariance[1], dtype=float),
            vector(*force.tolist()),
            np.asarray(covariance[0], dtype=float),
        )
        yield stamp_ns, '/imu/data', message


def _legs(types: Any, run: SimulatedRun) -> Iterator[Any]:
    for stamp, lengths in zip(run.legs.stamps, run.legs.lengths, strict=True):
        stamp_ns = START_NS + round(stamp * 1e9)
        message = types['sensor_msgs/msg/JointState'](
            _header(types, stamp_ns, 'base_link'),
            [f'leg_{leg}' for leg in range(1, 7)],
            lengths - run.platform.geometry.retracted_length,
            np.empty(0),
            np.empty(0),
        )
        yield stamp_ns, '/actuator_states', message


def _poses(types: Any, run: SimulatedRun, kind: Any) -> Iterator[Any]:
    rng, covariance = np.random.default_rng(1), np.diag(np.full(6, 1e-6)).ravel()
    place, turn = types['geometry_msgs/msg/Point'], types['geometry_msgs/msg/Quaternion']
    for row in range(100, len(run.legs), 5):
        stamp_ns = START_NS + round((run.legs.stamps[row] + LATE) * 1e9)
        position = run.truth.position[row] + 1e-3 * rng.normal(size=3)
        wrong = exp_quaternion(1e-3 * rng.normal(size=3))
        quaternion = compose_quaternions(wrong, run.truth.quaternion_xyzw[row])
        pose = types['geometry_msgs/msg/Pose'](
            place(*position.tolist()), turn(*quaternion.tolist())
        )
        if kind is types['geometry_msgs/msg/PointStamped']:
            pose = pose.position
        elif kind is not types['geometry_msgs/msg/PoseStamped']:
            pose = types['geometry_msgs/msg/PoseWithCovariance'](pose, covariance)
        message = kind(_header(types, stamp_ns, 'base_link'), pose)
        yield stamp_ns, '/platform/external_pose', message
