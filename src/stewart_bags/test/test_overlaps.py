# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A bag that goes over the same time twice can be cut where it goes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
import json
from pathlib import Path
import shutil
from typing import Any

import pytest
from stewart_bags.errors import BagError
from stewart_bags.overlaps import in_parts
from stewart_bags.reading import Bag
from stewart_bags.series import read_joints
from stewart_bags.topics import RawMessage
from stewart_bags.verbs import bag as bag_verb
from stewart_bags.writing import BagWriter, Storage
from typed_words import typed

run = partial(typed, bag_verb)
START_NS = 1_700_000_000_000_000_000
PERIOD_NS = 5_000_000
Record = Callable[..., Path]


@pytest.fixture
def record(tmp_path: Path, joint_state: Callable[..., Any]) -> Record:
    """Write joints and notes at 200 Hz; from messages on, the clock is off by so much more [s]."""

    def write(offsets: Sequence[tuple[int, float]], storage: Storage = Storage.MCAP) -> Path:
        path = tmp_path / 'recorded'
        with BagWriter(path, storage=storage) as writer:
            text = writer.typestore.types['std_msgs/msg/String']
            for number in range(1200):
                off = sum(by for first, by in offsets if number >= first)
                time_ns = START_NS + number * PERIOD_NS + round(1e9 * off)
                writer.write('/actuator_states', time_ns, joint_state(number, time_ns))
                writer.write('/note', time_ns, text(str(number)))
                if number % 100 == 0:
                    writer.flush()
        return path

    return write


@pytest.mark.parametrize('storage', list(Storage))
def test_each_part_can_be_saved(
    record: Record, storage: Storage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record([(400, -1.0), (900, -0.6)], storage)
    for part, (first, end) in enumerate([(0, 400), (400, 900), (900, 1200)], 1):
        new = tmp_path / f'part_{part}'
        assert run(path, '--rescue', new, '--part', part) == 0
        assert f', part {part} of 3;' in capsys.readouterr().err
        with Bag(new) as bag:
            assert not bag.overlap
            notes = [int(item.message.data) for item in bag.messages(['note'])]
            assert notes == list(range(first, end))
            assert bag.topics['/actuator_states'].count == end - first
    assert run(path, '--rescue', tmp_path / 'all') == 0
    assert '3 parts of the same time, of which --part N saves one' in capsys.readouterr().err
    with pytest.raises(BagError, match='0 messages recovered, part 4 of 3'):
        run(path, '--rescue', tmp_path / 'part_4', '--part', 4)
    with pytest.raises(BagError, match='--part goes with --rescue'):
        run(path, '--part', 1)


def test_check_and_refusals_name_the_command(
    record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record([(800, -2.0)])
    assert run(path, '--check') == 0
    said = capsys.readouterr().out
    assert f'{path}: time that was recorded twice (1.995 s' in said
    assert '--rescue NEW --part 1`' in said
    assert run(path, '--check', '--json') == 0
    assert json.loads(capsys.readouterr().out)['overlap_s'] == 1.995
    with Bag(path) as bag:
        assert (
            '`stewart bag BAG --rescue NEW --part 1`'
            in read_joints(bag, 'actuator_states').overlap
        )


@pytest.mark.parametrize('offsets', [[], [(500, 3.0)], [(500, -0.3)]])
def test_what_goes_forward_is_one_part(
    record: Record, offsets: list[tuple[int, float]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(offsets)
    assert run(path, '--check') == 0
    assert 'twice' not in capsys.readouterr().out
    assert run(path, '--rescue', path.with_name('new'), '--part', 1) == 0
    assert capsys.readouterr().err.splitlines()[-1].startswith('2400 messages recovered')


def test_a_copy_in_the_folder_is_a_part(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    path = make_bag(400)
    shutil.copy(storage_file(path), path / 'the_same.mcap')
    assert run(path, '--rescue', path.with_name('one'), '--part', 2) == 0
    with Bag(path.with_name('one')) as bag:
        assert (bag.count, bag.overlap) == (440, 0.0)


def test_what_waited_in_queues_belongs_to_what_was_before() -> None:
    def messages() -> Iterator[tuple[int, RawMessage]]:
        """Yield legs each 10 ms and an IMU that is written late, with the parts they are of."""
        for number in range(400):
            for topic, late in (('legs', 0), ('imu', 3), ('slow', 0)):
                if topic == 'slow' and number % 90:
                    continue
                made = number - late
                seconds = made * 0.01 - 2.0 * (made >= 250)
                yield 1 + (made >= 250), RawMessage(topic, round(seconds * 1e9), b'')

    expected = list(messages())
    assert list(in_parts(item for _, item in expected)) == expected
