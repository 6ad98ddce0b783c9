# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A bag may have any number of names: a sentence about it has the first, and how many more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import pickle
from typing import Any

import pytest
from stewart_bags.errors import DamagedBag, MissingJoints, MissingTopic
from stewart_bags.reading import Bag
from stewart_bags.salvage import SalvageReport
from stewart_bags.series import read_joints
from stewart_bags.topics import Damage
from stewart_bags.writing import BagWriter
import yaml

NAMES = [f'part_{number:02d}' for number in range(20)]


def test_topics_and_joints_that_are_there() -> None:
    wanted = MissingTopic(Path('bag'), 'platform', [*NAMES, 'platforms'])
    assert 'there are platforms, part_' in str(wanted)
    assert str(wanted).endswith(' and 9 more')
    assert str(MissingJoints(Path('bag'), '/joints', ['leg_1', 'leg_6'], NAMES)).endswith(
        'they are part_00, part_01, part_02, part_03, part_04, part_05, part_06, part_07, part_08,'
        ' part_09, part_10, part_11 and 8 more'
    )


def test_errors_survive_the_way_from_another_process() -> None:
    for error in (
        DamagedBag(Path('bag'), 'cut', count=2),
        MissingTopic(Path('bag'), '/a', ['/b']),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_damages() -> None:
    damages = tuple(Damage(Path('bag.mcap'), number, 'cut') for number in range(1000))
    report = str(SalvageReport({}, None, None, damages, None, 1))
    assert report.startswith('0 messages recovered; bag.mcap at byte 0: cut; bag.mcap at byte 1:')
    assert report.endswith('; bag.mcap at byte 11: cut and 988 more')


def test_joints_and_frames_of_a_series(tmp_path: Path, joint_state: Callable[..., Any]) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        for number in range(20):
            message = joint_state(number)
            message.header.frame_id = NAMES[number]
            writer.write('/actuator_states', number, message)
    with Bag(tmp_path / 'bag') as bag:
        series = read_joints(bag, 'actuator_states', ['leg_1', *NAMES])
    assert [item.detail for item in series.findings if item.detail.endswith('11 and 8 more')] == [
        ', '.join(NAMES[:12]) + ' and 8 more'
    ] * 2


def test_files_that_are_not_there(make_bag: Callable[..., Path]) -> None:
    path = make_bag(5) / 'metadata.yaml'
    document = yaml.safe_load(path.read_text('utf-8'))
    files = [f'{name}.mcap' for name in NAMES]
    document['rosbag2_bagfile_information']['relative_file_paths'] = files
    path.write_text(yaml.safe_dump(document), 'utf-8')
    with pytest.raises(DamagedBag, match=r'part_11\.mcap and 8 more, not there'):
        Bag(path.parent)
