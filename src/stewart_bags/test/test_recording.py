# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording never holds up who receives, and counts what it loses."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import threading
import time
from typing import Any

import pytest
from stewart_bags.errors import UnknownType, WriteFailed
from stewart_bags.reading import Bag
from stewart_bags.recording import Recording
from stewart_bags.salvage import Salvage
from stewart_bags.writing import BagWriter, Storage

TEXT = 'std_msgs/msg/String'


def packed(text: str) -> bytes:
    body = text.encode() + b'\0'
    return b'\0\1\0\0' + len(body).to_bytes(4, 'little') + body


@pytest.mark.parametrize('storage', list(Storage))
def test_everything_put_is_written(tmp_path: Path, storage: Storage) -> None:
    recording = Recording(BagWriter(tmp_path / 'bag', storage=storage))
    recording.add_topic('/note', TEXT)
    for number in range(5000):
        recording.put('/note', number, packed(f'note {number}'))
    recording.close()
    assert recording.counts == {'/note': 5000}
    assert recording.lost == {'/note': 0}
    with Bag(tmp_path / 'bag') as bag:
        assert [item.message.data for item in bag.messages()] == [
            f'note {number}' for number in range(5000)
        ]


@pytest.mark.parametrize('bound', ['messages', 'bytes'])
def test_full_queue_counts_as_lost_and_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    capacity = 10 if bound == 'messages' else 1000
    monkeypatch.setattr('stewart_bags.recording.LARGEST_QUEUE', 10 * len(packed('x')) + 3)
    disk = threading.Event()
    write = BagWriter.write_raw

    def slow(self: BagWriter, *arguments: Any) -> None:
        disk.wait()
        write(self, *arguments)

    monkeypatch.setattr(BagWriter, 'write_raw', slow)
    recording = Recording(BagWriter(tmp_path / 'bag'), capacity=capacity)
    recording.add_topic('/note', TEXT)
    for number in range(100):
        recording.put('/note', number, packed('x'))
    disk.set()
    recording.close()
    # Ten wait, and one may be in the hands of the disk.
    assert recording.lost['/note'] in {89, 90}
    assert recording.counts['/note'] + recording.lost['/note'] == 100


@pytest.mark.parametrize(
    ('error', 'said'),
    [(MemoryError(), 'out of memory'), (ZeroDivisionError('odd'), r"ZeroDivisionError\('odd'\)")],
)
def test_a_recording_that_cannot_go_on_ends_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    write = BagWriter.write_raw

    def greedy(self: BagWriter, *arguments: Any) -> None:
        if self.count == 30:
            raise error
        write(self, *arguments)

    monkeypatch.setattr(BagWriter, 'write_raw', greedy)
    recording = Recording(BagWriter(tmp_path / 'bag'), capacity=50)
    recording.add_topic('/note', TEXT)
    for number in range(100):
        recording.put('/note', number, packed(f'note {number}'), patient=True)
    with pytest.raises(WriteFailed, match=rf'after 30 messages \({said}\)'):
        recording.close()
    assert (recording.counts['/note'], recording.lost['/note']) == (30, 70)
    with Bag(tmp_path / 'bag') as bag:
        assert len(list(bag.messages())) == 30


def test_silence_does_not_keep_messages_off_the_disk(tmp_path: Path) -> None:
    recording = Recording(BagWriter(tmp_path / 'bag'))
    recording.add_topic('/note', TEXT)
    recording.put('/note', 1, packed('the last before the silence'))
    deadline = time.monotonic() + 60.0
    found: list[bytes] = []
    while not found and time.monotonic() < deadline:
        with Salvage(tmp_path / 'bag') as salvage:
            found = [item.data for item in salvage.messages()]
        threading.Event().wait(0.05)
    assert found == [packed('the last before the silence')]
    recording.close()


def test_failing_disk_ends_the_recording_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = Recording(BagWriter(tmp_path / 'bag'))
    recording.add_topic('/note', TEXT)

    def full(self: BagWriter, *_: object) -> None:
        raise WriteFailed(self.path, 3, 'No space left on device')

    monkeypatch.setattr(BagWriter, 'write_raw', full)
    for number in range(5):
        recording.put('/note', number, packed('x'))
    with pytest.raises(WriteFailed, match=r'after 3 messages \(No space left'):
        recording.close()
    assert recording.lost == {'/note': 5}
    assert isinstance(recording.failure, WriteFailed)
    assert '--rescue' in str(WriteFailed(tmp_path, 3, 'full'))
    # Where nothing was written, there is nothing to rescue.
    assert '--rescue' not in str(WriteFailed(tmp_path, 0, 'read-only'))


def test_unknown_type_does_not_end_the_recording(tmp_path: Path) -> None:
    recording = Recording(BagWriter(tmp_path / 'bag'))
    with pytest.raises(UnknownType):
        recording.add_topic('/x', 'nobody_msgs/msg/Nothing')
    recording.add_topic('/note', TEXT)
    recording.put('/note', 1, packed('x'))
    recording.close()
    recording.close()
    assert recording.counts == {'/note': 1}


KILLED = """
    import json, os, signal, sys, time
    from stewart_bags.recording import Recording
    from stewart_bags.writing import BagWriter, Storage
    recording = Recording(BagWriter(sys.argv[1], storage=Storage(sys.argv[2])))
    wait, turn, longest, put = recording._closing.wait, time.monotonic(), 0.0, []
    def timed(seconds):
        global turn, longest
        turn, longest = time.monotonic(), max(longest, time.monotonic() - turn)
        return wait(seconds)
    recording._closing.wait = timed
    recording.add_topic('/count', 'std_msgs/msg/UInt32')
    begin = time.monotonic()
    while time.monotonic() - begin < 2.5:
        time.sleep(0.002)
        data = b'\\0\\1\\0\\0' + len(put).to_bytes(4, 'little')
        recording.put('/count', time.time_ns(), data)
        put.append(time.monotonic())
    now = time.monotonic()
    ages = [now - item for item in put]
    print(json.dumps({'turn': max(longest, now - turn), 'ages': ages}), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize('storage', list(Storage))
def test_killed_recording_has_all_but_the_last_second(
    tmp_path: Path, storage: Storage, run_python: Callable[..., Any]
) -> None:
    told = json.loads(run_python(KILLED, tmp_path / 'bag', storage.value).stdout)
    with Salvage(tmp_path / 'bag') as salvage:
        numbers = [int.from_bytes(item.data[4:], 'little') for item in salvage.messages()]
    assert numbers == list(range(len(numbers)))
    # Of its own turns a writer may need some, whose length is the disk's and the machine's.
    assert len(numbers) >= sum(age > 1.0 + 3.0 * told['turn'] for age in told['ages'])
