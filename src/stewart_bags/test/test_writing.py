# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is written can be read, by us, by rosbags and as rosbag2 documents it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
import os
from pathlib import Path
import sqlite3
import subprocess
from typing import Any

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import Reader
from rosbags.typesys.store import Typestore
from stewart_bags.errors import BagExists, DamagedBag, UnknownType
from stewart_bags.reading import Bag
from stewart_bags.salvage import Salvage
from stewart_bags.storages import FlushedMcap, LARGEST_CHUNK
from stewart_bags.writing import (
    ALLOWED,
    BagWriter,
    Compression,
    CompressionNotAllowed,
    Storage,
)
import yaml

RunPython = Callable[..., subprocess.CompletedProcess[str]]

START_NS = 1_700_000_000_000_000_000
COMBINATIONS = [(storage, item) for storage in Storage for item in ALLOWED[storage]]
LATCHED = Qos(
    QosHistory.KEEP_LAST,
    1,
    QosReliability.RELIABLE,
    QosDurability.TRANSIENT_LOCAL,
    QosTime(9223372036, 854775807),
    QosTime(9223372036, 854775807),
    QosLiveliness.AUTOMATIC,
    QosTime(9223372036, 854775807),
    False,
)


@pytest.mark.parametrize(('storage', 'compression'), COMBINATIONS)
def test_what_is_written_is_read(
    make_bag: Callable[..., Path], storage: Storage, compression: Compression
) -> None:
    path = make_bag(200, storage=storage, compression=compression)
    with Bag(path) as bag:
        assert bag.topics['/actuator_states'].count == 200
        assert bag.count == 220
        assert bag.duration == pytest.approx(199 * 0.005)
        messages = list(bag.messages(['actuator_states']))
    assert [item.time_ns for item in messages] == [START_NS + n * 5_000_000 for n in range(200)]
    for number, item in enumerate(messages):
        assert item.stamp_ns == item.time_ns
        np.testing.assert_array_equal(item.message.position, number + np.arange(6) / 10)


@pytest.mark.parametrize(('storage', 'compression'), COMBINATIONS)
def test_rosbags_reads_the_same(
    make_bag: Callable[..., Path], storage: Storage, compression: Compression
) -> None:
    path = make_bag(50, storage=storage, compression=compression)
    with AnyReader([path]) as reader, Bag(path) as bag:
        theirs = [(item.topic, time_ns, data) for item, time_ns, data in reader.messages()]
        ours = [tuple(item) for item in bag.raw()]
    assert theirs == ours


def test_mcap_messages_are_the_bytes_that_rosbags_writes(
    make_bag: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = make_bag(8000, name='one')
    monkeypatch.delattr(FlushedMcap, 'write')
    theirs = make_bag(8000, name='two')
    one, other = (next(path.glob('*.mcap')).read_bytes() for path in (ours, theirs))
    assert len(one) > LARGEST_CHUNK
    assert one.replace(b'one', b'two') == other


def test_metadata_is_what_rosbag2_documents(make_bag: Callable[..., Path]) -> None:
    path = make_bag(30)
    document = yaml.safe_load((path / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    assert document['version'] == 9
    assert document['ros_distro'] == 'jazzy'
    assert document['storage_identifier'] == 'mcap'
    assert document['relative_file_paths'] == ['bag.mcap']
    assert document['message_count'] == 33
    assert document['duration']['nanoseconds'] == 29 * 5_000_000
    assert document['starting_time']['nanoseconds_since_epoch'] == START_NS
    assert document['files'][0]['message_count'] == 33
    # yaml-cpp reads this as a map, so it must not be null.
    assert isinstance(document['custom_data'], dict)
    topics = document['topics_with_message_count']
    assert {item['topic_metadata']['name'] for item in topics} == {'/actuator_states', '/note'}
    assert all(
        item['topic_metadata']['type_description_hash'].startswith('RIHS01_') for item in topics
    )


@pytest.mark.parametrize('text', ['1e3', '-2E-05', '7', '2026-01-01', 'yes', 'a: b # c', '', '~'])
def test_custom_data_stay_texts_for_readers_of_either_yaml(tmp_path: Path, text: str) -> None:
    with BagWriter(tmp_path / 'bag', custom_data={'note': text}):
        pass
    written = yaml.safe_load((tmp_path / 'bag' / 'metadata.yaml').read_text('utf-8'))
    assert written['rosbag2_bagfile_information']['custom_data']['note'] == text
    # rosbags reads YAML 1.2.
    with Reader(tmp_path / 'bag') as reader:
        assert reader.storage.metadata.custom is not None
        assert reader.storage.metadata.custom['note'] == text


def test_storages_hold_the_labels_that_rosbag2_writes(make_bag: Callable[..., Path]) -> None:
    path = make_bag(30)
    document = yaml.safe_load((path / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    content = (path / 'bag.mcap').read_bytes()
    for item in document['topics_with_message_count']:
        type_hash = item['topic_metadata']['type_description_hash'].encode()
        # Strings of mcap have their length before them: 15 and 71 characters here.
        entry = b'\x0f\0\0\0topic_type_hash\x47\0\0\0' + type_hash
        # Once in front of the first message, once in the summary.
        assert content.count(entry) == 2
    assert b'ros_distro: jazzy' in content
    assert b'ros_distro: rosbags' not in content

    path = make_bag(30, name='database', storage=Storage.SQLITE3)
    with closing(sqlite3.connect(path / 'database.db3')) as database:
        ((metadata,),) = database.execute('SELECT metadata FROM metadata')
    assert yaml.safe_load(metadata)['ros_distro'] == 'jazzy'


@pytest.mark.parametrize('storage', list(Storage))
def test_offered_qos_survives(tmp_path: Path, storage: Storage) -> None:
    with BagWriter(tmp_path / 'bag', storage=storage) as writer:
        writer.add_topic('/driver/state', 'stewart_interfaces/msg/DriverState', qos=[LATCHED])
    text = (tmp_path / 'bag' / 'metadata.yaml').read_text()
    offered = yaml.safe_load(text)['rosbag2_bagfile_information']['topics_with_message_count'][0]
    assert offered['topic_metadata']['offered_qos_profiles'][0]['durability'] == 'transient_local'
    with Bag(tmp_path / 'bag') as bag:
        assert bag.topics['/driver/state'].qos == (LATCHED,)


def test_own_interfaces_are_embedded(tmp_path: Path, store: Typestore) -> None:
    kind = store.types['stewart_interfaces/msg/TrackingError']
    vector = store.types['geometry_msgs/msg/Vector3']
    header = store.types['std_msgs/msg/Header'](
        store.types['builtin_interfaces/msg/Time'](1, 2), 'base_link'
    )
    error = kind(header, vector(1.0, 2.0, 3.0), vector(0.0, 0.0, 0.1), np.arange(6.0))
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/platform/tracking_error', 5, error)
    # AnyReader knows no types but those in the bag.
    with AnyReader([tmp_path / 'bag']) as reader:
        connection, _, data = next(reader.messages())
        message: Any = reader.deserialize(data, connection.msgtype)
    np.testing.assert_array_equal(message.strokes, np.arange(6.0))


@pytest.mark.parametrize('storage', Storage)
def test_blocks_are_written_like_single_messages(tmp_path: Path, storage: Storage) -> None:
    """Across several chunks, by their times, and the earlier block first at one time."""
    rng = np.random.default_rng(3)
    sizes = {'/a': 400, '/b': 3000, '/c': 70_000}
    times = {topic: np.sort(rng.integers(0, 200, 120)) for topic in sizes}
    data = {topic: [rng.bytes(4 * size) for _ in range(120)] for topic, size in sizes.items()}
    for name in ('singly', 'blocks'):
        with BagWriter(tmp_path / name / 'bag', storage=storage) as writer:
            for topic in sizes:
                writer.add_topic(topic, 'std_msgs/msg/String')
            for some in (slice(0, 50), slice(50, 120)):
                if name == 'blocks':
                    writer.write_blocks([(t, times[t][some], data[t][some]) for t in sizes])
                    continue
                single = [
                    (time, place, topic, message)
                    for place, topic in enumerate(sizes)
                    for time, message in zip(times[topic][some], data[topic][some], strict=True)
                ]
                for time, _, topic, message in sorted(single, key=lambda item: item[:2]):
                    writer.write_raw(topic, int(time), message)
            counts = writer.counts
        assert counts == dict.fromkeys(sizes, 120)
    one, other = (
        {
            item.name: item.read_bytes()
            for item in (tmp_path / name / 'bag').iterdir()
            if storage is Storage.MCAP or item.suffix == '.yaml'
        }
        for name in ('singly', 'blocks')
    )
    assert one == other
    with Bag(tmp_path / 'blocks' / 'bag') as bag:
        found = [(item.topic, item.time_ns, bytes(item.data)) for item in bag.raw()]
    with Bag(tmp_path / 'singly' / 'bag') as bag:
        assert found == [(item.topic, item.time_ns, bytes(item.data)) for item in bag.raw()]


def test_taken_path_is_refused_and_kept(make_bag: Callable[..., Path]) -> None:
    path = make_bag(5)
    before = {item: item.read_bytes() for item in path.iterdir()}
    with pytest.raises(BagExists, match='exists already'):
        BagWriter(path)
    assert {item: item.read_bytes() for item in path.iterdir()} == before


def test_dangling_link_counts_as_taken(tmp_path: Path) -> None:
    (tmp_path / 'bag').symlink_to(tmp_path / 'nowhere')
    with pytest.raises(BagExists):
        BagWriter(tmp_path / 'bag')


@pytest.mark.parametrize(
    ('storage', 'compression'),
    [(Storage.MCAP, Compression.MESSAGE), (Storage.SQLITE3, Compression.CHUNK)],
)
def test_compression_that_rosbag2_cannot_read_is_refused(
    tmp_path: Path, storage: Storage, compression: Compression
) -> None:
    with pytest.raises(CompressionNotAllowed, match='allowed are none'):
        BagWriter(tmp_path / 'bag', storage=storage, compression=compression)
    assert not (tmp_path / 'bag').exists()


def test_unknown_type_names_where_it_was_looked_for(tmp_path: Path) -> None:
    with BagWriter(tmp_path / 'bag') as writer, pytest.raises(UnknownType, match=r'Nothing\.msg'):
        writer.add_topic('/x', 'nobody_msgs/msg/Nothing')


@pytest.mark.parametrize('storage', list(Storage))
def test_bag_without_messages_is_a_bag(tmp_path: Path, storage: Storage) -> None:
    with BagWriter(tmp_path / 'bag', storage=storage) as writer:
        writer.add_topic('/imu/data', 'sensor_msgs/msg/Imu')
    with Bag(tmp_path / 'bag') as bag:
        assert bag.count == 0
        assert bag.duration == 0.0
        assert list(bag.messages()) == []


def test_block_that_fails_leaves_a_closed_bag(
    tmp_path: Path, joint_state: Callable[..., Any]
) -> None:
    def fail() -> None:
        with BagWriter(tmp_path / 'bag') as writer:
            writer.write('/actuator_states', START_NS, joint_state(0))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with Bag(tmp_path / 'bag') as bag:
        assert bag.count == 1


@pytest.mark.parametrize('storage', list(Storage))
def test_what_was_flushed_is_there_before_the_bag_is_closed(
    tmp_path: Path, joint_state: Callable[..., Any], storage: Storage
) -> None:
    with BagWriter(tmp_path / 'bag', storage=storage) as writer:
        for number in range(50):
            writer.write('/actuator_states', START_NS + number * 5_000_000, joint_state(number))
        writer.flush()
        for number in range(50, 60):
            writer.write('/actuator_states', START_NS + number * 5_000_000, joint_state(number))
        with Salvage(tmp_path / 'bag') as salvage:
            assert len(list(salvage.messages())) == 50


def test_bag_that_is_still_written_is_told_from_a_whole_one(
    tmp_path: Path, joint_state: Callable[..., Any]
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/actuator_states', START_NS, joint_state(0))
        writer.flush()
        with pytest.raises(DamagedBag, match='--rescue'):
            Bag(tmp_path / 'bag')


@pytest.mark.parametrize('storage', list(Storage))
def test_closed_bag_is_on_the_disk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    joint_state: Callable[..., Any],
    storage: Storage,
) -> None:
    synced, fsync = {}, os.fsync

    def traced(descriptor: int) -> None:
        place = Path(os.readlink(f'/proc/self/fd/{descriptor}'))
        # Under whatever name it is written, it is the same file afterwards.
        status = os.fstat(descriptor)
        synced[status.st_ino] = place.read_bytes() if place.is_file() else None
        fsync(descriptor)

    monkeypatch.setattr(os, 'fsync', traced)
    with BagWriter(tmp_path / 'bag', storage=storage) as writer:
        writer.write('/actuator_states', START_NS, joint_state(0))
    for item in (tmp_path / 'bag').iterdir():
        assert synced[item.stat().st_ino] == item.read_bytes()
    assert {(tmp_path / 'bag').stat().st_ino, tmp_path.stat().st_ino} <= set(synced)


FILLING = """
    import resource, signal, sys
    from stewart_bags.errors import WriteFailed
    from stewart_bags.writing import BagWriter, Storage
    import numpy as np
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    writer = BagWriter(sys.argv[1], storage=Storage(sys.argv[2]))
    writer.add_topic('/blob', 'std_msgs/msg/String')
    kind = writer.typestore.types['std_msgs/msg/String']
    try:
        for number in range(100_000):
            writer.write('/blob', number * 5_000_000, kind(f'{number:6d}' + 'x' * 2000))
            if number % 100 == 99:
                writer.flush()
    except WriteFailed as error:
        print(error)
    else:
        sys.exit('the disk never was full')
    try:
        writer.write('/blob', 0, kind('more'))
    except WriteFailed as error:
        assert str(error).count('cannot write on') == 1
    writer.close()
"""


@pytest.mark.parametrize('storage', list(Storage))
def test_full_disk_is_one_sentence_and_keeps_what_was_flushed(
    tmp_path: Path, storage: Storage, run_python: RunPython
) -> None:
    run = run_python(FILLING, tmp_path / 'bag', storage.value)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ''
    assert 'cannot write on after' in run.stdout
    with Salvage(tmp_path / 'bag') as salvage:
        numbers = [int(item.data[8:14]) for item in salvage.messages()]
    assert len(numbers) >= 100
    assert numbers == list(range(len(numbers)))


NO_ROOM = """
    import resource, signal, sys
    from stewart_bags.errors import WriteFailed
    from stewart_bags.writing import BagWriter, Storage
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        with BagWriter(sys.argv[1], storage=Storage(sys.argv[2])) as writer:
            writer.write('/note', 1, writer.typestore.types['std_msgs/msg/String']('here'))
            writer.flush()
    except WriteFailed as error:
        print(error)
    # Who measures coverage writes at the end.
    resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
"""


@pytest.mark.parametrize('storage', list(Storage))
def test_a_disk_that_is_full_from_the_beginning_keeps_its_name_free(
    tmp_path: Path, storage: Storage, run_python: RunPython
) -> None:
    run = run_python(NO_ROOM, tmp_path / 'bag', storage.value)
    assert (run.returncode, run.stderr) == (0, '')
    assert run.stdout.endswith(')\n')  # with the reason, and no advice to rescue it
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_goes_as_sizes_are_added_up_is_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with BagWriter(tmp_path / 'bag', storage=Storage.SQLITE3) as writer:
        size = writer.size
        assert size > 0
        there = [*writer.path.iterdir(), writer.path / 'bag.db3-journal']
        monkeypatch.setattr(Path, 'glob', lambda *_: iter(there))
        monkeypatch.setattr(Path, 'is_file', lambda _: True)
        assert writer.size == size


def test_what_sqlite_holds_in_memory_has_an_end(tmp_path: Path) -> None:
    """A copy of a long recording is written in one go, without a flush."""
    with BagWriter(tmp_path / 'bag', storage=Storage.SQLITE3) as writer:
        writer.add_topic('/note', 'std_msgs/msg/String')
        for number in range(60):
            writer.write_raw('/note', START_NS + number, bytes(2**20))
        assert writer.size > 40 * 2**20
