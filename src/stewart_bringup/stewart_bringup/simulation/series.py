# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a rig would publish, as rows of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_driver.legs import LEG_NAMES
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_driver.witmotion.samples import isotropic
from stewart_kinematics.solvers.joint_states import JOINT_NAMES

BASE, PLATFORM = 'base_link', 'platform_link'
XYZ, XYZW = ('x', 'y', 'z'), ('x', 'y', 'z', 'w')


def _vectors(*paths: str) -> tuple[str, ...]:
    return tuple(f'{path}.{axis}' for path in paths for axis in XYZ)


def _pose(path: str) -> tuple[str, ...]:
    turn = tuple(f'{path}.orientation.{axis}' for axis in XYZW)
    return _vectors(f'{path}.position') + turn


SIX = {'position': 6, 'velocity': 6, 'effort': 6}


@dataclass(frozen=True)
class Topic:
    """A topic, and what a row of it holds.

    Attributes:
        msgtype: Type of its messages.
        columns: Paths of the fields in a row, see ``stewart_bags.rows``.
        constants: What other fields hold.
        lengths: Elements of arrays of variable length among the columns.
        depth: History that its publisher keeps.
    """

    msgtype: str
    columns: tuple[str, ...]
    constants: Mapping[str, Any] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    depth: int = 50


def _legs(*columns: str, depth: int = 50) -> Topic:
    lengths = {name: SIX[name] for name in columns}
    return Topic('sensor_msgs/msg/JointState', columns, {'name': LEG_NAMES}, lengths, depth)


def _setpoint(source: str) -> Topic:
    return Topic(
        'stewart_interfaces/msg/PlatformSetpoint',
        _pose('pose') + _vectors('twist.linear', 'twist.angular', 'accel.linear', 'accel.angular'),
        {'header.frame_id': BASE, 'source': source},
        depth=10,
    )


def _odometry() -> Topic:
    return Topic(
        'nav_msgs/msg/Odometry',
        (
            *_pose('pose.pose'),
            'pose.covariance',
            *_vectors('twist.twist.linear', 'twist.twist.angular'),
            'twist.covariance',
        ),
        {'header.frame_id': BASE, 'child_frame_id': PLATFORM},
    )


def topics(source: str, *, forces: bool) -> dict[str, Topic]:
    """Return every topic with rows by its relative name.

    Args:
        source: Name of the trajectory node.
        forces: Whether the drives measure forces.
    """
    measured = ('position', 'velocity', 'effort') if forces else ('position', 'velocity')
    return {
        'setpoint': _setpoint(source),
        'platform/commanded': _setpoint(source),
        'joint_commands': _legs('position', 'velocity', depth=10),
        'joint_efforts': _legs('effort', depth=10),
        'actuator_states': _legs(*measured),
        'platform/pose': Topic(
            'geometry_msgs/msg/PoseStamped', _pose('pose'), {'header.frame_id': BASE}
        ),
        'joint_states': Topic(
            'sensor_msgs/msg/JointState',
            ('position',),
            {'name': JOINT_NAMES},
            {'position': len(JOINT_NAMES)},
        ),
        'platform/tracking_error': Topic(
            'stewart_interfaces/msg/TrackingError',
            (*_vectors('position', 'rotation'), 'strokes'),
            {'header.frame_id': BASE},
        ),
        'simulation/truth': _odometry(),
    }


def estimate_topics(imu: ImuParameters) -> dict[str, Topic]:
    """Return the topics of IMU and state estimator by their relative names."""
    return {
        'imu/data': Topic(
            'sensor_msgs/msg/Imu',
            (
                *(f'orientation.{axis}' for axis in XYZW),
                'orientation_covariance',
                *_vectors('angular_velocity', 'linear_acceleration'),
            ),
            {
                'header.frame_id': imu.frame_id,
                'angular_velocity_covariance': isotropic(imu.angular_velocity_stddev),
                'linear_acceleration_covariance': isotropic(imu.linear_acceleration_stddev),
            },
        ),
        'imu/temperature': Topic(
            'sensor_msgs/msg/Temperature',
            ('temperature',),
            {'header.frame_id': imu.frame_id, 'variance': imu.temperature_stddev**2},
        ),
        'platform/odometry': _odometry(),
        'platform/acceleration': Topic(
            'geometry_msgs/msg/AccelWithCovarianceStamped',
            (*_vectors('accel.accel.linear', 'accel.accel.angular'), 'accel.covariance'),
            {'header.frame_id': BASE},
        ),
        'estimator/status': Topic(
            'stewart_interfaces/msg/EstimatorStatus',
            (
                'innovations',
                'innovation_sigmas',
                'nis',
                *_vectors('accelerometer_bias', 'gyroscope_bias'),
                'imu_delay',
                'accepted',
                'rejected',
            ),
            {'header.frame_id': BASE},
        ),
    }


class Rows:
    """Rows of one topic in the order in which they were published.

    Attributes:
        total: How many there were so far; `clear` leaves it.
    """

    def __init__(self) -> None:
        self._values: list[NDArray[np.float64]] = []
        self._marks: list[NDArray[np.int64]] = []
        self.total = 0

    def add(self, times: ArrayLike, stamps: ArrayLike, *parts: ArrayLike) -> None:
        """Append rows of `parts` (n, k), side by side.

        They are published at `times` (n,) with `stamps` (n,) in their headers [ns].
        """
        self._values.append(np.concatenate(parts, axis=1, dtype=np.float64))
        self._marks.append(np.array([times, stamps], dtype=np.int64))
        self.total += len(self._values[-1])

    def clear(self) -> None:
        """Forget all rows."""
        self._values.clear()
        self._marks.clear()

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(map(len, self._values))

    @property
    def values(self) -> NDArray[np.float64]:
        """The numbers, one row per message, shape (n, width)."""
        return np.concatenate(self._values)

    @property
    def times(self) -> NDArray[np.int64]:
        """When they were published, shape (n,) [ns]."""
        return np.concatenate(self._marks, axis=1)[0]

    @property
    def stamps(self) -> NDArray[np.int64]:
        """Stamps of the headers, shape (n,) [ns]."""
        return np.concatenate(self._marks, axis=1)[1]


@dataclass(frozen=True)
class Note:
    """A message that comes rarely.

    Attributes:
        topic, msgtype: Relative name and type.
        time, stamp: When it was published, and the stamp of its header [ns].
        fields: All other fields, by path.
    """

    topic: str
    msgtype: str
    time: int
    stamp: int
    fields: Mapping[str, Any]


class Series:
    """All that was published on the topics `described`.

    Attributes:
        rows: By topic.
        notes: Messages that are no rows, such as the states of the driver.
    """

    def __init__(self, described: dict[str, Topic]) -> None:
        self.topics = described
        self.rows = {name: Rows() for name in described}
        self.notes: list[Note] = []
        self._noted: Counter[str] = Counter()

    def note(self, message: Note) -> None:
        """Append a message that is no row."""
        self.notes.append(message)
        self._noted[message.topic] += 1

    def counts(self) -> dict[str, int]:
        """Return how many messages were published so far, by topic; `clear` leaves that."""
        totals = {name: rows.total for name, rows in self.rows.items() if rows.total}
        return totals | self._noted

    def clear(self) -> None:
        """Forget every message."""
        for rows in self.rows.values():
            rows.clear()
        self.notes.clear()
