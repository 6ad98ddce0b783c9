# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the node: real messages at 200 Hz against the truth of a scripted motion."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelWithCovarianceStamped, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from node_harness import Harness
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Imu, JointState
from srs_simulated import SensorErrors, simulate
from std_msgs.msg import Header
from std_srvs.srv import SetBool, Trigger
from stewart_estimation.nodes.estimate_publishers import transform
from stewart_estimation.nodes.estimator_parameters import EstimatorParameters, settings_from
from stewart_estimation.nodes.state_estimator import StateEstimator
from stewart_interfaces.msg import EstimatorStatus
from stewart_interfaces.srv import SetPose
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.spatial import (
    compose_quaternions,
    invert_quaternion,
    log_quaternion,
    matrix_from_quaternion,
)
from stewart_kinematics.trajectories import Faded, MultiSine
from stewart_node_support.conversions import pose_msg

pytestmark = pytest.mark.ros

START_NS = 1_700_000_000_123_456_789
EX800 = Platform.from_yaml('ex800')
ERRORS = SensorErrors(
    np.full(3, 0.02), np.full(3, 1e-3), np.full(6, 2e-5), np.full(3, 0.05), np.full(3, 0.01)
)


def trajectory() -> Faded:
    """Return a wave of 20 mm and 4 degrees at 1 Hz."""
    centre = EX800.geometry.neutral_pose
    amplitude = np.array([[0.02], [0.02], [0.015], [0.07], [0.05], [0.0]])
    wave = MultiSine(centre, 'XYZ', amplitude, np.array([6.0]), np.arange(6.0)[:, None])
    return Faded(wave, centre, 1.0)


def scripted(duration: float, **options):
    """Return what the sensors say at 200 Hz, the legs 1.7 ms after the IMU."""
    return simulate(
        trajectory(),
        7,
        platform=EX800,
        errors=ERRORS,
        duration=duration,
        imu_period=0.005,
        leg_period=0.005,
        leg_offset=0.0017,
        **options,
    )


def header(stamp: float, frame: str) -> Header:
    sec, nanosec = divmod(START_NS + round(stamp * 1e9), 10**9)
    return Header(stamp=Time(sec=sec, nanosec=nanosec), frame_id=frame)


def imu_message(stamp, force, rate, first_covariance=0.0) -> Imu:
    message = Imu(header=header(stamp, 'imu_link'))
    vector, turning = message.linear_acceleration, message.angular_velocity
    vector.x, vector.y, vector.z = force.tolist()
    turning.x, turning.y, turning.z = rate.tolist()
    message.linear_acceleration_covariance = [first_covariance, *[0.0] * 8]
    return message


def leg_message(stamp, lengths) -> JointState:
    strokes = lengths - EX800.geometry.retracted_length
    names = [f'leg_{leg}' for leg in range(1, 7)]
    return JointState(header=header(stamp, 'base_link'), name=names, position=strokes.tolist())


def without_a_leg(message: JointState) -> JointState:
    message.name, message.position = message.name[1:], message.position[1:]
    return message


@pytest.fixture
def graph():
    with Harness() as harness:
        node = harness.add(StateEstimator, platform='ex800')
        yield SimpleNamespace(
            harness=harness,
            node=node,
            odometry=harness.listen(Odometry, 'platform/odometry'),
            acceleration=harness.listen(AccelWithCovarianceStamped, 'platform/acceleration'),
            status=harness.listen(EstimatorStatus, 'estimator/status'),
            diagnostics=harness.listen(DiagnosticArray, '/diagnostics'),
            imu=harness.talk(Imu, 'imu/data', qos_profile_sensor_data),
            legs=harness.talk(JointState, 'actuator_states'),
        )


def play(graph, run, spoil=lambda row, message: message, begin=0) -> None:
    """Publish the run by stamp, in real time or as fast as the node keeps up."""
    events = [(stamp, 0, row) for row, stamp in enumerate(run.imu.stamps)]
    events += [(stamp, 1, row) for row, stamp in enumerate(run.legs.stamps)]
    refusals = graph.node.refusals
    sent = refusals.accepted + refusals.refused
    for number, (stamp, kind, row) in enumerate(sorted(events)[begin:]):
        if kind == 0:
            force, rate = run.imu.specific_forces[row], run.imu.angular_velocities[row]
            graph.imu.publish(imu_message(stamp, force, rate))
        else:
            message = spoil(row, leg_message(stamp, run.legs.lengths[row]))
            if message is None:
                sent -= 1
            else:
                graph.legs.publish(message)
        sent += 1
        if number % 5 == 4:
            count = sent
            graph.harness.until(lambda count=count: refusals.accepted + refusals.refused >= count)
    graph.harness.until(lambda: refusals.accepted + refusals.refused >= sent)
    graph.harness.spin(0.1)


def stamps_of(messages) -> np.ndarray:
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec - START_NS for m in messages]
    return np.array(stamps) / 1e9


def numbers(message) -> list[float]:
    return [getattr(message, name) for name in 'xyzw' if hasattr(message, name)]


def against(run, graph) -> SimpleNamespace:
    """Return the errors of what was published, and their stated standard deviations."""
    stamps = stamps_of(graph.odometry)
    rows = np.round((stamps - run.legs.stamps[0]) / 0.005).astype(int)
    np.testing.assert_allclose(run.legs.stamps[rows], stamps, atol=1e-8)
    truth = run.truth[rows]
    pose = [item.pose.pose for item in graph.odometry]
    position = np.array([numbers(item.position) for item in pose])
    turn = np.array([numbers(item.orientation) for item in pose])
    to_platform = np.swapaxes(matrix_from_quaternion(truth.quaternion_xyzw), -1, -2)
    twists = [item.twist.twist for item in graph.odometry]
    linear, angular = (
        np.array([numbers(getattr(item, name)) for item in twists])
        for name in ('linear', 'angular')
    )
    covariance = [
        np.array([getattr(item, part).covariance for item in graph.odometry]).reshape(-1, 6, 6)
        for part in ('pose', 'twist')
    ]
    sigmas = [np.sqrt(np.diagonal(item, axis1=1, axis2=2)) for item in covariance]
    error = compose_quaternions(truth.quaternion_xyzw, invert_quaternion(turn))
    return SimpleNamespace(
        stamps=stamps,
        position=truth.position - position,
        attitude=log_quaternion(error),
        linear=(to_platform @ truth.linear_velocity[..., None])[..., 0] - linear,
        angular=(to_platform @ truth.angular_velocity[..., None])[..., 0] - angular,
        pose_sigmas=sigmas[0],
        twist_sigmas=sigmas[1],
        truth=truth,
    )


def rms(values) -> float:
    return float(np.sqrt(np.mean(values**2)))


def latest(graph, task: str) -> tuple[int, str]:
    graph.node.diagnostics.publish()
    graph.harness.spin(0.1)
    said = [
        (status.level[0], status.message)
        for message in graph.diagnostics
        for status in message.status
        if status.name == f'state_estimator: {task}'
    ]
    return said[-1]


def test_each_leg_may_have_a_noise_of_its_own() -> None:
    sigmas = tuple((1e-5 * np.arange(1.0, 7.0)).tolist())
    asked = EstimatorParameters(platform='ex800', leg_sigmas=sigmas)
    np.testing.assert_array_equal(settings_from(asked, EX800, None, None).leg_noise, sigmas)
    alike = settings_from(EstimatorParameters(leg_sigma=3e-5), EX800, None, None)
    np.testing.assert_array_equal(alike.leg_noise, np.full(6, 3e-5))


def test_live_estimates_are_the_truth_within_what_they_claim(graph) -> None:
    assert latest(graph, 'estimate') == (2, 'no estimate: no sample has come on imu/data')
    run = scripted(3.0)
    play(graph, run)
    found = against(run, graph)
    # One row waits for the IMU to pass it.
    assert len(graph.odometry) >= len(run.legs) - 1
    assert len(graph.status) == len(graph.acceleration) == len(graph.odometry)
    settled = found.stamps > 1.0
    assert rms(found.position[settled]) < 1e-5
    assert rms(found.attitude[settled]) < 6e-5
    assert rms(found.linear[settled]) < 1e-3
    assert rms(found.angular[settled]) < 1.5e-3
    for error, sigma in (
        (found.position, found.pose_sigmas[:, :3]),
        (found.attitude, found.pose_sigmas[:, 3:]),
        (found.linear, found.twist_sigmas[:, :3]),
        (found.angular, found.twist_sigmas[:, 3:]),
    ):
        assert 0.88 < np.mean(np.abs(error[settled]) < 2.0 * sigma[settled]) < 0.995
    message = graph.odometry[-1]
    assert (message.header.frame_id, message.child_frame_id) == ('base_link', 'platform_link')
    linear, angular = (
        np.array([numbers(getattr(item.accel.accel, name)) for item in graph.acceleration])
        for name in ('linear', 'angular')
    )
    assert rms((linear - found.truth.linear_acceleration)[settled]) < 0.03
    assert rms((angular - found.truth.angular_acceleration)[settled]) < 0.6
    status = graph.status[-1]
    assert np.mean([item.nis for item in graph.status[100:]]) == pytest.approx(6.0, abs=0.7)
    np.testing.assert_allclose(numbers(status.gyroscope_bias), ERRORS.gyroscope_bias, atol=5e-4)
    assert np.isnan(status.imu_delay)
    assert min(status.accepted) >= len(run.legs) - 3
    assert max(status.rejected) <= 2
    level, sentence = latest(graph, 'estimate')
    assert level == 0
    assert sentence.startswith('mean NIS ')


def test_missing_legs_and_spikes_are_borne_and_named(graph) -> None:
    run = scripted(3.0)

    def spoil(row, message):
        if 200 <= row < 300:
            message.position[2] = float('nan')
        elif 300 <= row < 400:
            message.name, message.position = message.name[:4], message.position[:4]
        elif row in {430, 460}:
            message.position[5] += 1e-3
        elif row >= 500:
            message.name, message.position = message.name[1:], message.position[1:]
        return message

    play(graph, run, spoil)
    found = against(run, graph)
    assert len(graph.odometry) >= len(run.legs) - 1
    settled = found.stamps > 1.0
    assert rms(found.position[settled]) < 4e-5
    assert rms(found.linear[settled]) < 2e-3
    status = graph.status[-1]
    assert status.rejected[5] >= 2
    assert max(status.rejected[:5]) <= 2
    present = [500, 600, 500, 600, 500, 500]
    np.testing.assert_allclose(status.accepted, present, atol=5)
    assert latest(graph, 'estimate') == (1, 'leg 1 is missing')


def test_the_imu_leads_on_while_the_legs_are_silent_and_then_it_is_said(graph) -> None:
    run = scripted(2.7)
    play(graph, run, lambda row, message: None if row >= 200 else message)
    stamps = stamps_of(graph.odometry)
    gone = run.legs.stamps[200]
    led = stamps > gone
    assert 0.9 < stamps[-1] - gone < 1.1
    assert led.sum() > 150
    motion = trajectory().sample(stamps[led])
    position = np.array([numbers(item.pose.pose.position) for item in graph.odometry])[led]
    assert np.abs(position - motion.position).max() < 0.01
    sigma = np.sqrt([item.pose.covariance[0] for item in graph.odometry])
    assert sigma[-1] > 20.0 * sigma[190]
    level, sentence = latest(graph, 'estimate')
    assert level == 2
    assert sentence.startswith('no estimate: legs silent for 1.7')


def test_when_both_sensors_are_gone_it_is_said(graph) -> None:
    play(graph, scripted(0.5))
    graph.harness.spin(2.5)
    assert latest(graph, 'estimate') == (
        2,
        'no estimate: nothing has come on imu/data or actuator_states for a second',
    )


def test_what_cannot_be_used_is_refused_and_said(graph) -> None:
    run = scripted(0.2)
    force, rate = run.imu.specific_forces[0], run.imu.angular_velocities[0]
    graph.imu.publish(imu_message(0.0, force, rate, first_covariance=-1.0))
    graph.imu.publish(imu_message(0.005, force * np.nan, rate))
    graph.legs.publish(JointState(header=header(0.0, 'base_link'), name=['elbow'], position=[0.1]))
    graph.harness.until(lambda: graph.node.refusals.refused == 3)
    level, sentence = latest(graph, 'input')
    assert level == 2
    assert sentence.startswith('3 messages refused: ')
    graph.imu.publish(imu_message(0.01, force, rate))
    graph.legs.publish(leg_message(0.005, np.full(6, 0.4)))
    graph.imu.publish(imu_message(0.015, force, rate))
    graph.legs.publish(leg_message(0.012, np.array([0.1, 0.9, 0.1, 0.9, 0.1, 0.9])))
    graph.imu.publish(imu_message(0.02, force, rate))
    graph.harness.until(lambda: graph.node.refusals.accepted == 5)
    level, sentence = latest(graph, 'estimate')
    assert level == 2
    assert sentence.startswith('no estimate: no start from lengths')
    assert not graph.odometry


def pose_message(stamp, motion, row=0, frame='base_link') -> PoseWithCovarianceStamped:
    message = PoseWithCovarianceStamped(header=header(stamp, frame))
    message.pose.pose = pose_msg(motion.position[row], motion.quaternion_xyzw[row])
    message.pose.covariance = np.diag(np.repeat([1e-4, 1e-4], 3) ** 2).ravel().tolist()
    return message


def test_a_tracker_that_is_late_is_used_and_its_delay_is_found(graph) -> None:
    kind, topic = PoseWithCovarianceStamped, 'platform/external_pose'
    talk = graph.harness.talk(kind, topic, qos_profile_sensor_data)
    run, late = scripted(3.0), 0.04

    def track(row, message):
        stamp = run.legs.stamps[row]
        if row >= 20 and row % 8 == 0:
            talk.publish(pose_message(stamp, trajectory().sample(np.array([stamp - late]))))
        return message

    play(graph, run, track)
    fit = graph.node.refusals
    graph.harness.until(lambda: fit.accepted >= len(run.imu) + len(run.legs) + 70)
    settled = (found := against(run, graph)).stamps > 1.0
    assert rms(found.position[settled]) < 1e-5
    level, sentence = latest(graph, 'estimate')
    assert level == 0, sentence
    said = {
        item.key: item.value
        for status in graph.diagnostics[-1].status
        if status.name == 'state_estimator: estimate'
        for item in status.values
    }
    delay, sigma = float(said['external_delay']), float(said['external_delay_sigma'])
    assert abs(delay - late) < 4.0 * sigma < 4e-3
    assert said['external_refused'].startswith('0 of the last ')


def test_a_tracker_in_another_frame_is_refused(graph) -> None:
    kind, topic = PoseWithCovarianceStamped, 'platform/external_pose'
    talk = graph.harness.talk(kind, topic, qos_profile_sensor_data)
    run = scripted(0.1)
    play(graph, run)
    talk.publish(pose_message(0.1, trajectory().sample(np.array([0.1])), frame='map'))
    graph.harness.until(lambda: graph.node.refusals.refused == 1)
    assert 'a pose must be in base_link, got one in map' in latest(graph, 'input')[1]


def test_services_switch_off_and_begin_anew(graph) -> None:
    run, call = scripted(0.5), graph.harness.call
    play(graph, run)
    count = len(graph.odometry)
    assert count > 50
    assert call(SetBool, 'state_estimator/toggle', SetBool.Request(data=False)).success
    assert latest(graph, 'estimate') == (1, 'switched off by state_estimator/toggle')
    graph.legs.publish(leg_message(0.6, run.legs.lengths[-1]))
    graph.harness.spin(0.1)
    assert len(graph.odometry) == count
    # It would be forgotten.
    answer = call(SetPose, 'state_estimator/set_pose', SetPose.Request())
    assert (answer.success, answer.message) == (False, 'switched off by state_estimator/toggle')
    assert call(SetBool, 'state_estimator/toggle', SetBool.Request(data=True)).success
    assert latest(graph, 'estimate')[1].startswith('no estimate')
    assert call(Trigger, 'state_estimator/reset', Trigger.Request()).success
    # With a pose that is given the filter needs no six lengths to begin.
    asked = SetPose.Request(pose=pose_message(0.5, trajectory().sample(np.array([0.5]))))
    answer = call(SetPose, 'state_estimator/set_pose', asked)
    assert answer.success, answer.message
    later = scripted(1.0)
    imu = later.imu.stamps > 0.5
    for stamp, force, rate in zip(
        later.imu.stamps[imu], later.imu.specific_forces[imu], later.imu.angular_velocities[imu],
        strict=True,
    ):  # fmt: skip
        row = round((stamp - 0.005 - later.legs.stamps[0]) / 0.005)
        message = leg_message(later.legs.stamps[row], later.legs.lengths[row])
        if stamp < 0.6:
            without_a_leg(message)
        graph.legs.publish(message)
        graph.imu.publish(imu_message(stamp, force, rate))
        graph.harness.spin(0.005)
    graph.harness.spin(0.1)
    assert len(graph.odometry) > count + 50
    truth = later.truth.position[round((stamps_of(graph.odometry)[-1] - 0.0017) / 0.005)]
    position = np.array(numbers(graph.odometry[-1].pose.pose.position))
    assert np.abs(position - truth).max() < 1e-3
    asked.pose.header.frame_id = 'map'
    answer = call(SetPose, 'state_estimator/set_pose', asked)
    assert not answer.success
    assert 'got one in map' in answer.message


def test_a_given_pose_outlives_what_the_first_message_says_of_its_noise(graph) -> None:
    run = scripted(0.3)
    start = pose_message(0.0, trajectory().sample(np.array([0.0])))
    asked = SetPose.Request(pose=start)
    assert graph.harness.call(SetPose, 'state_estimator/set_pose', asked).success
    # Five lengths say nothing of a pose by themselves.
    play(graph, run, lambda _, message: without_a_leg(message))
    assert len(graph.odometry) > 30


def test_a_pose_without_a_stamp_holds_now_and_one_of_another_time_is_refused(graph) -> None:
    run = scripted(0.6)
    play(graph, run)
    asked = SetPose.Request(pose=pose_message(50.0, trajectory().sample(np.array([0.6]))))
    answer = graph.harness.call(SetPose, 'state_estimator/set_pose', asked)
    assert not answer.success
    assert 'within 1 s of the latest sample' in answer.message
    asked.pose.header.stamp = Time()
    assert graph.harness.call(SetPose, 'state_estimator/set_pose', asked).success
    count = len(graph.odometry)
    later = scripted(1.0)
    begin = len(run.legs) + len(run.imu)
    play(graph, later, lambda _, message: without_a_leg(message), begin)
    assert len(graph.odometry) > count + 30


def test_the_period_of_the_imu_is_measured_unless_it_is_said(graph) -> None:
    slow = simulate(trajectory(), 7, platform=EX800, errors=ERRORS, duration=0.5, imu_period=0.02,
                    leg_period=0.02, leg_offset=0.0017)  # fmt: skip
    play(graph, slow)
    asked = EstimatorParameters(platform='ex800')
    assert settings_from(asked, EX800, None, None, 0.02).imu_noise.period == 0.02
    assert graph.node.imu_period == pytest.approx(0.02)
    assert latest(graph, 'estimate')[0] == 0
    # The sensor is set to another rate.
    assert graph.harness.call(Trigger, 'state_estimator/reset', Trigger.Request()).success
    play(graph, scripted(0.5))
    assert graph.node.imu_period == pytest.approx(0.005)


def test_the_transform_is_the_pose() -> None:
    motion = np.array([0.1, 0.2, 1.3, 0.0, 0.6, 0.0, 0.8])
    item = transform(START_NS, motion)
    assert (item.header.frame_id, item.child_frame_id) == ('base_link', 'platform_estimate')
    assert item.header.stamp == header(0.0, '').stamp
    np.testing.assert_array_equal(numbers(item.transform.translation), motion[:3])
    turn = item.transform.rotation
    np.testing.assert_array_equal([turn.x, turn.y, turn.z, turn.w], motion[3:])
