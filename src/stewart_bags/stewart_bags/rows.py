# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Many messages of one structure from rows of numbers, serialised all at once.

The counterpart of `columns`: one message is serialised field by field, and gives the places of
its numbers; all others are copies of its bytes with other numbers in these places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.interfaces import Nodetype
from rosbags.typesys.store import Typestore
from stewart_bags.cdr_layout import layout_of
from stewart_bags.definitions import require
from stewart_bags.topics import NS

STAMP = 'header.stamp'


class RowMessages:
    """Serialise rows of numbers as messages with a header.

    Args:
        store, msgtype: Such as ``sensor_msgs/msg/JointState``, and who knows it.
        columns: Paths of the number fields that a row holds, in its order, such as
            ``pose.position.x``; an array field takes as many numbers as it has elements.
        constants: What other fields hold, by path: texts, numbers and arrays. An array field of
            variable length that is in neither is empty.
        lengths: Number of elements of array fields of variable length among the columns.

    Raises:
        UnknownType: If there is no such definition here.
        KeyError: If there is no such field.
    """

    def __init__(
        self,
        store: Typestore,
        msgtype: str,
        columns: Sequence[str],
        constants: Mapping[str, Any] | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> None:
        require(store, msgtype)
        self.msgtype = msgtype
        given = dict(constants or {})
        given |= {path: np.zeros(size) for path, size in (lengths or {}).items()}
        message = _blank(store, msgtype, '', given)
        if given:
            raise KeyError(f'{msgtype} has no field {", ".join(given)}')
        self._bytes = np.frombuffer(bytes(store.serialize_cdr(message, msgtype)), np.uint8)
        layout = layout_of(store, msgtype, self._bytes.tobytes())
        self._seconds = layout.fields[f'{STAMP}.sec'][0]
        self._nanoseconds = layout.fields[f'{STAMP}.nanosec'][0]
        self._places: list[tuple[slice, int, np.dtype[Any]]] = []
        at = 0
        for path in columns:
            offset, kind, count = layout.fields[path]
            size = 1 if count is None else count
            self._places.append((slice(at, at + size), offset, kind))
            at += size
        self.width = at

    def serialise(self, stamps: NDArray[np.int64], rows: NDArray[np.float64]) -> list[bytes]:
        """Return one message, CDR with encapsulation, for each of n rows.

        Args:
            stamps (n,): Of the headers [ns].
            rows (n, width): The numbers.
        """
        block = np.repeat(self._bytes[None], len(rows), axis=0)
        self._put(block, self._seconds, np.dtype('<i4'), (stamps // NS)[:, None])
        self._put(block, self._nanoseconds, np.dtype('<u4'), (stamps % NS)[:, None])
        for chosen, offset, kind in self._places:
            self._put(block, offset, kind, rows[:, chosen])
        whole, size = block.tobytes(), block.shape[1]
        return [whole[at : at + size] for at in range(0, len(whole), size)]

    @staticmethod
    def _put(
        block: NDArray[np.uint8], offset: int, kind: np.dtype[Any], values: NDArray[Any]
    ) -> None:
        plain = np.ascontiguousarray(values.astype(kind)).view(np.uint8)
        block[:, offset : offset + plain.shape[1]] = plain


def _blank(store: Typestore, msgtype: str, prefix: str, given: dict[str, Any]) -> Any:
    """Make a message of zeros and empty texts, but for what is given, which is taken out."""
    values: list[Any] = []
    cls: Any = store.types[msgtype]
    definition: Any = store.fielddefs[msgtype][1]
    for name, (kind, detail) in definition:
        path = f'{prefix}{name}'
        if kind == Nodetype.NAME:
            values.append(_blank(store, detail, f'{path}.', given))
        elif path in given:
            values.append(_shaped(given.pop(path), kind, detail))
        elif kind == Nodetype.BASE:
            values.append({'string': '', 'bool': False}.get(detail[0], 0))
        else:
            (_, inner), count = detail
            size = count if kind == Nodetype.ARRAY else 0
            values.append([''] * size if inner[0] == 'string' else np.zeros(size, inner[0]))
    return cls(*values)


def _shaped(value: Any, kind: Any, detail: Any) -> Any:
    """Return a value as rosbags serialises it."""
    if kind == Nodetype.BASE:
        return value
    inner = detail[0][1][0]
    return list(value) if inner == 'string' else np.asarray(value, dtype=inner)
