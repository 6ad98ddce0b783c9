# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From whatever is left of a recording, every message that is there is saved, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import os
from pathlib import Path
import signal
import sqlite3
import struct
import subprocess

from hypothesis import given, settings, strategies
import pytest
from stewart_bags.errors import BagError, BagExists, NotABag, WriteFailed
from stewart_bags.mcap_walk import (
    CHANNEL,
    DATA_END,
    McapWalk,
    MESSAGE,
    MESSAGE_HEAD,
    RECORD,
    SCHEMA,
)
from stewart_bags.reading import Bag
from stewart_bags.salvage import Salvage, salvage, SalvageReport
from stewart_bags.sqlite3_walk import Sqlite3Walk
from stewart_bags.writing import ALLOWED, BagWriter, Compression, Storage

COMBINATIONS = [(storage, item) for storage in Storage for item in ALLOWED[storage]]
RunPython = Callable[..., subprocess.CompletedProcess[str]]
START_NS = 1_700_000_000_000_000_000
# The bags are flushed after a hundred; with the notes that is so many messages.
CHUNK = 110


def contents(bag: Path) -> list[tuple[str, int, bytes]]:
    with Bag(bag) as whole:
        return [tuple(item) for item in whole.raw()]


def rescued(path: Path) -> list[tuple[str, int, bytes]]:
    try:
        with Salvage(path) as found:
            return [tuple(item) for item in found.messages()]
    except NotABag:
        return []


@pytest.mark.parametrize(('storage', 'compression'), COMBINATIONS)
def test_whole_bag_is_saved_wholly(
    make_bag: Callable[..., Path], tmp_path: Path, storage: Storage, compression: Compression
) -> None:
    path = make_bag(500, storage=storage, compression=compression)
    report = salvage(path, tmp_path / 'new')
    assert report.damages == ()
    assert report.counts == {'/actuator_states': 500, '/note': 50}
    assert (report.first_ns, report.last_ns) == (START_NS, START_NS + 499 * 5_000_000)
    assert 'nothing was unreadable' in str(report)
    assert contents(tmp_path / 'new') == contents(path)


@pytest.mark.parametrize(
    ('last_ns', 'said'),
    [
        (START_NS + 250_999_999, ', until 2023-11-14 22:13:20.250 UTC; '),
        (20_000_000_000, '; '),
    ],
    ids=['of the clock', 'simulated time'],
)
def test_the_end_is_told_as_a_date_where_it_is_one(last_ns: int, said: str) -> None:
    report = SalvageReport({'/note': 3}, last_ns - 2_000_000_000, last_ns, (), None, 1)
    assert str(report) == f'3 messages recovered over 2.000 s{said}nothing was unreadable'


@pytest.mark.parametrize(('storage', 'compression'), COMBINATIONS)
def test_file_cut_anywhere_gives_what_lies_before_the_cut(
    make_bag: Callable[..., Path],
    storage_file: Callable[[Path], Path],
    tmp_path: Path,
    storage: Storage,
    compression: Compression,
) -> None:
    bag = make_bag(1000, storage=storage, compression=compression)
    messages = contents(bag)
    expected = Counter(messages)
    file = storage_file(bag)
    data = file.read_bytes()
    cut_file = tmp_path / file.name
    whole_file_is_one_frame = compression is Compression.FILE
    # Definitions and topics come first.
    head = 32_768
    rows = [*range(0, 200, 7), *range(200, len(data), max(1, len(data) // 30)), len(data)]
    for cut in rows:
        cut_file.write_bytes(data[:cut])
        found = rescued(cut_file)
        assert not Counter(found) - expected, f'invented at {cut}'
        if not whole_file_is_one_frame:
            least = (cut - head) / len(data) * len(messages) - CHUNK
            assert len(found) >= least, f'only {len(found)} of {least:.0f} at {cut}'
    assert Counter(rescued(cut_file)) == expected


@settings(max_examples=80)
@given(data=strategies.data())
@pytest.mark.parametrize('storage', list(Storage))
def test_corrupt_bytes_never_end_in_anything_but_a_bag_error(
    tmp_path_factory: pytest.TempPathFactory,
    original: dict[Storage, Path],
    storage: Storage,
    data: strategies.DataObject,
) -> None:
    whole = original[storage].read_bytes()
    place = data.draw(strategies.integers(0, len(whole) - 1))
    junk = data.draw(strategies.binary(min_size=1, max_size=64))
    path = tmp_path_factory.mktemp('corrupt') / original[storage].name
    path.write_bytes(whole[:place] + junk + whole[place + len(junk) :])
    try:
        with Bag(path) as bag:
            for _ in bag.messages():
                pass
    except BagError:
        pass
    found = rescued(path)
    assert len(found) <= 330


@pytest.fixture(scope='module')
def original(tmp_path_factory: pytest.TempPathFactory) -> dict[Storage, Path]:
    """One file of 330 messages for each storage."""
    from stewart_bags.definitions import jazzy_typestore

    text = jazzy_typestore().types['std_msgs/msg/String']
    files = {}
    for storage in Storage:
        path = tmp_path_factory.mktemp('original') / 'bag'
        with BagWriter(path, storage=storage) as writer:
            for number in range(330):
                writer.write('/note', number * 5_000_000, text('x' * (number % 50)))
                if number % 20 == 0:
                    writer.flush()
        files[storage] = next(item for item in path.iterdir() if item.suffix != '.yaml')
    return files


def test_report_says_where_the_file_becomes_unreadable(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path], tmp_path: Path
) -> None:
    bag = make_bag(1000)
    file = storage_file(bag)
    file.write_bytes(file.read_bytes()[:200_000])
    report = salvage(bag, tmp_path / 'new')
    (damage,) = report.damages
    assert 0 < damage.offset < 200_000
    assert 'the file ends inside a record' in str(report)
    assert f'{report.count} messages recovered' in str(report)
    assert report.count == len(contents(tmp_path / 'new')) > 300


def test_hole_in_the_middle_costs_only_its_chunk(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path], tmp_path: Path
) -> None:
    bag = make_bag(1000, compression=Compression.CHUNK)
    file = storage_file(bag)
    data = bytearray(file.read_bytes())
    # Behind the heads of chunk and frame, so that lengths stay what they are.
    middle = data.index(b'zstd', len(data) // 2) + 400
    data[middle : middle + 50] = b'\xff' * 50
    file.write_bytes(data)
    report = salvage(bag, tmp_path / 'new')
    assert len(report.damages) == 1
    assert 1100 - 2 * CHUNK <= report.count < 1100


def test_a_flipped_bit_in_the_first_chunk_of_a_closed_file_costs_only_that(
    original: dict[Storage, Path], tmp_path: Path
) -> None:
    data = bytearray(original[Storage.MCAP].read_bytes())
    data[data.index(b'/note')] ^= 1
    (tmp_path / 'flipped.mcap').write_bytes(data)
    report = salvage(tmp_path / 'flipped.mcap', tmp_path / 'new')
    assert 'the checksum of a chunk is wrong' in str(report)
    assert (report.counts, report.count) == ({'/note': 329}, 329)
    # What the summary says counts only where it makes sense.
    (start,) = struct.unpack_from('<Q', data, len(data) - 28)
    for place, size in ((start + 4, 40), (len(data) - 28, 8)):
        broken = data[:place] + b'\xff' * size + data[place + size :]
        (tmp_path / 'flipped.mcap').write_bytes(broken)
        assert rescued(tmp_path / 'flipped.mcap') == []


@pytest.mark.parametrize('storage', list(Storage))
def test_messages_larger_than_a_page_are_saved_whole_or_not_at_all(
    tmp_path: Path, storage_file: Callable[[Path], Path], storage: Storage
) -> None:
    bag = tmp_path / 'bag'
    # Around the sizes at which sqlite begins to spread a row over pages, and far beyond.
    sizes = [*range(4000, 4120, 3), 30_000, 200_000, *range(8100, 8300, 20), 100]
    with BagWriter(bag, storage=storage) as writer:
        text = writer.typestore.types['std_msgs/msg/String']
        for number, size in enumerate(sizes):
            writer.write('/note', number, text(chr(97 + number % 26) * size))
            writer.flush()
    expected = contents(bag)
    file = storage_file(bag)
    assert rescued(file) == expected
    data = file.read_bytes()
    for cut in range(10_000, len(data), 30_011):
        file.write_bytes(data[:cut])
        found = rescued(file)
        assert not set(found) - set(expected)
        assert len(found) >= sum(1 for _ in range(0, cut - 220_000, 8_300))


@pytest.mark.parametrize(('size', 'reserved'), [(0, 0), (3, 0), (100, 0), (1000, 0), (512, 33)])
def test_database_with_an_impossible_page_size_gives_nothing(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path], size: int, reserved: int
) -> None:
    file = storage_file(make_bag(50, storage=Storage.SQLITE3))
    data = bytearray(file.read_bytes())
    data[16:18], data[20] = size.to_bytes(2, 'big'), reserved
    file.write_bytes(data)
    with Salvage(file) as found:
        assert list(found.messages()) == []
        assert found.damages


def test_rows_that_go_round_in_circles_cost_no_more_than_sound_ones(
    tmp_path: Path, storage_file: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    bag = tmp_path / 'bag'
    with BagWriter(bag, storage=Storage.SQLITE3) as writer:
        text = writer.typestore.types['std_msgs/msg/String']
        for number in range(40):
            writer.write('/note', number, text('x' * 20_000))
    path = storage_file(bag)
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[16:18], 'big')
    count = len(content) // page
    leaves = {number for number in range(1, count + 1) if content[(number - 1) * page] == 0x0D}
    for number in set(range(2, count + 1)) - leaves:
        # Whatever else these bytes are: as an overflow page, it is followed by itself.
        content[(number - 1) * page : (number - 1) * page + 4] = number.to_bytes(4, 'big')
    path.write_bytes(content)
    reads, read = Counter[int](), Sqlite3Walk._read
    monkeypatch.setattr(
        Sqlite3Walk, '_read', lambda self, number: (reads.update([number]), read(self, number))[1]
    )
    walk = Sqlite3Walk(path)
    assert list(walk.messages()) == []
    assert len(walk.damages) == 40
    assert all('twice to this one' in damage.reason for damage in walk.damages)
    assert reads.total() < 2 * count + 40


def test_message_of_an_unknown_topic_is_reported(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path], tmp_path: Path
) -> None:
    file = storage_file(make_bag(20, storage=Storage.SQLITE3))
    with sqlite3.connect(file) as database:
        database.execute("DELETE FROM topics WHERE name = '/note'")
    database.close()
    report = salvage(file, tmp_path / 'new')
    assert report.counts == {'/actuator_states': 20}
    assert 'unknown topic 2' in str(report)


def test_qos_that_is_none_is_a_damage(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    file = storage_file(make_bag(50, storage=Storage.SQLITE3))
    with sqlite3.connect(file) as database:
        database.execute("UPDATE topics SET offered_qos_profiles = '5' WHERE name = '/note'")
    with Salvage(file) as found:
        assert {topic for topic, _, _ in found.messages()} == {'/actuator_states'}
        assert any('a row makes no sense' in damage.reason for damage in found.damages)


def test_output_that_exists_is_refused(make_bag: Callable[..., Path], tmp_path: Path) -> None:
    bag = make_bag(5)
    with pytest.raises(BagExists):
        salvage(bag, bag)


def test_a_full_disk_leaves_no_half_of_a_rescued_bag(
    make_bag: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, room = make_bag(), iter(range(3))

    def write(writer: BagWriter, *_: object) -> None:
        if next(room, None) is None:
            raise WriteFailed(writer.path, 3, 'No space left on device')

    monkeypatch.setattr(BagWriter, 'write_raw', write)
    with pytest.raises(WriteFailed, match=r'new: cannot write on after 3 messages'):
        salvage(source, tmp_path / 'new')
    assert [item.name for item in tmp_path.iterdir() if 'new' in item.name] == []


def test_text_file_is_no_bag(tmp_path: Path) -> None:
    (tmp_path / 'x.mcap').write_text('hello')
    with Salvage(tmp_path / 'x.mcap') as found:
        assert list(found.messages()) == []
    assert 'does not begin as an mcap file does' in str(found.damages[0])


def test_topic_without_definition_is_reported(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path], tmp_path: Path
) -> None:
    file = storage_file(make_bag(20, storage=Storage.SQLITE3))
    with sqlite3.connect(file) as database:
        database.execute('DELETE FROM message_definitions')
        database.execute("UPDATE topics SET type = 'lost_msgs/msg/Lost' WHERE name = '/note'")
    database.close()
    report = salvage(file, tmp_path / 'new')
    assert report.counts == {'/actuator_states': 20}
    assert '/note is left out' in str(report)


KILLED = """
    import os, signal, sys
    from stewart_bags.writing import BagWriter, Storage
    writer = BagWriter(sys.argv[1], storage=Storage(sys.argv[2]))
    text = writer.typestore.types['std_msgs/msg/String']
    for number in range(int(sys.argv[3])):
        writer.write('/note', number * 5_000_000, text(f'note {number}'))
        if number % 100 == 0:
            writer.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize('storage', list(Storage))
@pytest.mark.parametrize('count', [1, 150, pytest.param(2345, marks=pytest.mark.slow)])
def test_killed_writer_keeps_what_was_flushed(
    tmp_path: Path, storage: Storage, count: int, run_python: RunPython
) -> None:
    run = run_python(KILLED, tmp_path / 'bag', storage.value, count)
    assert run.returncode == -signal.SIGKILL
    report = salvage(tmp_path / 'bag', tmp_path / 'new')
    assert count - 100 <= report.count <= count
    assert report.count >= 1
    with Bag(tmp_path / 'new') as bag:
        texts = [item.message.data for item in bag.messages()]
    assert texts == [f'note {number}' for number in range(report.count)]


CRASHED = """
    import os, signal, sqlite3, sys
    database = sqlite3.connect(sys.argv[1], isolation_level=None)
    database.execute(f'PRAGMA journal_mode = {sys.argv[2]}')
    database.execute('PRAGMA cache_size = 10')
    (last,) = database.execute('SELECT max(id) FROM messages').fetchone()
    def add(first, count):
        database.execute('BEGIN')
        for row in range(first, first + count):
            database.execute('INSERT INTO messages SELECT ?, topic_id, timestamp + ?, data '
                             'FROM messages WHERE id = 1', (row, row))
    add(last + 1, 300)
    database.execute('COMMIT')
    add(last + 301, 300)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize('mode', ['WAL', 'DELETE'])
def test_journal_that_sqlite_left_is_used(
    make_bag: Callable[..., Path],
    storage_file: Callable[[Path], Path],
    tmp_path: Path,
    mode: str,
    run_python: RunPython,
) -> None:
    bag = make_bag(100, storage=Storage.SQLITE3)
    file = storage_file(bag)
    assert run_python(CRASHED, file, mode).returncode == -signal.SIGKILL
    before = {item.name: item.read_bytes() for item in bag.iterdir()}
    assert any(name.endswith(('-wal', '-journal')) for name in before)
    report = salvage(bag, tmp_path / 'new')
    # What was committed, not what was half written.
    assert report.count == 110 + 300
    assert {item.name: item.read_bytes() for item in bag.iterdir()} == before


def test_recording_of_rosbag2_is_saved(others_bags: Path, tmp_path: Path) -> None:
    for name in ('rosbag2_talker.mcap', 'rosbag2_talker.db3'):
        report = salvage(others_bags / name, tmp_path / name)
        assert report.counts == {'/topic': 10, '/rosout': 10, '/parameter_events': 0}
        assert contents(tmp_path / name) == contents(others_bags / name)


def test_unreadable_directory_is_an_os_error(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip('root reads everything')
    tmp_path.chmod(0)
    try:
        with pytest.raises(OSError, match='Permission'):
            Salvage(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def as_mcap_of_others(path: Path, encoding: str, schema: int, count: int) -> None:
    """Write an mcap file of two channels: /note as ROS 2 has it, /other as described."""

    def text(value: str) -> bytes:
        return struct.pack('<I', len(value)) + value.encode()

    def record(opcode: int, body: bytes) -> bytes:
        return RECORD.pack(opcode, len(body)) + body

    def channel(number: int, schema: int, topic: str, encoding: str) -> bytes:
        head = struct.pack('<HH', number, schema)
        return record(CHANNEL, head + text(topic) + text(encoding) + text(''))

    def message(number: int) -> bytes:
        return record(MESSAGE, MESSAGE_HEAD.pack(number, 0, 5, 5) + b'\0\1\0\0\3\0\0\0hi\0')

    definition = struct.pack('<H', 1) + text('std_msgs/msg/String') + text('ros2msg')
    path.write_bytes(
        McapWalk.MAGIC
        + record(1, text('') + text(''))
        + record(SCHEMA, definition + text('string data'))
        + channel(1, 1, '/note', 'cdr')
        + channel(2, schema, '/other', encoding)
        + message(1)
        + count * message(2)
        + record(DATA_END, struct.pack('<I', 0))
    )


@pytest.mark.parametrize(
    ('encoding', 'schema', 'why'),
    [
        ('cdr', 0, '/other has the unknown schema 0'),
        ('json', 1, "/other has the encoding 'json', not cdr"),
    ],
)
def test_a_channel_that_is_left_out_is_one_damage(
    tmp_path: Path, encoding: str, schema: int, why: str
) -> None:
    as_mcap_of_others(tmp_path / 'x.mcap', encoding, schema, 500)
    report = salvage(tmp_path / 'x.mcap', tmp_path / 'new')
    assert report.counts == {'/note': 1}
    assert [damage.reason for damage in report.damages] == [
        f'500 messages of channel 2 left out: {why}'
    ]
