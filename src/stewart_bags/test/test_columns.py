# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The layout of serialised messages agrees with the decoder of rosbags, for every type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rosbags.interfaces import Nodetype
from rosbags.typesys import get_typestore, Stores
from rosbags.typesys.store import Typestore
from stewart_bags.cdr_layout import layout_of, LayoutError
from stewart_bags.columns import Columns
from stewart_bags.errors import UnknownType

TYPES = sorted(get_typestore(Stores.ROS2_JAZZY).fielddefs)
LEGS = tuple(f'leg_{number}' for number in range(1, 7))


def random_message(store: Typestore, msgtype: str, rng: np.random.Generator) -> Any:
    """Fill a message with random numbers, and lists with none to three elements."""
    fields = {
        name: random_value(store, kind, detail, rng)
        for name, (kind, detail) in store.fielddefs[msgtype][1]
    }
    return store.types[msgtype](**fields)


def random_value(store: Typestore, kind: Any, detail: Any, rng: np.random.Generator) -> Any:
    if kind == Nodetype.NAME:
        return random_message(store, detail, rng)
    if kind == Nodetype.BASE:
        return random_numbers(detail[0], None, rng)
    (inner_kind, inner), bound = detail
    count = bound if kind == Nodetype.ARRAY else int(rng.integers(0, 4))
    if inner_kind == Nodetype.BASE and inner[0] != 'string':
        return random_numbers(inner[0], count, rng)
    return [random_value(store, inner_kind, inner, rng) for _ in range(count)]


def random_numbers(name: str, count: int | None, rng: np.random.Generator) -> Any:
    if name == 'string':
        return 'x' * int(rng.integers(0, 6))
    if name == 'bool':
        return bool(rng.integers(2)) if count is None else rng.integers(2, size=count) > 0
    dtype = np.dtype({'byte': 'u1', 'char': 'u1'}.get(name, name))
    if dtype.kind == 'f':
        values = np.asarray(rng.normal(size=count)).astype(dtype)
    else:
        values = np.asarray(rng.integers(0, 100, size=count)).astype(dtype)
    return values.item() if count is None else values


def value_at(message: Any, path: str) -> Any:
    for part in path.split('.'):
        name, _, index = part.partition('[')
        message = getattr(message, name, None) if hasattr(message, name) else None
        if index:
            message = message[int(index[:-1])]
    return message


@pytest.mark.parametrize('little_endian', [True, False])
def test_layout_agrees_with_the_decoder_of_rosbags(store: Typestore, little_endian: bool) -> None:
    rng = np.random.default_rng(7)
    compared = 0
    for msgtype in TYPES:
        for _ in range(3):
            message = random_message(store, msgtype, rng)
            data = bytes(store.serialize_cdr(message, msgtype, little_endian=little_endian))
            layout = layout_of(store, msgtype, data)
            for path, (offset, dtype, count) in layout.fields.items():
                expected = value_at(message, path)
                if expected is None:
                    continue  # the place-holder of an empty message
                found = np.frombuffer(data, dtype, 1 if count is None else count, offset)
                np.testing.assert_array_equal(found, np.atleast_1d(expected), err_msg=path)
                compared += 1
            for path, text in layout.texts.items():
                assert text == (
                    tuple(value_at(message, path))
                    if isinstance(text, tuple)
                    else value_at(message, path)
                )
    assert compared > 1000


def test_every_cut_message_is_refused(store: Typestore) -> None:
    rng = np.random.default_rng(8)
    message = random_message(store, 'nav_msgs/msg/Odometry', rng)
    data = bytes(store.serialize_cdr(message, 'nav_msgs/msg/Odometry'))
    for size in range(len(data)):
        with pytest.raises(LayoutError):
            layout_of(store, 'nav_msgs/msg/Odometry', data[:size])


def test_a_longer_message_is_refused(store: Typestore) -> None:
    message = store.types['std_msgs/msg/Float64'](1.0)
    data = bytes(store.serialize_cdr(message, 'std_msgs/msg/Float64'))
    with pytest.raises(LayoutError, match='takes 12 bytes, there are 17'):
        layout_of(store, 'std_msgs/msg/Float64', data + bytes(5))


def test_messages_of_different_structure_keep_their_rows(
    store: Typestore, joint_state: Callable[..., Any]
) -> None:
    backwards = list(reversed(LEGS))
    names = [list(LEGS), backwards, list(LEGS), ['leg_1', 'other', *backwards[:4]]]
    messages = [joint_state(number, names=names[number]) for number in range(4)]
    raw = [bytes(store.serialize_cdr(item, 'sensor_msgs/msg/JointState')) for item in messages]
    columns = Columns(store, 'sensor_msgs/msg/JointState', raw)

    position = columns.picked('name', 'position', LEGS)

    ramp = np.arange(6) / 10
    np.testing.assert_array_equal(position[0], ramp)
    np.testing.assert_array_equal(position[1], (1 + ramp)[::-1])
    np.testing.assert_array_equal(position[2], 2 + ramp)
    np.testing.assert_array_equal(position[3], [3.0, np.nan, 3.5, 3.4, 3.3, 3.2])
    assert np.isnan(columns.picked('name', 'effort', LEGS)).all()
    mask, missing = columns.lacking('name', LEGS)
    assert mask.tolist() == [False, False, False, True]
    assert missing == {'leg_2'}


def test_vectors_of_another_length_become_nan(store: Typestore) -> None:
    Floats = store.types['std_msgs/msg/Float64MultiArray']
    Layout = store.types['std_msgs/msg/MultiArrayLayout']
    raw = [
        bytes(store.serialize_cdr(Floats(Layout([], 0), values), Floats.__msgtype__))
        for values in (np.ones(3), np.ones(2), np.empty(0))
    ]
    found = Columns(store, Floats.__msgtype__, raw).vectors('data', 3)
    np.testing.assert_array_equal(found[0], 1.0)
    assert np.isnan(found[1:]).all()


def test_a_field_that_the_type_lacks_is_named(store: Typestore) -> None:
    columns = Columns(store, 'std_msgs/msg/Float64', [b'\0\1\0\0' + bytes(8)])
    for ask in (columns.scalars, columns.texts):
        with pytest.raises(UnknownType, match=r'std_msgs/msg/Float64 .* no such field header\.x'):
            ask('header.x')


def test_no_messages_make_empty_columns(store: Typestore) -> None:
    columns = Columns(store, 'sensor_msgs/msg/Imu', [])
    assert len(columns) == 0
    assert columns.scalars('header.stamp.sec').shape == (0,)
