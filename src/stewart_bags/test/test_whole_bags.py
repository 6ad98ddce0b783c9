# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A bag is there as a whole or not at all, whoever ends its writing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import subprocess

import pytest
from rosbags.rosbag2 import Reader
from stewart_bags.errors import BagExists, BagInWork
from stewart_bags.reading import Bag
from stewart_bags.whole_bags import whole_bag
from stewart_bags.writing import ALLOWED, BagWriter, Compression, Storage
import yaml

RunPython = Callable[..., subprocess.CompletedProcess[str]]

COMBINATIONS = [(storage, item) for storage in Storage for item in ALLOWED[storage]]
START_NS = 1_700_000_000_000_000_000

ENDED = """
    from pathlib import Path
    import signal, sys
    from stewart_bags.whole_bags import whole_bag
    # A test under nohup hands its ignoring on.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with whole_bag(Path(sys.argv[1])) as writer:
        writer.write('/note', 1, writer.typestore.types['std_msgs/msg/String']('half'))
        writer.flush()
        signal.raise_signal(signal.Signals[sys.argv[2]])
"""


def write(path: Path, text: str = 'here') -> None:
    with whole_bag(path) as writer:
        note(writer, text)


def note(writer: BagWriter, text: str) -> None:
    writer.write('/note', START_NS, writer.typestore.types['std_msgs/msg/String'](text))


def notes(path: Path) -> list[str]:
    with Bag(path) as bag:
        return [item.message.data for item in bag.messages()]


@pytest.mark.parametrize('name', ['SIGTERM', 'SIGHUP'])
def test_termination_leaves_nothing(tmp_path: Path, run_python: RunPython, name: str) -> None:
    run = run_python(ENDED, tmp_path / 'bag', name)
    assert 'KeyboardInterrupt' in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(
    tmp_path: Path, run_python: RunPython
) -> None:
    path = tmp_path / 'bag'
    run_python(ENDED, path, 'SIGKILL')
    assert [item.name for item in tmp_path.iterdir()] == ['~bag']
    write(path)
    assert notes(path) == ['here']
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_of_somebody_else_stays(tmp_path: Path) -> None:
    (tmp_path / '~bag').mkdir()
    (tmp_path / '~bag' / 'mine').write_text('keep')
    write(tmp_path / 'bag')
    assert notes(tmp_path / 'bag') == ['here']
    assert [item.name for item in (tmp_path / '~bag').iterdir()] == ['mine']


def test_of_two_runs_the_second_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    path = tmp_path / 'bag'
    with whole_bag(path) as writer:
        note(writer, 'first')
        with pytest.raises(BagInWork, match='bag: another run is writing it'):
            write(path, 'second')
    assert notes(path) == ['first']
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_taken_in_the_meantime_is_kept(tmp_path: Path) -> None:
    path = tmp_path / 'bag'

    def write_late() -> None:
        with whole_bag(path):
            path.mkdir()

    with pytest.raises(BagExists):
        write_late()
    assert list(tmp_path.iterdir()) == [path]
    assert list(path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named_by_the_bag(tmp_path: Path) -> None:
    (tmp_path / '~bag').touch()
    with pytest.raises(FileExistsError) as caught:
        write(tmp_path / 'bag')
    assert caught.value.filename == str(tmp_path / 'bag')


@pytest.mark.parametrize(('storage', 'compression'), COMBINATIONS)
@pytest.mark.parametrize(
    'name', ['#1', 'what?', "it's: 1", '[old] run', '%x', 'a\tb', '~', '1e3', 'yes']
)
def test_a_bag_may_have_any_name_of_a_folder(
    tmp_path: Path, name: str, storage: Storage, compression: Compression
) -> None:
    with whole_bag(tmp_path / name, storage, compression=compression) as writer:
        writer.write('/note', START_NS, writer.typestore.types['std_msgs/msg/String']('here'))
    with Bag(tmp_path / name) as bag:
        assert [message.data for _, _, message in bag.messages()] == ['here']
    document = yaml.safe_load((tmp_path / name / 'metadata.yaml').read_text('utf-8'))
    information = document['rosbag2_bagfile_information']
    (file,) = information['relative_file_paths']
    assert (tmp_path / name / file).is_file()
    assert [item['path'] for item in information['files']] == [file]
    assert [item.name for item in tmp_path.iterdir()] == [name]
    if storage is Storage.SQLITE3:
        # rosbags would look elsewhere for some of these names.
        return
    with Reader(tmp_path / name) as reader:
        assert reader.message_count == 1
