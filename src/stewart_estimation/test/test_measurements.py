# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording may hold that is none: steps of a clock, stamps that nobody set."""

from __future__ import annotations

from collections.abc import Callable
import json
from typing import Any

import pytest
from recorded_bags import Spoil, write_bag
from srs_simulated import SimulatedRun
from stewart_estimation.verbs.measurements import ANGULAR_VELOCITY, SPECIFIC_FORCE
from stewart_tables.columns import TIME
from stewart_tables.csv_tables import read_table, write_table
from typed_verbs import NOISE, simulated_run, stewart, write_tables

WORDS = ['--platform', 'srs', *NOISE, '--json']


@pytest.fixture(scope='module')
def run() -> SimulatedRun:
    return simulated_run()


@pytest.fixture
def recorded(run, tmp_path) -> Callable[..., str]:
    return lambda spoil, **options: write_bag(run, tmp_path / 'run', spoil, **options)


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
