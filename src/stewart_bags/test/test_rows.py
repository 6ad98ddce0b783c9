# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages from rows against those that rosbags serialises one by one."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_bags.definitions import jazzy_typestore
from stewart_bags.errors import UnknownType
from stewart_bags.rows import RowMessages

STORE = jazzy_typestore()
LEGS = [f'leg_{number}' for number in range(1, 7)]
STAMPS = np.array([1, 1_999_999_999, 1_700_000_000_123_456_789])


def test_rows_of_a_joint_state_are_what_rosbags_serialises() -> None:
    values = np.random.default_rng(1).normal(size=(3, 12))
    messages = RowMessages(
        STORE,
        'sensor_msgs/msg/JointState',
        ['position', 'effort'],
        {'name': LEGS, 'header.frame_id': 'here'},
        {'position': 6, 'effort': 6},
    )
    types = STORE.types

    found = messages.serialise(STAMPS, values)

    assert messages.width == 12
    for stamp, row, data in zip(STAMPS.tolist(), values, found, strict=True):
        time = types['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000))
        message = types['sensor_msgs/msg/JointState'](
            types['std_msgs/msg/Header'](time, 'here'), LEGS, row[:6], np.zeros(0), row[6:]
        )
        assert data == bytes(STORE.serialize_cdr(message, 'sensor_msgs/msg/JointState'))


def test_numbers_take_the_type_of_their_field() -> None:
    columns = ['innovations', 'nis', 'accepted']
    messages = RowMessages(STORE, 'stewart_interfaces/msg/EstimatorStatus', columns)

    (data,) = messages.serialise(STAMPS[:1], np.arange(13.0)[None])
    message = STORE.deserialize_cdr(data, 'stewart_interfaces/msg/EstimatorStatus')

    assert message.innovations.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert message.nis == 6.0
    assert message.accepted.dtype == np.uint32
    assert message.accepted.tolist() == [7, 8, 9, 10, 11, 12]
    assert message.rejected.tolist() == [0] * 6


def test_what_the_type_does_not_have_is_refused() -> None:
    with pytest.raises(KeyError, match='no field frame'):
        RowMessages(STORE, 'geometry_msgs/msg/PoseStamped', (), {'frame': 'x'})
    with pytest.raises(KeyError, match=r'pose\.place\.x'):
        RowMessages(STORE, 'geometry_msgs/msg/PoseStamped', ['pose.place.x'])
    with pytest.raises(UnknownType):
        RowMessages(STORE, 'sensor_msgs/msg/Nothing', ())
