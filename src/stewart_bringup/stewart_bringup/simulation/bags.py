# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write what a simulated rig publishes into a bag."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stewart_bags.profiles import offered
from stewart_bags.rows import RowMessages
from stewart_bags.writing import BagWriter
from stewart_bringup.simulation.series import Series


class SeriesWriter:
    """Write series into an open bag."""

    def __init__(self, writer: BagWriter) -> None:
        self._writer = writer
        self._messages: dict[str, RowMessages] = {}

    def write(self, series: Series) -> None:
        """Write all that is in a series, in the order in which it was published, and clear it.

        What was published at one instant is written in the order of the topics.
        """
        blocks: list[tuple[str, NDArray[np.int64], list[bytes]]] = []
        for note in series.notes:
            full = f'/{note.topic}'
            self._writer.add_topic(full, note.msgtype, qos=[offered(1, latched=True)])
            message = RowMessages(self._writer.typestore, note.msgtype, (), note.fields)
            single = message.serialise(np.array([note.stamp]), np.empty((1, 0)))
            blocks.append((full, np.array([note.time]), single))
        for name, rows in series.rows.items():
            if len(rows):
                data = self._serialiser(name, series).serialise(rows.stamps, rows.values)
                blocks.append((f'/{name}', rows.times, data))
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
            self._writer.add_topic(f'/{name}', topic.msgtype, qos=[offered(topic.depth)])
        return found
