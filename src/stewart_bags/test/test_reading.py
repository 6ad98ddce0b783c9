# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of every shape open, and what cannot be read is named."""

from __future__ import annotations

from collections.abc import Callable
import errno
import os
from pathlib import Path
import shutil
import struct
import tempfile
from types import SimpleNamespace
from typing import Any

import lz4.frame
import pytest
from stewart_bags import bag_files
from stewart_bags.bag_files import is_bag
from stewart_bags.decompression import zstd
from stewart_bags.errors import (
    DamagedBag,
    ForeignBag,
    MissingTopic,
    NoRoom,
    NotABag,
    UndecodableMessage,
    WrongType,
)
from stewart_bags.reading import Bag
from stewart_bags.salvage import Salvage
from stewart_bags.writing import BagWriter, Compression, Storage

START_NS = 1_700_000_000_000_000_000


@pytest.mark.parametrize('storage', list(Storage))
def test_missing_metadata_is_no_obstacle(make_bag: Callable[..., Path], storage: Storage) -> None:
    path = make_bag(20, storage=storage)
    (path / 'metadata.yaml').unlink()
    with Bag(path) as bag:
        assert bag.count == 22


@pytest.mark.parametrize('text', ['rosbag2_bagfile_information: [}', '[' * 3000, '[]', 'true: 1'])
def test_broken_metadata_is_no_obstacle(make_bag: Callable[..., Path], text: str) -> None:
    path = make_bag(20)
    (path / 'metadata.yaml').write_text(text)
    with Bag(path) as bag:
        assert bag.count == 22


def test_messages_compressed_one_by_one_need_no_metadata(make_bag: Callable[..., Path]) -> None:
    path = make_bag(20, storage=Storage.SQLITE3, compression=Compression.MESSAGE)
    (path / 'metadata.yaml').unlink()
    with Bag(path) as bag:
        assert sum(1 for _ in bag.messages()) == 22


@pytest.mark.parametrize('storage', list(Storage))
@pytest.mark.parametrize(
    ('suffix', 'compress'), [('.zstd', zstd.compress), ('.lz4', lz4.frame.compress)]
)
def test_single_compressed_file_opens(
    make_bag: Callable[..., Path],
    storage_file: Callable[[Path], Path],
    tmp_path: Path,
    storage: Storage,
    suffix: str,
    compress: Callable[[bytes], bytes],
) -> None:
    plain = storage_file(make_bag(20, storage=storage))
    packed = tmp_path / f'{plain.name}{suffix}'
    packed.write_bytes(compress(plain.read_bytes()))
    assert is_bag(packed)
    assert not is_bag(packed.with_name(f'table.csv{suffix}'))
    with Bag(packed) as bag:
        assert sum(1 for _ in bag.messages()) == 22


@pytest.mark.parametrize(
    ('usual', 'beside', 'chosen'), [(1, 2, 'beside'), (2, 1, 'usual'), (1 << 40, 1, 'usual')]
)
def test_a_compressed_file_is_unpacked_where_there_is_room(
    make_bag: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    usual: int,
    beside: int,
    chosen: str,
) -> None:
    path, unpacked = make_bag(5, compression=Compression.FILE), list[Path]()
    folders = {'usual': Path(tempfile.gettempdir()), 'beside': path}
    free = {folders['usual']: usual, folders['beside']: beside}

    def full(source: Path, target: Path, name: str) -> str | None:
        unpacked.append(target.parent)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(bag_files, 'decompress_file', full)
    monkeypatch.setattr(shutil, 'disk_usage', lambda at: SimpleNamespace(free=free[Path(at)]))
    with pytest.raises(NoRoom, match=r'bag\.mcap\.zstd cannot be unpacked in .* TMPDIR'):
        Bag(path)
    assert [item.parent for item in unpacked] == [folders[chosen]]
    assert sorted(item.name for item in path.iterdir()) == ['bag.mcap.zstd', 'metadata.yaml']


@pytest.mark.parametrize('storage', list(Storage))
def test_a_compressed_file_is_unpacked_beside_it_whatever_the_folder_is_called(
    make_bag: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, storage: Storage
) -> None:
    path = make_bag(5, name='run#1%', storage=storage, compression=Compression.FILE)
    usual = Path(tempfile.gettempdir())
    monkeypatch.setattr(
        shutil, 'disk_usage', lambda at: SimpleNamespace(free=int(Path(at) != usual))
    )
    with Bag(path) as bag:
        assert len(list(path.iterdir())) == 3
        assert sum(1 for _ in bag.messages()) == 6
    assert len(list(path.iterdir())) == 2


@pytest.mark.parametrize('late', [0.0, 1.5, 4.5, 20.0, 200.0])
def test_messages_without_an_index_come_in_the_order_of_time(
    tmp_path: Path, joint_state: Callable[..., Any], late: float
) -> None:
    # As rosbag2 writes with its preset fastwrite: message after message, without a summary.
    times = [START_NS + number * 5_000_000 for number in (*range(10), 9)]
    times[5] -= int(late * 5_000_000)
    with BagWriter(tmp_path / 'bag') as writer:
        for number, time_ns in enumerate(times):
            writer.write('/actuator_states', time_ns, joint_state(number))
    data = (tmp_path / 'bag' / 'bag.mcap').read_bytes()
    chunk = 8 + 9 + struct.unpack_from('<Q', data, 9)[0]
    end = chunk + 9 + struct.unpack_from('<Q', data, chunk + 1)[0]
    ends = struct.pack('<BQIBQQQI', 15, 4, 0, 2, 20, 0, 0, 0) + data[:8]
    file = tmp_path / 'fast.mcap'
    file.write_bytes(data[:chunk] + data[chunk + 9 + 40 : end] + ends)
    with Bag(file) as bag:
        messages = [(item.time_ns, int(item.message.position[0])) for item in bag.messages()]
        last = [item.time_ns for item in bag.raw(start_ns=START_NS + 40_000_000)]
        assert bag.overlap == (0.995 if late == 200.0 else 0.0)
    assert messages == sorted(zip(times, range(11), strict=True))
    assert last == [START_NS + number * 5_000_000 for number in (8, 9, 9)]


def test_parts_of_a_split_bag_are_read_in_the_order_of_time(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path], tmp_path: Path
) -> None:
    early = storage_file(make_bag(10, name='early'))
    late = tmp_path / 'late'
    with Bag(early) as bag, BagWriter(late) as writer:
        for topic, time_ns, data in bag.raw():
            writer.add_topic(topic, bag.topics[topic].msgtype)
            writer.write_raw(topic, time_ns + 45_000_000, data)
    split = tmp_path / 'split'
    split.mkdir()
    shutil.copy(storage_file(late), split / 'a_0.mcap')
    shutil.copy(early, split / 'b_1.mcap')
    with Bag(split) as bag:
        times = [item.time_ns for item in bag.raw()]
        assert bag.topics['/actuator_states'].count == 20
        assert (bag.start_ns, bag.end_ns) == (START_NS, START_NS + 90_000_000)
    assert len(times) == 22
    assert times == sorted(times)


def test_time_window_is_half_open(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(20)) as bag:
        chosen = bag.raw(
            ['/actuator_states'], start_ns=START_NS + 5_000_000, stop_ns=START_NS + 15_000_000
        )
        assert [item.time_ns - START_NS for item in chosen] == [5_000_000, 10_000_000]


@pytest.mark.parametrize('name', ['actuator_states', '/actuator_states'])
def test_topic_is_found_by_relative_name(make_bag: Callable[..., Path], name: str) -> None:
    with Bag(make_bag(5)) as bag:
        assert bag.topic(name).name == '/actuator_states'


def test_topic_in_a_namespace_is_found_if_it_is_the_only_one(tmp_path: Path) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/rig/imu/data', 'sensor_msgs/msg/Imu')
        writer.add_topic('/left/joint_states', 'sensor_msgs/msg/JointState')
        writer.add_topic('/right/joint_states', 'sensor_msgs/msg/JointState')
    with Bag(tmp_path / 'bag') as bag:
        assert bag.topic('imu/data').name == '/rig/imu/data'
        with pytest.raises(MissingTopic, match='there are /left'):
            bag.topic('joint_states')


def test_topic_of_the_same_machine_is_in_its_namespace(tmp_path: Path) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        for topic in ('/rig/imu/data', '/rig/driver/state', '/joint_commands', '/arm/pose'):
            writer.add_topic(topic, 'sensor_msgs/msg/JointState')
    with Bag(tmp_path / 'bag', {'their_pose': '/arm/pose'}) as bag:
        found = bag.beside('driver/state', 'imu/data')
        assert found is not None
        assert found.name == '/rig/driver/state'
        assert bag.beside('joint_commands', 'imu/data') is None
        assert bag.beside('pose', 'imu/data') is None
        # What was renamed is wanted from where it is.
        named = bag.beside('their_pose', 'imu/data')
        assert named is not None
        assert named.name == '/arm/pose'
        with pytest.raises(MissingTopic):
            bag.beside('driver/state', 'actuator_states')


def test_missing_topic_lists_what_there_is(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(5)) as bag, pytest.raises(MissingTopic, match='/actuator_states, /note'):
        list(bag.raw(['/actuator_state']))


def test_wrong_type_names_both(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(5)) as bag, pytest.raises(WrongType, match=r'String, expected .*Imu'):
        bag.topic('note', 'sensor_msgs/msg/Imu')


def test_undecodable_message_is_named(tmp_path: Path) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/imu/data', 'sensor_msgs/msg/Imu')
        writer.write_raw('/imu/data', 5, b'\0\1\0\0short')
    with (
        Bag(tmp_path / 'bag') as bag,
        pytest.raises(UndecodableMessage, match=r'message 1 of /imu/data at 5 ns is no .*Imu'),
    ):
        list(bag.messages())


@pytest.mark.parametrize(
    ('name', 'content', 'reason'),
    [
        ('nothing', None, 'does not exist'),
        ('text.txt', b'hello', 'expected a directory or a file named'),
    ],
)
def test_what_is_no_bag_is_said(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NotABag, match=reason):
        Bag(path)


def test_directory_without_storage_is_no_bag(tmp_path: Path) -> None:
    with pytest.raises(NotABag, match=r'no \.mcap and no \.db3'):
        Bag(tmp_path)


def test_file_named_by_the_metadata_has_to_be_there(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    path = make_bag(5)
    storage_file(path).rename(path / 'other.mcap')
    with pytest.raises(DamagedBag, match=r'names bag\.mcap, not there'):
        Bag(path)
    with Salvage(path) as found:
        assert len(list(found.messages())) == 6
        assert [str(item) for item in found.damages] == ['bag.mcap at byte 0: it is not there']


def test_metadata_may_name_what_no_file_can_be_called(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    path, name = make_bag(5), 'a' * 300
    text = (path / 'metadata.yaml').read_text()
    (path / 'metadata.yaml').write_text(text.replace(storage_file(path).name, name))
    with pytest.raises(DamagedBag, match=f'names {name}, not there'):
        Bag(path)


def test_a_damaged_part_is_named_and_the_whole_bag_is_to_be_rescued(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    path = make_bag(5)
    part = storage_file(path)
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(DamagedBag, match=rf'damaged \({part.name}: .*stewart bag {path} --rescue'):
        Bag(path)


def test_an_mcap_without_a_profile_is_not_called_damaged(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    path = storage_file(make_bag(5))
    path.write_bytes(path.read_bytes().replace(b'ros2', b'ros9', 1))
    with pytest.raises(ForeignBag, match=r'not of ROS 2 messages alone \(Profile is not ros2'):
        Bag(path)
    with Salvage(path) as found:
        assert len(list(found.messages())) == 6


@pytest.mark.parametrize('name', ['empty.mcap', 'empty.db3', 'empty.mcap.zstd'])
def test_empty_file_is_damaged(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(DamagedBag):
        Bag(tmp_path / name)


@pytest.mark.parametrize('storage', list(Storage))
def test_file_without_permission_is_an_os_error(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path], storage: Storage
) -> None:
    if os.geteuid() == 0:
        pytest.skip('root reads everything')
    path = make_bag(5, storage=storage)
    storage_file(path).chmod(0)
    with pytest.raises(PermissionError):
        Bag(path)


def test_database_with_a_journal_was_not_closed(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    file = storage_file(make_bag(5, storage=Storage.SQLITE3))
    file.with_name(f'{file.name}-wal').write_bytes(b'something')
    with pytest.raises(DamagedBag, match='was not closed'):
        Bag(file)


def test_corrupt_chunk_ends_with_count_and_time(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    path = make_bag(2000, compression=Compression.CHUNK)
    file = storage_file(path)
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = bytes(2000)
    file.write_bytes(data)
    with Bag(path) as bag, pytest.raises(DamagedBag) as caught:
        list(bag.raw())
    assert caught.value.count > 100
    assert caught.value.time_ns is not None


def test_recordings_of_rosbag2_are_read(others_bags: Path) -> None:
    for name in ('rosbag2_talker.mcap', 'rosbag2_talker.db3'):
        with Bag(others_bags / name) as bag:
            # The database embeds unfinished definitions, which contradict its messages.
            texts = [item.message.data for item in bag.messages(['/topic'])]
            assert texts == [f'Hello, world! {number}' for number in range(10)]
            logged = [item.message.msg for item in bag.messages(['/rosout'])]
            assert logged == [f"Publishing: 'Hello, world! {number}'" for number in range(10)]


def test_recording_of_a_real_robot_is_read(others_bags: Path) -> None:
    with Bag(others_bags / 'husky_imu_odom_90s_jazzy_mcap') as bag:
        assert bag.count == 3827
        assert bag.duration == pytest.approx(89.990303735, abs=1e-9)
        assert sum(1 for _ in bag.messages()) == 3827
