# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verbs that need no ROS, and the command lines of those that do."""

from __future__ import annotations

from collections.abc import Callable
import errno
import io
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from stewart_bags.errors import BagError, BagExists, WriteFailed
from stewart_bags.reading import Bag
from stewart_bags.rows import RowMessages
from stewart_bags.salvage import Salvage
from stewart_bags.verbs import bag as bag_verb
from stewart_bags.verbs import play, record
from stewart_bags.verbs.bag import NothingRecovered
from stewart_bags.writing import BagWriter, Storage
from stewart_tables.progress import LiveLine
from typed_words import typed

START_NS = 1_700_000_000_000_000_000


def test_bag_lists_topics_with_counts_and_rates(
    make_bag: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(bag_verb, make_bag(201)) == 0
    first, *topics = capsys.readouterr().out.splitlines()
    assert '1.000 s, 222 messages' in first
    assert topics[0].split() == [
        '/actuator_states',
        '201',
        '201.0',
        'Hz',
        'sensor_msgs/msg/JointState',
    ]


def test_check_names_what_is_odd(
    tmp_path: Path, joint_state: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        for number in range(20):
            stamp_ns = START_NS + (number if number < 10 else number + 40) * 5_000_000
            writer.write('/actuator_states', START_NS + number, joint_state(number, stamp_ns))
        types: Any = writer.typestore.types
        for number in (2, 1):
            stamp = types['builtin_interfaces/msg/Time'](number, 0)
            header = types['std_msgs/msg/Header'](stamp, '')
            temperature = types['sensor_msgs/msg/Temperature'](header, 20.0, 0.0)
            writer.write('/imu/temperature', START_NS + 100 - number, temperature)
    assert typed(bag_verb, tmp_path / 'bag', '--check') == 0
    out = capsys.readouterr().out
    assert '/actuator_states: gap at 1 sample, first at index 10 (up to 0.205 s' in out
    assert '/imu/temperature: stamp goes backwards at 1 sample' in out
    assert typed(bag_verb, tmp_path / 'bag', '--check', '--json') == 0
    gap, foreign, backwards = json.loads(capsys.readouterr().out)['findings']
    assert 'up to 0.205 s' in gap.pop('detail')
    assert gap == {'topic': '/actuator_states', 'kind': 'gap', 'samples': 1, 'first': 10}
    assert (foreign['kind'], backwards['kind']) == ('clock', 'backwards')


@pytest.mark.parametrize(
    ('msgtype', 'odd'),
    [
        ('diagnostic_msgs/msg/DiagnosticArray', ['unset']),
        ('stewart_interfaces/msg/DriverState', ['unset', 'backwards']),
        ('sensor_msgs/msg/Temperature', ['unset', 'backwards', 'duplicate']),
    ],
)
def test_check_calls_nothing_odd_that_is_how_a_topic_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], msgtype: str, odd: list[str]
) -> None:
    stamps = np.array([5, 5, 3, 0]) * 1_000_000_000
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/told', msgtype)
        made = RowMessages(writer.typestore, msgtype, ()).serialise(stamps, np.empty((4, 0)))
        for number, data in enumerate(made):
            writer.write_raw('/told', number, data)
    assert typed(bag_verb, tmp_path / 'bag', '--check', '--json') == 0
    found = json.loads(capsys.readouterr().out)['findings']
    assert [item['kind'] for item in found] == odd


def test_check_goes_on_after_a_topic_that_cannot_be_decoded(
    tmp_path: Path, joint_state: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/corrupt', 'sensor_msgs/msg/JointState')
        writer.write_raw('/corrupt', START_NS, b'\0\1\0\0junk')
        writer.add_topic('/note', 'std_msgs/msg/String')
        writer.write_raw('/note', START_NS, b'\0\1\0\0')
        for number in (0, 1, 1):
            writer.write('/actuator_states', START_NS + number, joint_state(number))
    assert typed(bag_verb, tmp_path / 'bag', '--check') == 0
    out = capsys.readouterr().out
    assert '/corrupt: not examined at 1 sample, first at index 0 (message 1 of /corrupt' in out
    assert '/note: not examined at 1 sample, first at index 0 (message 1 of /note' in out
    assert '/actuator_states: stamp repeats at 1 sample' in out


def test_check_takes_joints_that_have_no_names_at_first(
    tmp_path: Path, joint_state: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        for number in range(3):
            message = joint_state(number)
            nameless = type(message)(message.header, [], *[message.position[:0]] * 3)
            writer.write('/nameless', START_NS + number, nameless)
            late = message if number else nameless
            writer.write('/actuator_states', START_NS + number, late)
    assert typed(bag_verb, tmp_path / 'bag', '--check') == 0
    out = capsys.readouterr().out
    assert '/actuator_states: names are missing at 1 sample, first at index 0' in out
    assert '/nameless' not in out.split('JointState')[-1]


def test_json_is_the_list_of_topics(
    make_bag: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_bag(201)
    assert typed(bag_verb, path, '--json') == 0
    said = json.loads(capsys.readouterr().out)
    assert said['topics'][0] == {
        'name': '/actuator_states',
        'type': 'sensor_msgs/msg/JointState',
        'messages': 201,
    }
    assert said['duration_s'] == pytest.approx(1.0)
    assert (said['messages'], said['findings']) == (222, None)
    with pytest.raises(BagError, match='--json goes with --check'):
        typed(bag_verb, path, '--json', '--csv', 'actuator_states')


def test_csv_holds_a_topic_and_nothing_else(
    make_bag: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(bag_verb, make_bag(3), '--csv', 'actuator_states') == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.startswith('time_s,stroke_1_m,stroke_2_m,')
    assert lines[1].startswith('0.005,1,1.1,')
    assert len(lines) == 3


@pytest.mark.parametrize('storage', list(Storage))
def test_rescue_makes_a_bag_of_a_torso(
    make_bag: Callable[..., Path],
    storage_file: Callable[[Path], Path],
    tmp_path: Path,
    storage: Storage,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = make_bag(500, storage=storage)
    file = storage_file(path)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert typed(bag_verb, path, '--rescue', tmp_path / 'new', '--storage', storage.value) == 0
    assert 'messages recovered' in capsys.readouterr().err
    assert typed(bag_verb, tmp_path / 'new') == 0
    assert list((tmp_path / 'new').glob('*.mcap' if storage is Storage.MCAP else '*.db3'))


def test_rescue_of_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / 'x.mcap').touch()
    with pytest.raises(NothingRecovered, match='0 messages recovered'):
        typed(bag_verb, tmp_path / 'x.mcap', '--rescue', tmp_path / 'new')
    assert not (tmp_path / 'new').exists()


@pytest.mark.parametrize(
    ('verb', 'words', 'message'),
    [
        (play, ['bag', '--rate', '0'], "expected a number above 0, got '0'"),
        (play, ['bag', '--rate', 'fast'], "expected a number above 0, got 'fast'"),
        (play, ['bag', '--start', '-1'], "expected a number not below 0, got '-1'"),
        (play, ['bag', '--clock', 'nan'], "expected a number not below 0, got 'nan'"),
        (play, ['bag', '--stamps', 'later'], 'invalid choice'),
        (record, ['--storage', 'paper'], 'invalid choice'),
        (record, ['--duration', '0'], "expected a number above 0, got '0'"),
        (bag_verb, [], 'required: bag'),
        (bag_verb, ['bag', '--check', '--csv', 'x'], 'not allowed with'),
    ],
)
def test_unusable_command_lines_are_refused(
    verb: ModuleType, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        typed(verb, *words)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.ros
def test_record_refuses_a_path_that_is_taken(tmp_path: Path) -> None:
    pytest.importorskip('rclpy')
    with pytest.raises(BagExists):
        typed(record, '-o', tmp_path)


@pytest.mark.ros
def test_record_in_simulated_time_ends_and_tells_if_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('rclpy')
    monkeypatch.setattr(record, 'CLOCK_PATIENCE', 0.1)
    assert typed(record, '-o', tmp_path / 'new', '--use-sim-time', '--duration', '0.5') == 0
    assert capsys.readouterr().err.count('nobody publishes /clock') == 1


@pytest.mark.ros
def test_a_full_disk_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('rclpy')

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, 'fsync', full)
    # Its own parameters are published, and are messages as any other.
    with pytest.raises(WriteFailed, match='No space left on device'):
        typed(record, '-o', tmp_path / 'new', '/parameter_events', '--duration', '60')
    assert 'No space' not in capfd.readouterr().err


@pytest.mark.ros
def test_play_refuses_a_start_that_no_clock_reaches(make_bag: Callable[..., Path]) -> None:
    pytest.importorskip('rclpy')
    from stewart_tables.errors import ParameterError

    with pytest.raises(ParameterError, match=r'start_offset: .* from 0 to 1e\+09, got 2000000000'):
        typed(play, make_bag(5), '--start', '2e9')


def test_progress_stays_silent_where_nobody_watches() -> None:
    stream = io.StringIO()
    progress = LiveLine(stream)
    progress.show('half')
    progress.end()
    assert stream.getvalue() == ''


def test_progress_overwrites_its_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, 'isatty', lambda: True)
    progress = LiveLine(stream)
    progress.show('half')
    progress.show('whole')
    progress.end()
    assert stream.getvalue() == '\r\033[Khalf\r\033[Kwhole\n'


# Nothing is played before the recorder has found both topics, however long that takes.
HEARD = """
import time
from stewart_bags.nodes.player import Player
play_once = Player._play_once
def play_when_heard(self):
    while not all(item.subscribers for item in self._publishers_by_topic.values()):
        time.sleep(0.01)
    play_once(self)
Player._play_once = play_when_heard
"""


def last_number(output: Path) -> float:
    """Return the number of the last message of the legs in a bag that is being recorded."""
    from rclpy.serialization import deserialize_message
    from sensor_msgs.msg import JointState

    with Salvage(output) as salvage:
        legs = [item.data for item in salvage.messages() if item.topic == '/actuator_states']
    return float(deserialize_message(bytes(legs[-1]), JointState).position[0]) if legs else -1.0


@pytest.mark.ros
@pytest.mark.parametrize(
    'number', [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_record_and_play_end_well_and_sum_up(
    make_bag: Callable[..., Path], tmp_path: Path, number: signal.Signals
) -> None:
    pytest.importorskip('rclpy')
    lines = (
        'import argparse, sys; from stewart_bags.verbs import {0}; p = argparse.ArgumentParser()\n'
    )
    lines += '{1}{0}.add_arguments(p); sys.exit({0}.main(p.parse_args()))'

    def start(verb: str, *words: object, first: str = '') -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, '-c', lines.format(verb, first), *map(str, words)],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
            stderr=subprocess.PIPE,
            text=True,
        )

    output = tmp_path / 'new'
    with start('record', 'actuator_states', '/note', 'never', '-o', output) as recorder:
        limit = time.monotonic() + 90.0
        while not output.exists() and time.monotonic() < limit:
            time.sleep(0.05)
        with start('play', make_bag(400), first=HEARD) as player:
            _, played = player.communicate(timeout=120.0)
        # The last one may still be on its way to the recorder, or in its hands.
        limit = time.monotonic() + 60.0
        while last_number(output) != 399.0 and time.monotonic() < limit:
            time.sleep(0.05)
        recorder.send_signal(number)
        _, recorded = recorder.communicate(timeout=90.0)
    assert player.returncode == 0, played
    assert '440 messages played' in played
    assert recorder.returncode == 0, recorded
    assert '/actuator_states' in recorded
    assert recorded.endswith('stewart record: nothing came on /never\n')
    with Bag(output) as bag:
        numbers = [item.message.position[0] for item in bag.messages(['actuator_states'])]
    assert numbers == [float(number) for number in range(400)]
