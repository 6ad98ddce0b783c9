# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write what a simulated rig publishes into a bag, under its name only once it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import shutil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_bags.errors import BagExists
from stewart_bags.profiles import offered
from stewart_bags.rows import RowMessages
from stewart_bags.writing import BagWriter, Storage
from stewart_bringup.simulation.series import Series
from stewart_tables.whole_files import rename_folder, whole_file


class SeriesWriter:
    """Write series into an open bag.

    Args:
        writer: The bag.
        namespace: Where the topics are, such as ``/``.
    """

    def __init__(self, writer: BagWriter, namespace: str = '/') -> None:
        self._writer, self._namespace = writer, namespace
        self._messages: dict[str, RowMessages] = {}

    def write(self, series: Series) -> None:
        """Write all that is in a series, in the order in which it was published, and clear it.

        What was published at one instant is written in the order of the topics.
        """
        blocks: list[tuple[str, NDArray[np.int64], list[bytes]]] = []
        for note in series.notes:
            full = self._namespace + note.topic
            self._writer.add_topic(full, note.msgtype, qos=[offered(1, latched=True)])
            message = RowMessages(self._writer.typestore, note.msgtype, (), note.fields)
            single = message.serialise(np.array([note.stamp]), np.empty((1, 0)))
            blocks.append((full, np.array([note.time]), single))
        for name, rows in series.rows.items():
            if len(rows):
                data = self._serialiser(name, series).serialise(rows.stamps, rows.values)
                blocks.append((self._namespace + name, rows.times, data))
        self._writer.write_blocks(blocks)
        series.clear()

    def _serialiser(self, name: str, series: Series) -> RowMessages:
        found = self._messages.get(name)
        if found is None:
            topic, store = series.topics[name], self._writer.typestore
            found = RowMessages(
                store, topic.msgtype, topic.columns, topic.constants, topic.lengths
            )
            self._messages[name] = found
            self._writer.add_topic(
                self._namespace + name, topic.msgtype, qos=[offered(topic.depth)]
            )
        return found


@contextmanager
def whole_bag(path: Path, storage: Storage, **custom: Any) -> Iterator[BagWriter]:
    """Write a bag that gets its name when it is complete.

    Args:
        path: Directory to be made; must not exist.
        storage: How messages lie on disk.
        **custom: Kept in the metadata.

    Yields:
        Open; closed and renamed when the block ends, removed when it fails.

    Raises:
        BagExists: If the path is taken.
    """
    if path.exists() or path.is_symlink():
        raise BagExists(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f'~{path.name}')
    shutil.rmtree(beside, ignore_errors=True)
    try:
        with BagWriter(beside, storage=storage, custom_data=custom) as writer:
            yield writer
        rename_bag(beside, path)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def rename_bag(before: Path, after: Path) -> None:
    """Rename a closed bag, its file and what the metadata call it."""
    for item in before.iterdir():
        if item.name.startswith(before.name):
            item.rename(before / item.name.replace(before.name, after.name, 1))
    metadata = before / 'metadata.yaml'
    text = metadata.read_text('utf-8')
    with whole_file(metadata) as stream:
        stream.write(text.replace(before.name, after.name))
    rename_folder(before, after)
