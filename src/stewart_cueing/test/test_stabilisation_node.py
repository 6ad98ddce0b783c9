# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The node in simulated time, on a rig that executes every setpoint on a ship."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray
from kinematic_rig import DELAY, motions, neutral_plus, require_continuous, Rig, VIGO
from rclpy.qos import qos_profile_sensor_data
from seas import felt, left_over, MODEL_PERIOD, SHIP
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger
from stewart_cueing.nodes.following_node import Phase
from stewart_cueing.nodes.stabilisation import Stabilisation
from stewart_cueing.ship.live import FADE, LiveLevelling, SETTLING
from stewart_interfaces.msg import DriverState
from stewart_kinematics.limits.guard import MotionGuard
from stewart_node_support.conversions import header_msg, vector3_msg
from stewart_node_support.stamps import from_seconds, to_nanoseconds


class AtSea(Rig):
    """A rig on a ship, its IMU heard for so many peak periods when the rig is built.

    Samples of the IMU come as often as setpoints [s].
    """

    def __init__(self, heard: float = SETTLING, period: float = 0.02) -> None:
        super().__init__(neutral_plus())
        self.node = self.active(
            Stabilisation, rate=1.0 / period, peak_period=MODEL_PERIOD, delay=DELAY
        )
        self.heard = self.listen(DiagnosticArray, '/diagnostics')
        self.imu = self.talk(Imu, 'base/imu', qos_profile_sensor_data)
        self.drive(DriverState.ENABLED)
        self._rng = np.random.default_rng(1)
        first = round(heard * MODEL_PERIOD / period)
        for n in range(first, 0, -1):
            time = self.now() - period * n
            self.node._base.put(time, felt(time, self._rng))
        self._talking = self.probe.create_timer(period, self._say)

    def now(self) -> float:
        """Return simulated time [s]."""
        return self.probe.get_clock().now().nanoseconds * 1e-9

    def _say(self) -> None:
        time = self.now()
        sample = felt(time, self._rng)
        parts = vector3_msg(sample[:3]), vector3_msg(sample[3:])
        header = header_msg(from_seconds(time))
        self.imu.publish(
            Imu(header=header, linear_acceleration=parts[0], angular_velocity=parts[1])
        )

    def start(self) -> None:
        """Start, and wait until the ship is followed."""
        answer = self.call(Trigger, 'stabilisation/start')
        assert answer.success, answer.message
        self.until(lambda: self.node.phase is Phase.FOLLOW)

    def fall_silent(self) -> None:
        """Take the IMU away."""
        self.probe.destroy_timer(self._talking)

    def said(self, words: str) -> bool:
        """Tell whether the diagnostics of the base have said something."""
        status = [s for message in self.heard for s in message.status]
        return any(words in s.message for s in status if s.name == 'stabilisation: base')


# test_ship_live.py has it without the node.
@pytest.mark.slow
def test_the_platform_stays_level_and_at_its_height_within_every_limit() -> None:
    with AtSea(period=0.01) as rig:
        rig.start()
        rig.setpoints.clear()
        rig.spin(FADE + 61.0)
        assert rig.inverse.refusals.refused == 0
        require_continuous(rig.setpoints)
        time, motion = motions(rig.setpoints)
        assert len(MotionGuard(VIGO).admit_run(motion, time).stroke) == len(time)
        begin = to_nanoseconds(rig.setpoints[0].header.stamp) * 1e-9
        rows = [
            left_over(SHIP.at(begin + t + DELAY), motion[n], VIGO)
            for n, t in enumerate(time)
            if t > FADE + 1.0
        ]
        own, left = np.sqrt(np.mean(np.square(rows), axis=0))
        print(f'60 s: of the ship {own}, left {left}, {100.0 * left / own} %')
        assert (left / own < [0.03, 0.03, 0.25]).all()


def test_too_large_a_list_is_told_in_silence_it_rests_and_stop_brings_it_home(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with AtSea() as rig:
        rig.start()
        rig.spin(2.0)
        with monkeypatch.context() as patched:
            patched.setattr(LiveLevelling, 'list_left', 0.1)
            rig.until(lambda: rig.said('the base lists by more than the legs make up for: 5.7° s'))
        rig.fall_silent()
        rig.imu.publish(Imu(linear_acceleration=vector3_msg([np.nan, 0.0, 9.8])))
        rig.spin(FADE + 1.2)
        assert rig.said('no IMU of the base is heard')
        assert rig.node.phase is Phase.FOLLOW
        end = motions(rig.setpoints)[1].position[-1]
        np.testing.assert_allclose(end, VIGO.geometry.neutral_pose.position, atol=1e-3)
        assert rig.call(Trigger, 'stabilisation/stop').success
        rig.until(lambda: rig.node.phase is Phase.IDLE)
        require_continuous(rig.setpoints)


@pytest.mark.parametrize('ahead', [3600.0, 2.0, -3600.0])
def test_an_imu_of_another_time_is_not_heard_and_told(ahead: float) -> None:
    with AtSea(heard=0.0) as rig:
        rig.fall_silent()
        for _ in range(150):
            stamp = header_msg(from_seconds(rig.now() + ahead))
            rig.imu.publish(Imu(header=stamp, linear_acceleration=vector3_msg([0.0, 0.0, 9.8])))
            rig.spin(0.01)
        assert rig.said(f'no IMU of the base is heard (its stamps are {ahead:.1f} s ahead')


def test_an_imu_in_another_frame_is_not_heard_and_told_unless_it_is_said_where_that_is() -> None:
    with AtSea(heard=0.0) as rig:
        rig.fall_silent()
        header = header_msg(from_seconds(rig.now()), 'imu_link')
        rig.imu.publish(Imu(header=header, linear_acceleration=vector3_msg([0.0, 0.0, 9.8])))
        rig.spin(1.2)
        assert rig.said('is heard (an IMU of the base must be in base_link, or imu_position')
        assert rig.said("say where it is, got 'imu_link')")
        rig.node.parameters = replace(rig.node.parameters, imu_rpy_deg=(180.0, 0.0, 0.0))
        rig.node.prepare(rig.node.guard)
        header = header_msg(from_seconds(rig.now()), 'imu_link')
        rig.imu.publish(Imu(header=header, linear_acceleration=vector3_msg([0.0, 0.0, -9.8])))
        rig.until(lambda: rig.node._base.heard(rig.now()))


def test_nothing_is_made_up_for_until_the_observer_has_settled() -> None:
    with AtSea(heard=0.0) as rig:
        rig.start()
        rig.setpoints.clear()
        rig.spin(1.2)
        assert rig.said('the observer settles')
        positions = motions(rig.setpoints)[1].position
        assert np.ptp(positions, axis=0).max() < 1e-9
