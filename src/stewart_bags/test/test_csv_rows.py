# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics become tables under the suite's column names, in its axes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.typesys.store import Typestore
from stewart_bags.csv_rows import ACCELERATION, IMU, POSE, rows, TWIST
from stewart_bags.errors import WrongType
from stewart_bags.findings import Kind
from stewart_bags.reading import Bag
from stewart_bags.series import read_joints
from stewart_bags.writing import BagWriter

START_NS = 1_700_000_000_000_000_000
# A quarter turn about z: x of the platform points along y of the base.
TURNED = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))


class Messages:
    """Messages of the suite with telling numbers."""

    def __init__(self, store: Typestore) -> None:
        """Keep the types."""
        self._types = store.types

    def header(self) -> Any:
        stamp = self._types['builtin_interfaces/msg/Time'](*divmod(START_NS + 5_000_000, 10**9))
        return self._types['std_msgs/msg/Header'](stamp, 'base_link')

    def vector(self, *values: float) -> Any:
        return self._types['geometry_msgs/msg/Vector3'](*values)

    def pose(self) -> Any:
        point = self._types['geometry_msgs/msg/Point'](1.0, 2.0, 3.0)
        quaternion = self._types['geometry_msgs/msg/Quaternion'](*TURNED)
        return self._types['geometry_msgs/msg/Pose'](point, quaternion)

    def twist(self) -> Any:
        linear, angular = self.vector(0.1, 0.2, 0.3), self.vector(0.4, 0.5, 0.6)
        return self._types['geometry_msgs/msg/Twist'](linear, angular)

    def accel(self) -> Any:
        linear, angular = self.vector(1.1, 1.2, 1.3), self.vector(1.4, 1.5, 1.6)
        return self._types['geometry_msgs/msg/Accel'](linear, angular)

    def setpoint(self) -> Any:
        kind = self._types['stewart_interfaces/msg/PlatformSetpoint']
        return kind(self.header(), 'test', self.pose(), self.twist(), self.accel())

    def stamped_pose(self) -> Any:
        return self._types['geometry_msgs/msg/PoseStamped'](self.header(), self.pose())

    def odometry(self) -> Any:
        pose = self._types['geometry_msgs/msg/PoseWithCovariance'](self.pose(), np.zeros(36))
        twist = self._types['geometry_msgs/msg/TwistWithCovariance'](self.twist(), np.zeros(36))
        kind = self._types['nav_msgs/msg/Odometry']
        return kind(self.header(), 'platform_link', pose, twist)

    def acceleration(self) -> Any:
        accel = self._types['geometry_msgs/msg/AccelWithCovariance'](self.accel(), np.zeros(36))
        return self._types['geometry_msgs/msg/AccelWithCovarianceStamped'](self.header(), accel)

    def imu(self) -> Any:
        quaternion = self._types['geometry_msgs/msg/Quaternion'](*TURNED)
        return self._types['sensor_msgs/msg/Imu'](
            self.header(),
            quaternion,
            np.zeros(9),
            self.vector(0.1, 0.2, 0.3),
            np.zeros(9),
            self.vector(0.0, 0.1, 9.8),
            np.zeros(9),
        )


POSE_VALUES = [1.0, 2.0, 3.0, *TURNED]
TWIST_VALUES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
ACCELERATION_VALUES = [1.1, 1.2, 1.3, 1.4, 1.5, 1.6]


@pytest.mark.parametrize(
    ('make', 'names', 'values'),
    [
        (
            Messages.setpoint,
            [*POSE, *TWIST, *ACCELERATION],
            [*POSE_VALUES, *TWIST_VALUES, *ACCELERATION_VALUES],
        ),
        (Messages.stamped_pose, POSE, POSE_VALUES),
        (
            Messages.odometry,
            [*POSE, *TWIST],
            [*POSE_VALUES, -0.2, 0.1, 0.3, -0.5, 0.4, 0.6],
        ),
        (Messages.acceleration, ACCELERATION, ACCELERATION_VALUES),
        (Messages.imu, IMU, [0.0, 0.1, 9.8, 0.1, 0.2, 0.3]),
    ],
)
def test_every_kind_has_the_suites_columns(
    tmp_path: Path,
    make: Callable[[Messages], Any],
    names: list[str],
    values: list[float],
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/rig/topic', START_NS, make(Messages(writer.typestore)))
    with Bag(tmp_path / 'bag') as bag:
        found, table = rows(bag, 'topic')

    assert found == ['time_s', *names]
    assert table.shape == (1, len(found))
    assert table[0] == pytest.approx([0.005, *values], abs=1e-12)


def test_legs_have_columns_for_what_was_measured_only(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(3)) as bag:
        names, table = rows(bag, 'actuator_states')

    legs = range(1, 7)
    expected = [*(f'stroke_{i}_m' for i in legs), *(f'leg_{i}_mps' for i in legs)]
    assert names == ['time_s', *expected]
    np.testing.assert_allclose(table[:, 0], [0.0, 0.005, 0.01], atol=1e-12)
    np.testing.assert_allclose(table[2, 1:7], 2.0 + np.arange(6) / 10)
    np.testing.assert_allclose(table[2, 7:], -2.0 - np.arange(6) / 10)


def test_type_without_columns_is_named(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(3)) as bag, pytest.raises(WrongType, match='std_msgs/msg/String'):
        rows(bag, 'note')


def test_a_topic_that_nobody_stamped_has_the_times_of_receipt(
    tmp_path: Path, joint_state: Callable[..., Any]
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        for number in range(5):
            writer.write('/actuator_states', 10**12 + 10**8 * number, joint_state(number, 0))
            writer.write('/others', 10**12 + 10**8 * number, joint_state(number, 10**12 + 7))
    told: list[str] = []
    with Bag(tmp_path / 'bag') as bag:
        _, unstamped = rows(bag, '/actuator_states', told.append)
        _, stamped = rows(bag, '/others', told.append)
    np.testing.assert_allclose(unstamped[:, 0], 0.1 * np.arange(5), atol=1e-9)
    np.testing.assert_allclose(stamped[:, 0], 7e-9, atol=1e-12)
    assert told == ["/actuator_states: all stamps are zero, the bag's own times are used"]


def test_a_clock_that_began_with_its_machine_counts_from_the_first_receipt(
    tmp_path: Path, joint_state: Callable[..., Any]
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/others', START_NS, joint_state(0, START_NS))
        for number, late in enumerate((0, 3, 1)):
            time_ns = START_NS + 10**9 + 10**8 * number + 10**6 * late
            writer.write('/legs', time_ns, joint_state(number, 10**10 + 10**8 * number))
    told: list[str] = []
    with Bag(tmp_path / 'bag') as bag:
        _, found = rows(bag, '/legs', told.append)
        finding = read_joints(bag, '/legs').findings[0]
    np.testing.assert_allclose(found[:, 0], [1.0, 1.1, 1.2], atol=1e-9)
    assert (finding.kind, finding.count, finding.first) == (Kind.CLOCK, 3, 0)
    assert told == [
        '/legs: the stamps are of another clock, -1.7e+09 s from that of the bag; '
        'time_s begins when the first message was received'
    ]
