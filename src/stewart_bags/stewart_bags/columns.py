# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of many serialised messages of one type as numpy arrays, without decoding each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys.store import Typestore
from stewart_bags.cdr_layout import Layout, layout_of
from stewart_bags.errors import UnknownType

Rows = NDArray[np.intp] | slice
Known = TypeVar('Known')


class Columns:
    """Messages of one type, as CDR bytes with encapsulation, column by column.

    Raises:
        LayoutError: If a message does not fit the type.
        UnknownType: By the methods, if the type has no such field.
    """

    def __init__(self, store: Typestore, msgtype: str, messages: Sequence[bytes]) -> None:
        self._msgtype, self._count = msgtype, len(messages)
        self._groups: list[tuple[Rows, NDArray[np.uint8], Layout]] = []
        sizes = set(map(len, messages))
        for size in sorted(sizes):
            chosen, rows = messages, np.arange(self._count)
            if len(sizes) > 1:
                rows = np.flatnonzero([len(item) == size for item in messages])
                chosen = [messages[int(row)] for row in rows]
            block = np.frombuffer(b''.join(chosen), np.uint8).reshape(len(rows), size)
            while len(rows):
                layout = layout_of(store, msgtype, block[0].tobytes())
                same = np.all(block[:, layout.structure] == block[0, layout.structure], axis=1)
                if same.all():
                    # Nearly always all messages are alike, and a slice is the faster index.
                    alike = len(rows) == self._count
                    self._groups.append((slice(None) if alike else rows, block, layout))
                    break
                self._groups.append((rows[same], block[same], layout))
                rows, block = rows[~same], block[~same]

    def __len__(self) -> int:
        return self._count

    def _of(self, known: Mapping[str, Known], path: str) -> Known:
        if path not in known:
            reason = f'as the bag defines it, it has no such field {path}'
            raise UnknownType(self._msgtype, reason)
        return known[path]

    def scalars(self, path: str, dtype: Any = np.float64) -> NDArray[Any]:
        """Take one scalar field, such as ``pose.position.x``, of all messages, shape (n,)."""
        out = np.empty(self._count, dtype)
        for rows, block, layout in self._groups:
            offset, item, _ = self._of(layout.fields, path)
            out[rows] = _view(block, offset, item, 1)[:, 0]
        return out

    def vectors(self, path: str, length: int) -> NDArray[np.float64]:
        """Take one array of all messages, (n, length); NaN for another length."""
        out = np.full((self._count, length), np.nan)
        for rows, block, layout in self._groups:
            offset, item, count = self._of(layout.fields, path)
            if count == length:
                out[rows] = _view(block, offset, item, count)
        return out

    def picked(
        self, names_path: str, values_path: str, names: Sequence[str]
    ) -> NDArray[np.float64]:
        """Take the elements that belong to m names, whatever their order in the message.

        Args:
            names_path, values_path: Such as ``name`` and ``position`` of a JointState.

        Returns:
            (n, m): In the order of `names`; NaN where a message lacks the name or the values.
        """
        out = np.full((self._count, len(names)), np.nan)
        for rows, block, layout in self._groups:
            there = list(self._of(layout.texts, names_path))
            offset, item, count = self._of(layout.fields, values_path)
            if count != len(there):
                continue
            view = _view(block, offset, item, count)
            if there == list(names):
                out[rows] = view
                continue
            for column, name in enumerate(names):
                if name in there:
                    out[rows, column] = view[:, there.index(name)]
        return out

    def lacking(self, path: str, names: Sequence[str]) -> tuple[NDArray[np.bool_], set[str]]:
        """Tell which messages lack some of the names at `path`.

        Returns:
            (n,): True where at least one is missing.
            Every name that is missing somewhere.
        """
        mask = np.zeros(self._count, np.bool_)
        missing: set[str] = set()
        for rows, _, layout in self._groups:
            gone = set(names) - set(self._of(layout.texts, path))
            mask[rows] = bool(gone)
            missing |= gone
        return mask, missing

    def texts(self, path: str) -> list[str | tuple[str, ...]]:
        """Take one text, or list of texts, such as ``header.frame_id``, of all messages."""
        out: list[str | tuple[str, ...]] = [''] * self._count
        for rows, _, layout in self._groups:
            for row in np.arange(self._count)[rows]:
                out[row] = self._of(layout.texts, path)
        return out

    def distinct(self, path: str) -> set[str | tuple[str, ...]]:
        """Return every value that a text takes."""
        return {self._of(layout.texts, path) for _, _, layout in self._groups}


def _view(block: NDArray[np.uint8], offset: int, item: np.dtype[Any], count: int) -> NDArray[Any]:
    """View `count` numbers at `offset` of every row, aligned or not; shape (n, count)."""
    return np.ndarray(
        (len(block), count), item, block, offset, strides=(block.strides[0], item.itemsize)
    )
