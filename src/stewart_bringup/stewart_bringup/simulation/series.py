# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a rig would publish, as rows of numbers."""

from __future__ import annotations

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
    """Rows of one topic, `width` numbers each, in the order in which they were published."""

    def __init__(self, width: int) -> None:
        self._used = self._seen = 0
        self._values = np.empty((256, width))
        self._marks = np.empty((256, 2), dtype=np.int64)

    def add(self, times: ArrayLike, stamps: ArrayLike, *parts: ArrayLike) -> None:
        """Append rows of `parts` (n, k), side by side.

        They are published at `times` (n,) with `stamps` (n,) in their headers [ns].
        """
        marks = np.asarray(stamps)
        before, used = self._used, self._used + len(marks)
        while used > len(self._values):
            self._values = np.concatenate([self._values, np.empty_like(self._values)])
            self._marks = np.concatenate([self._marks, np.empty_like(self._marks)])
        np.concatenate(parts, axis=1, out=self._values[before:used])
        self._marks[before:used, 0], self._marks[before:used, 1] = times, marks
        self._used = used

    def clear(self) -> None:
        """Forget all rows."""
        self._used = self._seen = 0

    def new(self) -> int:
        """Return how many rows came since the last call."""
        before, self._seen = self._seen, self._used
        return self._used - before

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._used

    @property
    def values(self) -> NDArray[np.float64]:
        """The numbers, one row per message, shape (n, width)."""
        return self._values[: self._used]

    @property
    def times(self) -> NDArray[np.int64]:
        """When they were published, shape (n,) [ns]."""
        return self._marks[: self._used, 0]

    @property
    def stamps(self) -> NDArray[np.int64]:
        """Stamps of the headers, shape (n,) [ns]."""
        return self._marks[: self._used, 1]


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
        self.rows = {name: Rows(width_of(topic)) for name, topic in described.items()}
        self.notes: list[Note] = []
        self._seen = 0

    def note(
        self, topic: str, msgtype: str, time: int, stamp: int, fields: Mapping[str, Any]
    ) -> None:
        """Append a message that is no row; see `Note`."""
        self.notes.append(Note(topic, msgtype, time, stamp, fields))

    def clear(self) -> None:
        """Forget everything but what there may be."""
        for rows in self.rows.values():
            rows.clear()
        self.notes.clear()
        self._seen = 0

    def new_notes(self) -> list[Note]:
        """Return the notes since the last call."""
        before, self._seen = self._seen, len(self.notes)
        return self.notes[before:]


FIXED = {
    'pose.covariance': 36,
    'twist.covariance': 36,
    'accel.covariance': 36,
    'strokes': 6,
    'innovations': 6,
    'innovation_sigmas': 6,
    'accepted': 6,
    'rejected': 6,
    'orientation_covariance': 9,
}


def width_of(topic: Topic) -> int:
    """Return how many numbers a row has."""
    return sum(topic.lengths.get(path, FIXED.get(path, 1)) for path in topic.columns)
