# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The node in simulated time, on a rig that executes every setpoint."""

from __future__ import annotations

from collections.abc import Iterator
import socket
import struct
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray
from kinematic_rig import motions, neutral_plus, require_at_rest, require_continuous, Rig, VIGO
from node_harness import Harness
from rclpy.qos import qos_profile_sensor_data
from rides import drive
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger
from stewart_cueing.nodes.following_node import Phase
from stewart_cueing.nodes.motion_cueing import MotionCueing
from stewart_cueing.vehicle.inputs import VehicleRide
from stewart_cueing.vehicle.ride import cued, settings_for
from stewart_cueing.vehicle.washout import LEVEL
from stewart_interfaces.msg import DriverState
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Pose
from stewart_node_support.conversions import vector3_msg
from stewart_node_support.diagnostics import Level
from stewart_node_support.lifecycle import bring_up
from stewart_node_support.stamps import to_nanoseconds


class Ride(Rig):
    """A rig with somebody on it."""

    def __init__(self, pose: Pose | None = None, **parameters: Any) -> None:
        super().__init__(pose or neutral_plus())
        self.node = self.active(MotionCueing, **parameters)
        self.heard = self.listen(DiagnosticArray, '/diagnostics')
        self.vehicle = self.talk(Imu, 'vehicle/motion', qos_profile_sensor_data)
        self.drive(DriverState.ENABLED)

    def start(self) -> None:
        """Start, and wait until the vehicle is followed."""
        answer = self.call(Trigger, 'cueing/start')
        assert answer.success, answer.message
        self.until(lambda: self.node.phase is Phase.FOLLOW)

    def feel(self, ride: VehicleRide) -> None:
        """Publish a ride in its own time."""
        pending, self.began = iter(ride.samples), 0.0

        def say() -> None:
            if (sample := next(pending, None)) is not None:
                self.began = self.began or self.probe.get_clock().now().nanoseconds * 1e-9
                parts = vector3_msg(sample[:3]), vector3_msg(sample[3:])
                self.vehicle.publish(Imu(linear_acceleration=parts[0], angular_velocity=parts[1]))

        timer = self.probe.create_timer(float(ride.time[1]), say)
        self.spin(float(ride.time[-1]) + 0.1)
        self.probe.destroy_timer(timer)

    def said(self, words: str) -> bool:
        """Tell whether the diagnostics of the vehicle have said something."""
        status = [s for message in self.heard for s in message.status]
        return any(words in s.message for s in status if s.name == 'motion_cueing: vehicle')


@pytest.fixture(params=[50.0])
def rig(request: pytest.FixtureRequest) -> Iterator[Ride]:
    with Ride(rate=request.param) as running:
        yield running


@pytest.mark.parametrize('rig', [200.0], indirect=True)
@pytest.mark.parametrize(
    ('seconds', 'interval'),
    [(3.0, 0.02), pytest.param(20.0, 0.005, marks=pytest.mark.slow)],
)
def test_a_drive_through_the_node_is_that_of_the_verb_at_most_20_ms_later(
    rig: Ride, seconds: float, interval: float
) -> None:
    ride = drive(seconds, interval)
    rig.start()
    rig.setpoints.clear()
    rig.feel(ride)
    assert rig.inverse.refusals.refused == 0
    require_continuous(rig.setpoints)
    time, motion = motions(rig.setpoints)
    assert len(MotionGuard(VIGO).admit_run(motion, time).stroke) == len(time)

    recorded = cued(ride, VIGO, settings_for('vigo'))
    stamps = to_nanoseconds(rig.setpoints[0].header.stamp) * 1e-9 + time - rig.began
    there = (stamps > 0.1) & (stamps < seconds - interval)

    def off(late: float) -> float:
        columns = zip(recorded.motion.position.T, motion.position.T, strict=True)
        errors = [np.interp(stamps - late, recorded.time, a) - b for a, b in columns]
        return float(np.abs(np.array(errors)[:, there]).max())

    # Between two samples of the recorded one a straight line is off by some micrometres.
    assert off(interval) < 2e-5
    assert np.ptp(recorded.motion.position, axis=0).max() > 0.005
    lateness = np.arange(0.0, 0.04, 0.001)
    best = lateness[np.argmin([off(late) for late in lateness])]
    assert best == pytest.approx(interval, abs=0.0015)
    assert best <= 0.02


def test_the_optimal_method_goes_the_same_way() -> None:
    with Ride(method='optimal', rate=100.0) as rig:
        rig.start()
        rig.setpoints.clear()
        rig.feel(drive(2.0, 0.02))
        assert rig.inverse.refusals.refused == 0
        require_continuous(rig.setpoints)
        time, motion = motions(rig.setpoints)
        assert len(MotionGuard(VIGO).admit_run(motion, time).stroke) == len(time)
        assert np.ptp(motion.position, axis=0).max() > 0.005
        assert rig.call(Trigger, 'cueing/stop').success
        rig.until(lambda: rig.node.phase is Phase.IDLE)
        require_at_rest(rig.setpoints[-1])


def test_stop_brings_it_to_rest_and_home_and_it_can_start_again(rig: Ride) -> None:
    rig.start()
    rig.feel(drive(1.5, 0.02))
    answer = rig.call(Trigger, 'cueing/stop')
    assert (answer.success, answer.message) == (True, 'stopping')
    rig.until(lambda: rig.node.phase is Phase.IDLE)
    require_continuous(rig.setpoints)
    require_at_rest(rig.setpoints[-1])
    np.testing.assert_allclose(
        motions(rig.setpoints)[1].position[-1], VIGO.geometry.neutral_pose.position, atol=1e-9
    )
    assert not rig.call(Trigger, 'cueing/stop').success
    rig.start()


def test_it_comes_from_where_the_platform_stands_and_may_be_stopped_on_the_way() -> None:
    with Ride(neutral_plus(0.05, 0.0, -0.05)) as rig:
        answer = rig.call(Trigger, 'cueing/start')
        assert answer.message.startswith('approaching for')
        rig.spin(0.2)
        assert rig.call(Trigger, 'cueing/stop').success
        rig.until(lambda: rig.node.phase is Phase.IDLE)
        require_continuous(rig.setpoints)
        require_at_rest(rig.setpoints[-1])


def test_silence_and_what_is_no_sample_are_told_and_end_nothing(rig: Ride) -> None:
    rig.start()
    rig.spin(1.2)
    assert rig.said('no motion of a vehicle is heard')
    ride = VehicleRide(np.array([0.0, 0.02]), np.tile(LEVEL, (2, 1)))
    rig.vehicle.publish(Imu(linear_acceleration=vector3_msg([np.nan, 0.0, 9.8])))
    rig.feel(ride)
    assert rig.node.phase is Phase.FOLLOW
    rig.spin(1.2)
    values = {
        item.key: item.value
        for message in rig.heard
        for s in message.status
        if s.name == 'motion_cueing: vehicle'
        for item in s.values
    }
    assert (values['taken'], values['refused']) == ('2', '1')
    # Of a driver that has not begun, and of one that has taken gravity away.
    for force, said in (
        (0.0, 'no motion of a vehicle is heard (six zeros are no sample'),
        (0.01, 'allowed are 3 to 30: z is upwards'),
    ):
        for _ in range(150):
            rig.vehicle.publish(Imu(linear_acceleration=vector3_msg([0.0, 0.0, force])))
            rig.spin(0.01)
        rig.spin(1.2)
        assert rig.said(said)
    rig.drive(DriverState.FAULT)
    assert rig.node.phase is Phase.IDLE


def test_rates_in_degrees_per_second_and_what_no_vehicle_does_are_told(rig: Ride) -> None:
    rig.start()
    largest = float(np.finfo(float).max)
    for force, rate in ((9.8, 20.0), (largest, 0.0), (-largest, 0.0)):
        rates = vector3_msg([0.0, 0.0, rate])
        up = vector3_msg([0.0, 0.0, force])
        rig.vehicle.publish(Imu(linear_acceleration=up, angular_velocity=rates))
        rig.spin(0.02)
    rig.spin(1.2)
    assert rig.said('no motion of a vehicle is heard (no vehicle has [0.0, 0.0, -1.79')
    turning = LEVEL + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 5.0])
    rig.feel(VehicleRide(0.01 * np.arange(60), np.tile(turning, (60, 1))))
    rig.spin(1.2)
    assert rig.said('rad/s: are the rates in deg/s?')
    assert rig.node.phase is Phase.FOLLOW


def test_what_is_heard_with_z_downwards_moves_nothing(rig: Ride) -> None:
    for _ in range(150):
        rig.vehicle.publish(Imu(linear_acceleration=vector3_msg(-LEVEL[:3])))
        rig.spin(0.01)
    answer = rig.call(Trigger, 'cueing/start')
    assert not answer.success
    assert 'z is upwards' in answer.message
    assert not rig.setpoints
    # What was silent meanwhile may be another one.
    rig.spin(2.1)
    rig.heard.clear()
    rig.spin(1.2)
    assert rig.said(' samples')
    assert not rig.said('z is upwards')
    rig.start()


def test_it_refuses_while_the_drives_are_off(rig: Ride) -> None:
    rig.drive(DriverState.DISABLED)
    answer = rig.call(Trigger, 'cueing/start')
    assert not answer.success
    assert 'not ENABLED' in answer.message


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [
        ({'input': 'flightgear', 'port': 0}, 'follows real time'),
        ({'washout': 'nowhere.yaml'}, "/nowhere.yaml'"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_configured(
    parameters: dict[str, Any], words: str
) -> None:
    with Rig() as rig:
        node = rig.add(MotionCueing, **parameters)
        node.trigger_configure()
        assert words in node.refusal


X_PLANE = b'DATA*' + struct.pack('<i8fi8f', 4, *4 * [0.0], 1.0, *3 * [0.0], 16, *8 * [0.0])


@pytest.mark.parametrize(
    ('form', 'datagram', 'level', 'said', 'why'),
    [
        ('flightgear', b'0\t0\t-9.8\t0\t0\t0\n', Level.OK, '1 samples', 'FlightGear'),
        (
            'x_plane_12',
            X_PLANE,
            Level.WARN,
            'whether this is x_plane_12 is not known before a turn with index 17 sent',
            'expected a packet DATA of X-Plane',
        ),
    ],
)
def test_datagrams_are_taken_and_what_is_none_is_counted(
    form: str, datagram: bytes, level: Level, said: str, why: str
) -> None:
    with Harness(real=True) as harness:
        node = harness.add(MotionCueing, input=form, port=0)
        heard = harness.listen(DiagnosticArray, '/diagnostics')
        bring_up(node)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for line in (datagram, b'nonsense'):
                sender.sendto(line, ('127.0.0.1', node.port))

        def told() -> tuple[Any, dict[str, str]]:
            reports = [s for message in heard for s in message.status]
            newest = [s for s in reports if s.name == 'motion_cueing: vehicle'][-1:]
            return (newest or [None])[0], {i.key: i.value for s in newest for i in s.values}

        def counted() -> bool:
            found = told()[1]
            return (found.get('taken'), found.get('refused')) == ('1', '1')

        harness.until(counted)
        report, values = told()
        assert report.message.startswith(said)
        assert report.level == bytes([level])
        assert why in values['last refusal']


def test_a_clock_that_leaps_ahead_ends_the_ride_at_once(rig: Ride) -> None:
    rig.start()
    rig.spin(0.2)
    said, rows = len(rig.setpoints), rig.node.follower.plan.begin
    rig.stall(60.0)
    rig.until(lambda: rig.node.playback is None)
    assert rig.node.phase is Phase.IDLE
    assert rig.node.aborted.startswith('no setpoint for 60 s: the clock leapt ahead')
    # Neither the setpoints nor the rows of the ride were made up for.
    assert len(rig.setpoints) <= said + 1
    assert rig.node.follower.plan.begin < rows + 0.1

    rig.spin(0.3)
    rig.start()
    rig.spin(0.2)
    assert rig.node.phase is Phase.FOLLOW


def test_a_short_silence_is_made_up_for(rig: Ride) -> None:
    rig.start()
    rig.spin(0.2)
    rig.stall(0.9)
    rig.spin(0.2)
    assert rig.node.phase is Phase.FOLLOW
