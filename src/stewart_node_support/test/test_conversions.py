# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import Pose, Twist
from rclpy.serialization import deserialize_message, serialize_message
from stewart_node_support import conversions, stamps
from stewart_node_support.errors import MessageError


def test_integers_and_single_precision_arrive_as_what_they_were() -> None:
    pose = conversions.pose_msg([1, 2, 3], [0, 0, 1, 0])
    twist = conversions.twist_msg(np.float32([0.5, 1.5, 2.5]), [4, 5, 6])
    position, turn = conversions.pose_from_msg(deserialize_message(serialize_message(pose), Pose))
    received = deserialize_message(serialize_message(twist), Twist)

    assert (position.tolist(), turn.tolist()) == ([1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 0.0])
    assert conversions.vector_from_msg(received.linear).tolist() == [0.5, 1.5, 2.5]
    assert conversions.vector_from_msg(received.angular).tolist() == [4.0, 5.0, 6.0]


def test_array_of_the_wrong_size_does_not_become_a_message() -> None:
    with pytest.raises(MessageError, match=r'vector has shape \(3,\), got \(2,\)'):
        conversions.vector3_msg([1.0, 2.0])
    with pytest.raises(MessageError, match=r'vector has shape \(3,\), got \(1, 3\)'):
        conversions.twist_msg(np.zeros(3), np.zeros((1, 3)))
    with pytest.raises(MessageError, match=r'point has shape \(3,\), got \(4,\)'):
        conversions.pose_msg(np.zeros(4), np.zeros(4))
    with pytest.raises(MessageError, match=r'quaternion has shape \(4,\), got \(3,\)'):
        conversions.pose_msg(np.zeros(3), np.zeros(3))


def test_quaternion_is_normalised_and_what_is_none_is_refused() -> None:
    pose = conversions.pose_msg([1, 2, 3], [0.0, 0.6, 0.0, 0.8004])
    np.testing.assert_allclose(np.linalg.norm(conversions.pose_from_msg(pose)[1]), 1.0, atol=1e-15)
    with pytest.raises(MessageError, match='norm 1, got 0'):
        conversions.pose_from_msg(conversions.pose_msg([1, 2, 3], [0, 0, 0, 0]))
    with pytest.raises(MessageError, match='a pose must be finite'):
        conversions.pose_from_msg(conversions.pose_msg([1, 2, np.inf], [0, 0, 0, 1]))


def test_stamp_keeps_every_nanosecond() -> None:
    nanoseconds = 1_700_000_000_999_999_999

    assert stamps.to_nanoseconds(stamps.from_nanoseconds(nanoseconds)) == nanoseconds
    assert stamps.to_seconds(stamps.from_seconds(12.25)) == 12.25
    assert stamps.from_seconds(0.9999999999) == stamps.from_nanoseconds(1_000_000_000)
