# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A base on a platform whose motion is told sample by sample, against the motion itself."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_simulation.carried_base import CarriedBase, LAG, Sample
from stewart_simulation.ship import at_scale, Ship

PERIOD = 0.005
SHIP = Ship(Jonswap(2.0, 7.6), 3, np.radians(150.0), at_scale(10.0))


def told(ship: Any, begin: float, count: int, period: float = PERIOD) -> CarriedBase:
    """Return a base that was told so many samples of a ship."""
    base = CarriedBase()
    for time in begin + period * np.arange(count):
        motion = ship.at(time)
        quaternion = Rotation.from_matrix(motion.rotation).as_quat()
        base.put(Sample(time, motion.position, quaternion, motion.velocity, motion.turn))
    return base


def test_between_samples_it_moves_as_the_platform_a_lag_before() -> None:
    base = told(SHIP, 5.0, 16)
    for time in 5.0 + PERIOD * np.linspace(1.1, 13.9, 9):
        found, true = base.at(time + LAG), SHIP.at(time)
        np.testing.assert_allclose(found.position, true.position, atol=1e-9)
        np.testing.assert_allclose(found.rotation, true.rotation, atol=1e-8)
        np.testing.assert_allclose(found.velocity, true.velocity, atol=1e-6)
        np.testing.assert_allclose(found.turn, true.turn, atol=2e-5)
        np.testing.assert_allclose(found.acceleration, true.acceleration, atol=1e-3)
        np.testing.assert_allclose(found.turn_change, true.turn_change, atol=5e-3)


def test_of_dense_samples_it_knows_where_it_was_when_a_slow_imu_began_to_measure() -> None:
    base, time = told(SHIP, 5.0, 300, 0.001), 5.299 - 0.06
    found, true = base.at(time), SHIP.at(time - LAG)
    np.testing.assert_allclose(found.position, true.position, atol=1e-9)
    np.testing.assert_allclose(found.velocity, true.velocity, atol=1e-6)


@pytest.mark.parametrize('time', [-1.0, 5.0 + LAG - 1e-9])
def test_before_the_first_sample_it_stands_still_where_that_is(time: float) -> None:
    motion = told(SHIP, 5.0, 3).at(time)
    np.testing.assert_allclose(motion.position, SHIP.at(5.0).position)
    assert not np.any([motion.velocity, motion.acceleration, motion.turn, motion.turn_change])


def test_untold_it_is_at_rest_in_the_world_and_without_news_where_it_was_last() -> None:
    at_rest = CarriedBase().at(3.0)
    np.testing.assert_array_equal(at_rest.rotation, np.eye(3))
    np.testing.assert_allclose(at_rest.field(np.array([0.0, 0.0, -9.8])), [0, 0, -9.8, *[0] * 6])
    last = told(SHIP, 5.0, 3).at(99.0)
    np.testing.assert_allclose(last.position, SHIP.at(5.0 + 2 * PERIOD).position)
    assert not last.velocity.any()


@pytest.mark.ros
def test_the_rig_stands_on_the_platform_whose_truth_it_hears() -> None:
    pytest.importorskip('rclpy')
    from geometry_msgs.msg import PoseWithCovariance, TwistWithCovariance
    from nav_msgs.msg import Odometry
    from node_harness import Harness
    from sensor_msgs.msg import Imu
    from stewart_node_support.conversions import header_msg, pose_msg, twist_msg
    from stewart_node_support.qos import SENSOR_QOS
    from stewart_node_support.stamps import from_seconds, to_seconds
    from stewart_simulation.nodes.virtual_rig import VirtualRig

    quiet = {'accelerometer_noise': 0.0, 'gyroscope_noise': 0.0, 'card': False, 'imu': False}
    with Harness() as rig:
        rig.add(partial(VirtualRig, inline=True), base_on='beneath', **quiet)
        truths = rig.listen(Odometry, 'simulation/base_truth', SENSOR_QOS)
        felt = rig.listen(Imu, 'base/imu', SENSOR_QOS)
        beneath = rig.talk(Odometry, 'beneath', SENSOR_QOS)

        def tell() -> None:
            now = 1e-9 * rig.probe.get_clock().now().nanoseconds
            motion = SHIP.at(now)
            quaternion = Rotation.from_matrix(motion.rotation).as_quat()
            twist = twist_msg(motion.rotation.T @ motion.velocity, motion.turn)
            message = Odometry(header=header_msg(from_seconds(now)))
            message.pose = PoseWithCovariance(pose=pose_msg(motion.position, quaternion))
            message.twist = TwistWithCovariance(twist=twist)
            beneath.publish(message)

        rig.probe.create_timer(PERIOD, tell)
        rig.spin(0.5)
    assert len(truths) >= 50
    for truth, sample in zip(truths[-50:], felt[-50:], strict=True):
        true = SHIP.at(to_seconds(truth.header.stamp) - LAG)
        turn = truth.pose.pose.orientation
        found = Rotation.from_quat([turn.x, turn.y, turn.z, turn.w]).as_matrix()
        np.testing.assert_allclose(found, true.rotation, atol=1e-6)
        assert truth.pose.pose.position.z == pytest.approx(true.position[2], abs=1e-6)
        force = -true.field(np.array([0.0, 0.0, -9.80665]))[:3]
        push = sample.linear_acceleration
        np.testing.assert_allclose([push.x, push.y, push.z], force, atol=5e-3)


@pytest.mark.ros
@pytest.mark.parametrize('given', [{'inline': False}, {'inline': True, 'base': 'ship'}])
def test_a_base_on_a_platform_is_for_simulated_time_and_has_no_ship(given: Any) -> None:
    pytest.importorskip('rclpy')
    from node_harness import Harness
    from stewart_driver.errors import ConfigurationError
    from stewart_simulation.nodes.virtual_rig import VirtualRig

    make = partial(VirtualRig, inline=given.pop('inline'))
    with Harness() as rig, pytest.raises(ConfigurationError, match='base_on'):
        rig.add(make, base_on='beneath', **given)
