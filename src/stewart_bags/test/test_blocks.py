# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks, put in the order of bag time, are the messages one by one, in bags of every shape."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import chain
from pathlib import Path
import shutil
import sqlite3

import numpy as np
import pytest
from rosbags.typesys.store import Typestore
from stewart_bags import blocks as blocks_module
from stewart_bags.errors import DamagedBag, MissingTopic
from stewart_bags.reading import Bag
from stewart_bags.writing import ALLOWED, BagWriter, Compression, Storage

TOPICS = ('/a', '/b', '/never')
FORMS = [(storage, form) for storage, forms in ALLOWED.items() for form in forms]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, 'SIZE', 7)


@pytest.fixture
def disorderly(tmp_path: Path, store: Typestore) -> Callable[..., Path]:
    """Write two topics whose bag times repeat, step back, and overlap between chunks."""
    String = store.types['std_msgs/msg/String']

    def make(
        storage: Storage, compression: Compression = Compression.NONE, name: str = 'bag'
    ) -> Path:
        times_ns = np.random.default_rng(5).integers(1000, 1060, 200) + np.arange(200) // 4
        with BagWriter(tmp_path / name, storage=storage, compression=compression) as writer:
            for number, time_ns in enumerate(times_ns.tolist()):
                writer.write(TOPICS[number % 2], time_ns, String(f'{name} {number}'))
                if number % 30 == 0:
                    writer.flush()
            writer.add_topic('/never', 'std_msgs/msg/String')
        return tmp_path / name

    return make


def one_by_one(bag: Bag, topic: str) -> list[tuple[int, bytes]]:
    return [(item.time_ns, item.data) for item in bag.raw([topic])]


def in_order(bag: Bag, topic: str) -> list[tuple[int, bytes]]:
    found = list(bag.blocks(topic))
    assert all(0 < len(block.data) <= 7 for block in found)
    together = chain.from_iterable(zip(*block, strict=True) for block in found)
    return sorted(together, key=lambda message: message[0])


@pytest.mark.parametrize(('storage', 'compression'), FORMS)
def test_both_ways_give_the_same(
    disorderly: Callable[..., Path], storage: Storage, compression: Compression
) -> None:
    with Bag(disorderly(storage, compression)) as bag:
        for topic, count in zip(TOPICS, (100, 100, 0), strict=True):
            assert len(one_by_one(bag, topic)) == count
            assert in_order(bag, topic) == one_by_one(bag, topic)


@pytest.mark.parametrize('storage', list(Storage))
def test_both_ways_give_the_same_of_a_split_bag(
    disorderly: Callable[..., Path],
    storage_file: Callable[[Path], Path],
    tmp_path: Path,
    storage: Storage,
) -> None:
    split = tmp_path / 'split'
    split.mkdir()
    for name in ('late', 'early'):
        part = storage_file(disorderly(storage, name=name))
        shutil.copy(part, split / part.name)
    with Bag(split) as bag:
        assert len(in_order(bag, '/a')) == 200
        assert in_order(bag, '/a') == one_by_one(bag, '/a')


def test_a_file_without_index_is_read(
    make_bag: Callable[..., Path], storage_file: Callable[[Path], Path]
) -> None:
    file = storage_file(make_bag(50))
    # A footer that knows of no summary.
    file.write_bytes(file.read_bytes()[:-28] + bytes(20) + b'\x89MCAP0\r\n')
    with Bag(file) as bag:
        assert len(in_order(bag, '/actuator_states')) == 50
        assert in_order(bag, '/actuator_states') == one_by_one(bag, '/actuator_states')


@pytest.mark.parametrize(
    ('storage', 'compression'),
    [(Storage.MCAP, Compression.CHUNK), (Storage.SQLITE3, Compression.MESSAGE)],
)
def test_both_ways_stop_at_the_same_damage(
    make_bag: Callable[..., Path],
    storage_file: Callable[[Path], Path],
    storage: Storage,
    compression: Compression,
) -> None:
    path = make_bag(2000, storage=storage, compression=compression)
    file = storage_file(path)
    content = bytearray(file.read_bytes())
    begin, size = len(content) // 2, 2000
    if storage is Storage.SQLITE3:
        # What lies in the middle differs between versions of sqlite, which refuses to open some.
        with closing(sqlite3.connect(file)) as database:
            ((data,),) = database.execute('SELECT data FROM messages WHERE id = 1000')
        begin, size = content.index(data), len(data)
    content[begin : begin + size] = bytes(size)
    file.write_bytes(content)
    with Bag(path) as bag:
        with pytest.raises(DamagedBag) as one:
            one_by_one(bag, '/actuator_states')
        with pytest.raises(DamagedBag) as many:
            in_order(bag, '/actuator_states')
    assert str(many.value) == str(one.value)
    assert many.value.count > 100
    assert many.value.time_ns is not None


def test_a_missing_topic_is_named(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(5)) as bag, pytest.raises(MissingTopic, match='no topic /other'):
        list(bag.blocks('/other'))
