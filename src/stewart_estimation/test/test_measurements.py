# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording may hold: steps of a clock, stamps that nobody set, poses that are none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
import json
from typing import Any

import numpy as np
import pytest
from recorded_bags import LATE, Spoil, write_bag
from srs_simulated import SimulatedRun
from stewart_estimation.verbs.measurements import ANGULAR_VELOCITY, SPECIFIC_FORCE
from stewart_tables.columns import TIME
from stewart_tables.csv_tables import read_table, write_table
from typed_verbs import NOISE, simulated_run, stewart, write_tables

WORDS = ['--platform', 'srs', *NOISE, '--json']


@pytest.fixture(scope='module')
def run() -> SimulatedRun:
    return simulated_run()


@pytest.fixture(scope='module')
def recorded(run, tmp_path_factory) -> Callable[..., str]:
    """Write a bag, once for all that want it spoilt by the same function."""
    return cache(
        lambda spoil, **options: write_bag(
            run, tmp_path_factory.mktemp('bags') / 'run', spoil, **options
        )
    )


def unspoilt(item: Any) -> Any:
    return item


@cache
def set_forward(seconds: int, topics: str = '') -> Spoil:
    """Let the clock step in the middle."""

    def step(item: Any) -> Any:
        if item.number >= 1600 and topics in item.topic:
            item.message.header.stamp.sec += seconds
            item.late = seconds * 10**9
        return item

    return step


def without_stamps(topic: str, *numbers: int) -> Spoil:
    """Leave messages without a stamp."""

    def unstamped(item: Any) -> Any:
        if item.topic == topic and item.number in numbers:
            item.message.header.stamp.sec = item.message.header.stamp.nanosec = 0
        return item

    return unstamped


def test_a_clock_that_was_set_forward_a_little_is_a_gap_that_is_told(recorded, capsys) -> None:
    assert stewart(['estimate', recorded(set_forward(500)), *WORDS]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said['gaps'] == ['began anew after a gap of 500 s at 508.00 s']
    assert said['consistent']


@pytest.mark.parametrize('topic', ['/imu/data', '/actuator_states'])
@pytest.mark.parametrize('options', [[], ['--lenient']])
def test_a_clock_that_was_set_forward_for_long_is_refused_with_topic_and_time(
    recorded, topic, options, capsys
) -> None:
    path = recorded(set_forward(90_000_000, topic))
    assert stewart(['estimate', path, *WORDS, *options]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f'{topic.lstrip("/")}: no sample for 9e+07 s after 7.9')
    assert 'the clock was set forward' in said


@pytest.mark.parametrize('options', [[], ['--lenient']])
def test_a_clock_that_was_set_back_is_refused(recorded, options, capsys) -> None:
    assert stewart(['estimate', recorded(set_forward(-3)), *WORDS, *options]) == 1
    assert 'time that was recorded twice, 2.99' in capsys.readouterr().err


def test_a_table_whose_clock_was_set_forward_for_long_is_refused(run, tmp_path, capsys) -> None:
    imu, legs = write_tables(run, tmp_path)
    columns = (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY)
    values = read_table(imu, columns).take(columns)
    values[800:, 0] += 4000.0
    write_table(imu, columns, values)
    words = ['--imu', str(imu), '--legs', str(legs), *WORDS]
    assert stewart(['estimate', *words]) == 1
    assert 'IMU: no sample for 4000.01 s after 7.99 s' in capsys.readouterr().err


@pytest.mark.parametrize('number', [0, 600])
@pytest.mark.parametrize('topic', ['/imu/data', '/actuator_states'])
def test_messages_without_a_stamp_are_left_out_and_counted(
    recorded, topic, number, capsys
) -> None:
    at = number + (topic == '/actuator_states')
    assert stewart(['estimate', recorded(without_stamps(topic, at, at + 2)), *WORDS]) == 0
    found = capsys.readouterr()
    assert found.err == (
        f'{topic}: 2 messages without a stamp, message {number // 2 + 1} first, are left out\n'
    )
    said = json.loads(found.out)
    assert said['duration_s'] < 16.0
    assert said['consistent']


POSES = '/platform/external_pose'


def spoilt_pose(change: Callable[[Any, Any], None], numbers: range | None = None) -> Spoil:
    """Change poses from outside, by their number in the bag."""

    def spoil(item: Any) -> Any:
        if item.topic == POSES and (numbers is None or item.number in numbers):
            pose = item.message.pose
            change(item.message, getattr(pose, 'pose', pose))
        return item

    return spoil


def not_a_number(message: Any, pose: Any) -> None:
    pose.position.x = float('nan')


def no_rotation(message: Any, pose: Any) -> None:
    pose.orientation.x = pose.orientation.y = pose.orientation.z = pose.orientation.w = 0.0


def no_covariance(message: Any, pose: Any) -> None:
    message.pose.covariance = np.full(36, np.inf)


@pytest.mark.parametrize(
    'change', [pytest.param(not_a_number, marks=pytest.mark.slow), no_rotation, no_covariance]
)
def test_poses_of_a_tracker_that_lost_the_target_are_left_out_and_counted(
    recorded, change, capsys
) -> None:
    path = recorded(spoilt_pose(change, range(1000)), tracker='PoseWithCovarianceStamped')
    assert stewart(['estimate', path, *WORDS]) == 0
    found = capsys.readouterr()
    said = json.loads(found.out)
    assert said['external_poses_recorded'] == 300
    left_out = said['external_poses_recorded'] - said['external_poses']
    assert found.err.startswith(f'{POSES}: ')
    assert 30 < int(found.err.split(' ')[1]) <= left_out < int(found.err.split(' ')[1]) + 10
    assert 'message 1 first, have no stamp, a number' in found.err
    assert abs(said['external_delay_s'] - LATE) < 4.0 * said['external_delay_sigma_s']


def test_poses_without_a_covariance_are_taken_with_the_assumed_one(recorded, capsys) -> None:
    path = recorded(unspoilt, tracker='PoseStamped')
    assert stewart(['estimate', path, *WORDS]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said['external_poses'] > 250
    assert said['external_poses_refused'] == 0
    assert abs(said['external_delay_s'] - LATE) < 4.0 * said['external_delay_sigma_s'] < 1e-2


@pytest.mark.parametrize(
    ('shift', 'said'),
    [
        (1_000_000, 'stamped 1e+06 to 1.00002e+06 s, the legs 0.0029 to 15.99'),
        (-1_000_000, 'stamped -999999 to -999984 s'),
    ],
)
def test_poses_of_another_clock_are_a_failure(recorded, shift, said, capsys) -> None:
    def other_clock(message: Any, pose: Any) -> None:
        message.header.stamp.sec += shift

    path = recorded(spoilt_pose(other_clock), tracker='PoseWithCovarianceStamped')
    for verb in ('estimate', 'consistency'):
        assert stewart([verb, path, *WORDS]) == 1
        found = capsys.readouterr()
        assert f'{POSES}: none of 300 recorded poses was met: {said}' in found.err
        assert 'are they from another clock?' in found.err
    assert json.loads(found.out)['rows'] == 1599


def test_poses_in_another_frame_are_a_failure(recorded, capsys) -> None:
    def framed(message: Any, pose: Any) -> None:
        message.header.frame_id = 'map'

    path = recorded(spoilt_pose(framed, range(2000, 2020)), tracker='PoseStamped')
    assert stewart(['estimate', path, *WORDS]) == 1
    said = capsys.readouterr().err
    assert f'{POSES}: poses must be in base_link, got some in map: all are left out' in said
    assert f'{POSES}: none of 300 recorded poses was met, for none can be used' in said


def elsewhere(name: str) -> Spoil:
    """Move the poses to another topic."""

    def spoil(item: Any) -> Any:
        item.topic = name if item.topic == POSES else item.topic
        return item

    return spoil


def test_poses_are_those_beside_the_legs_or_the_ones_that_are_named(recorded, capsys) -> None:
    path = recorded(elsewhere(f'/other{POSES}'), tracker='PoseStamped')
    assert stewart(['estimate', path, *WORDS]) == 0
    assert 'external_poses_recorded' not in json.loads(capsys.readouterr().out)
    assert stewart(['estimate', path, *WORDS, '--pose-topic', f'/other{POSES}']) == 0
    assert json.loads(capsys.readouterr().out)['external_poses'] > 250
    assert stewart(['estimate', path, *WORDS, '--pose-topic', '/vicon/pose']) == 1
    assert 'no topic /vicon/pose' in capsys.readouterr().err


def test_a_pose_topic_of_another_type_is_left_out_unless_it_is_named(recorded, capsys) -> None:
    path = recorded(unspoilt, tracker='PointStamped')
    assert stewart(['estimate', path, *WORDS]) == 0
    said = f'{path}: {POSES} carries geometry_msgs/msg/PointStamped, expected geometry_msgs/'
    assert capsys.readouterr().err.startswith(f'left out: {said}')
    assert stewart(['estimate', path, *WORDS, '--pose-topic', POSES]) == 1
    assert capsys.readouterr().err.startswith(said)


def test_two_programs_with_three_legs_each_are_called_so(recorded, capsys) -> None:
    def half(item: Any) -> Any:
        if item.topic.endswith('actuator_states'):
            legs, kept = item.message, slice(0, 3) if item.number % 4 < 2 else slice(3, 6)
            legs.name, legs.position = legs.name[kept], legs.position[kept]
        return item

    assert stewart(['estimate', recorded(half), *WORDS]) == 1
    assert 'several programs publish a part each' in capsys.readouterr().err
