# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read what nodes have said of themselves in a bag; of a running rig, see test_rig_verbs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stewart_bags.writing import BagWriter
from stewart_bringup.main import main
from stewart_bringup.statuses import Status, worst_first

pytestmark = pytest.mark.installed

# When, who, how bad, and what was said.
SAID = (
    (0.0, 'driver: cycle', 0, '400 cycles'),
    (0.5, 'a/imu: sensor', 3, 'no data yet'),
    (1.0, 'driver: cycle', 0, '401 cycles'),
    (1.5, 'a/imu: sensor', 0, '200 Hz'),
    (2.0, 'driver: cycle', 2, '7 cycles were missed'),
    (3.0, 'driver: cycle', 0, '400 cycles'),
)

BEGIN_NS = 1_760_000_000_000_000_000


@pytest.fixture
def bag(tmp_path: Path) -> str:
    """Write what was said into a bag."""
    path = tmp_path / 'bag'
    with BagWriter(path) as writer:
        types = writer.typestore.types
        header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](0, 0), '')
        pair = types['diagnostic_msgs/msg/KeyValue']('late [ms]', '3')
        for time, name, level, text in SAID:
            status = types['diagnostic_msgs/msg/DiagnosticStatus'](level, name, text, 'x', [pair])
            message = types['diagnostic_msgs/msg/DiagnosticArray'](header, [status])
            writer.write('/diagnostics', BEGIN_NS + round(1e9 * time), message)
    return str(path)


def test_a_bag_shows_each_change_of_level(bag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['diagnostics', bag]) == 0
    assert capsys.readouterr().out.splitlines() == [
        '    0.000 s  OK     driver: cycle: 400 cycles',
        '    0.500 s  STALE  a/imu: sensor: no data yet',
        '    1.500 s  OK     a/imu: sensor: 200 Hz',
        '    2.000 s  ERROR  driver: cycle: 7 cycles were missed',
        '    3.000 s  OK     driver: cycle: 400 cycles',
    ]


def test_one_namespace_of_a_bag_with_its_numbers(
    bag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['diagnostics', bag, '--namespace', '/a', '--values']) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        '    0.500 s  STALE  a/imu: sensor: no data yet',
        '         late [ms]: 3',
    ]


def test_a_program_reads_a_bag(bag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['diagnostics', bag, '--json']) == 0
    assert json.loads(capsys.readouterr().out)[3] == {
        'time_s': 2.0,
        'level': 'ERROR',
        'name': 'driver: cycle',
        'hardware_id': 'x',
        'message': '7 cycles were missed',
        'values': {'late [ms]': '3'},
    }


def test_a_bag_without_reports_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BagWriter(tmp_path / 'bag'):
        pass
    assert main(['diagnostics', str(tmp_path / 'bag')]) == 1
    assert 'diagnostics' in capsys.readouterr().err


def test_the_worst_comes_first() -> None:
    found = [Status(level, name, '', '', {}) for level, name in (('OK', 'a'), ('ERROR', 'b'))]
    assert [item.name for item in worst_first([*found, found[0]._replace(name='c')])] == [
        *('b', 'a', 'c')
    ]
