# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a bag as numpy arrays.

Nothing is sorted, filled or dropped: a series is what was recorded, with findings about what is
odd in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_type_hints, TypeVar

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys.store import Typestore
from stewart_bags.cdr_layout import LayoutError
from stewart_bags.columns import Columns
from stewart_bags.errors import UndecodableMessage
from stewart_bags.findings import (
    examine_quaternions,
    examine_stamps,
    examine_values,
    Finding,
    Kind,
)
from stewart_bags.reading import Bag
from stewart_bags.series_kinds import (
    AccelerationSeries,
    DriverStateSeries,
    EstimatorStatusSeries,
    ImuSeries,
    JointSeries,
    OdometrySeries,
    PoseSeries,
    PoseWithCovarianceSeries,
    Series,
    SetpointSeries,
    Source,
    TrackingErrorSeries,
)
from stewart_bags.topics import NS, Topic

__all__ = [
    'read_series',
    'read_joints',
    'LEGS',
    'Series',
    'JointSeries',
    'SetpointSeries',
    'PoseSeries',
    'PoseWithCovarianceSeries',
    'OdometrySeries',
    'ImuSeries',
    'AccelerationSeries',
    'TrackingErrorSeries',
    'EstimatorStatusSeries',
    'DriverStateSeries',
]

LEGS = tuple(f'leg_{number}' for number in range(1, 7))
QUANTITIES = ('position', 'velocity', 'effort')
# Messages at a time: enough for numpy, and fewer than the 700 new objects at which Python's
# garbage collector looks through the latest.
BLOCK = 600

S = TypeVar('S', bound=Series)
Part = dict[str, Any]


def read_series(bag: Bag, topic: str, kind: type[S]) -> S:
    """Read a topic into arrays; empty ones if it has no messages.

    Args:
        bag: Open bag.
        topic: Name as ``Bag.topic`` takes it.
        kind: Class of this module; it fixes the message type.

    Raises:
        MissingTopic, WrongType: If there is no such topic, or if it carries another type.
        DamagedBag, UndecodableMessage: If the bag cannot be read to its end.
    """
    found = bag.topic(topic, kind.MSGTYPE)
    sources = _sources(kind)

    def parts() -> Iterator[Part]:
        for times, columns in _blocks(bag, found):
            fields = {key: _column(columns, source) for key, source in sources.items()}
            yield {**_common(times, columns), **fields}

    arrays = _joined(parts(), found.count)
    for key, source in sources.items():
        arrays.setdefault(key, () if source.text else np.empty((0, *source.sample_shape)))
    return kind(topic=found.name, **_examined(arrays))


def read_joints(bag: Bag, topic: str, names: Sequence[str] = LEGS) -> JointSeries:
    """Read the joints `names` from a JointState topic; arguments and errors as of `read_series`.

    Where a message lacks a joint there is NaN, which is also a finding.
    """
    found = bag.topic(topic, JointSeries.MSGTYPE)
    lacked: set[str] = set()

    def parts() -> Iterator[Part]:
        for times, columns in _blocks(bag, found):
            lacking, missing = columns.lacking('name', names)
            lacked.update(missing)
            fields = {key: columns.picked('name', key, names) for key in QUANTITIES}
            yield {**_common(times, columns), **fields, 'lacking': lacking}

    arrays = _joined(parts(), found.count)
    rows = np.flatnonzero(arrays.pop('lacking', np.empty(0)))
    for quantity in QUANTITIES:
        arrays.setdefault(quantity, np.empty((0, len(names))))
    arrays = _examined(arrays)
    if lacked:
        finding = Finding(Kind.MISSING_NAMES, len(rows), int(rows[0]), ', '.join(sorted(lacked)))
        arrays['findings'] = (*arrays['findings'], finding)
    return JointSeries(topic=found.name, names=tuple(names), **arrays)


def _sources(kind: type[Series]) -> dict[str, Source]:
    """Return what the annotations of a class say, by attribute."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        name: extra
        for name, hint in hints.items()
        for extra in getattr(hint, '__metadata__', ())
        if isinstance(extra, Source)
    }


def _blocks(bag: Bag, topic: Topic) -> Iterator[tuple[Sequence[int], Columns]]:
    """Yield the messages of a topic, many at a time, as their bag times and columns."""
    store, before = None, 0
    for times, data in bag.blocks(topic.name, BLOCK):
        store = store or bag.store_for(topic.msgtype, data[0])
        yield times, _columns(bag, store, topic, times, data, before)
        before += len(data)


def _columns(
    bag: Bag,
    store: Typestore,
    topic: Topic,
    times: Sequence[int],
    messages: Sequence[bytes],
    before: int,
) -> Columns:
    try:
        return Columns(store, topic.msgtype, messages)
    except LayoutError:
        for count, (time_ns, data) in enumerate(zip(times, messages, strict=True), before):
            try:
                Columns(store, topic.msgtype, [data])
            except LayoutError as error:
                raise UndecodableMessage(
                    bag.path, topic.name, topic.msgtype, time_ns, count, str(error)
                ) from error
        raise


def _common(times_ns: Sequence[int], columns: Columns) -> dict[str, Any]:
    seconds = columns.scalars('header.stamp.sec', np.int64)
    return {
        'bag_time_ns': np.array(times_ns, np.int64),
        'stamp_ns': seconds * NS + columns.scalars('header.stamp.nanosec', np.int64),
        'frames': columns.distinct('header.frame_id'),
    }


def _column(columns: Columns, source: Source) -> Any:
    if source.text:
        return np.array(columns.texts(source.paths[0]), dtype=object)
    if source.shape:
        flat = columns.vectors(source.paths[0], int(np.prod(source.shape)))
        return flat.reshape(len(columns), *source.shape)
    stacked = np.stack([columns.scalars(path) for path in source.paths], axis=-1)
    return stacked if len(source.paths) > 1 else stacked[:, 0]


def _joined(parts: Iterator[Part], count: int) -> dict[str, Any]:
    """Put the blocks behind each other, and freeze the arrays."""
    frames: set[str] = set()
    arrays = {'bag_time_ns': np.empty(0, np.int64), 'stamp_ns': np.empty(0, np.int64)}
    filled = 0
    for part in parts:
        frames.update(map(str, part.pop('frames')))
        until = filled + len(part['stamp_ns'])
        if not filled:
            # All at once: to touch fresh memory twice takes longer than to decode.
            arrays = {key: _room(values, max(count, until)) for key, values in part.items()}
        elif until > len(arrays['stamp_ns']):
            # An mcap file need not tell how many messages it has.
            arrays = {key: np.concatenate([old, _room(old, until)]) for key, old in arrays.items()}
        for key, values in part.items():
            arrays[key][filled:until] = values
        filled = until
    arrays = {key: array[:filled] for key, array in arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)
    texts = {key: tuple(array) for key, array in arrays.items() if array.dtype == object}
    return {'frames': frames, **arrays, **texts}


def _room(like: NDArray[Any], count: int) -> NDArray[Any]:
    return np.empty((count, *like.shape[1:]), like.dtype)


def _examined(arrays: dict[str, Any]) -> dict[str, Any]:
    """Add the findings, and the frame in place of the frames."""
    frames = sorted(arrays.pop('frames'))
    findings = examine_stamps(arrays['stamp_ns'])
    for name, value in arrays.items():
        if not isinstance(value, np.ndarray) or value.dtype != np.float64:
            continue
        findings += examine_values(name, value)
        if name == 'quaternion_xyzw':
            findings += examine_quaternions(name, value)
    if len(frames) > 1:
        findings.append(Finding(Kind.FRAMES, len(arrays['stamp_ns']), 0, ', '.join(frames)))
    return {**arrays, 'frame_id': frames[0] if frames else '', 'findings': tuple(findings)}
