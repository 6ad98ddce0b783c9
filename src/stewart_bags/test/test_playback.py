# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is played, when, and with which stamps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.typesys.store import Typestore
from stewart_bags.errors import MissingTopic
from stewart_bags.playback import NothingToPlay, Restamper, Schedule, selected, with_clock
from stewart_bags.reading import Bag
from stewart_bags.topics import RawMessage
from stewart_bags.writing import BagWriter

START_NS = 1_700_000_000_000_000_000
NOW_NS = 1_900_000_000_000_000_000


def latched(durability: QosDurability = QosDurability.TRANSIENT_LOCAL) -> Qos:
    never = QosTime(0, 0)
    return Qos(
        QosHistory.KEEP_LAST,
        1,
        QosReliability.RELIABLE,
        durability,
        never,
        never,
        QosLiveliness.AUTOMATIC,
        never,
        False,
    )


def test_messages_are_due_in_the_rhythm_of_the_bag() -> None:
    schedule = Schedule(START_NS, rate=4.0)
    assert schedule.due(START_NS) == 0.0
    assert schedule.due(START_NS + 2_000_000_000) == 0.5
    # A latched message from before the start is due at once.
    assert schedule.due(START_NS - 5_000_000_000) == 0.0


def test_stamps_shift_with_the_rate() -> None:
    schedule = Schedule(START_NS, rate=2.0, now_ns=NOW_NS)
    assert schedule.shifted(START_NS) == NOW_NS
    assert schedule.shifted(START_NS + 1_000_000_000) == NOW_NS + 500_000_000
    assert schedule.shifted(START_NS - 1_000) == NOW_NS - 500
    assert Schedule(START_NS, 2.0).shifted(START_NS + 7) == START_NS + 7


def test_start_offset_skips_but_latched_topics_keep_their_last_message(
    tmp_path: Path, store: Typestore
) -> None:
    text = store.types['std_msgs/msg/String']
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/state', text.__msgtype__, qos=[latched()])
        writer.add_topic('/note', text.__msgtype__, qos=[latched(QosDurability.VOLATILE)])
        for second in range(6):
            time_ns = START_NS + second * 10**9
            writer.write('/note', time_ns, text(f'note {second}'))
            if second in {0, 1, 4}:
                writer.write('/state', time_ns + 1, text(f'state {second}'))
    with Bag(tmp_path / 'bag') as bag:
        played = list(selected(bag, list(bag.topics), 3.0))
        texts = [bag.typestore.deserialize_cdr(item.data, text.__msgtype__) for item in played]
        assert [item.data for item in texts] == [
            'state 1',
            'note 3',
            'note 4',
            'state 4',
            'note 5',
        ]
        with pytest.raises(NothingToPlay, match='nothing to play 60 s after the start'):
            list(selected(bag, ['/note'], 60.0))
        with pytest.raises(MissingTopic):
            list(selected(bag, ['/nothing'], 0.0))


@pytest.mark.parametrize(
    ('kind', 'offers', 'kept'),
    [
        ('std_msgs/msg/String', 1, [3]),
        ('std_msgs/msg/String', 2, [2, 3]),
        ('tf2_msgs/msg/TFMessage', 1, [0, 1, 2, 3]),
    ],
)
def test_what_several_publishers_have_latched_is_kept(
    tmp_path: Path, store: Typestore, kind: str, offers: int, kept: list[int]
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/said', kind, qos=[latched()] * offers)
        made = store.types[kind]
        for second in range(6):
            said = made('') if kind.endswith('String') else made([])
            writer.write('/said', START_NS + second * 10**9, said)
    with Bag(tmp_path / 'bag') as bag:
        played = [(item.time_ns - START_NS) // 10**9 for item in selected(bag, ['/said'], 3.5)]
    assert played == [*kept, 4, 5]


def test_bag_without_messages_is_nothing_to_play(tmp_path: Path) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/imu/data', 'sensor_msgs/msg/Imu')
    with Bag(tmp_path / 'bag') as bag, pytest.raises(NothingToPlay, match='0 messages'):
        list(selected(bag, ['/imu/data'], 0.0))


def test_only_the_stamp_changes(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(20)) as bag:
        restamp = Restamper(bag, Schedule(bag.start_ns, 1.0, NOW_NS))
        for number, item in enumerate(bag.raw(['/actuator_states'])):
            data = restamp(item)
            message: Any = bag.typestore.deserialize_cdr(data, 'sensor_msgs/msg/JointState')
            stamp = message.header.stamp
            assert stamp.sec * 10**9 + stamp.nanosec == NOW_NS + number * 5_000_000
            assert data[:4] + data[12:] == item.data[:4] + item.data[12:]


@pytest.mark.parametrize('rate', [1.0, 0.5])
def test_stamps_of_another_clock_are_shifted_to_now_together(
    tmp_path: Path, joint_state: Callable[..., Any], rate: float
) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        for number in range(4):
            time_ns = START_NS + number * 10**8
            writer.write('/legs', time_ns, joint_state(number, 10**10 + number * 10**8))
            # Made 20 ms before, received 1 ms later.
            early = 10**10 + number * 10**8 - 2 * 10**7
            writer.write('/other_legs', time_ns + 10**6, joint_state(number, early))
    found: dict[str, list[int]] = {'/legs': [], '/other_legs': []}
    with Bag(tmp_path / 'bag') as bag:
        restamp = Restamper(bag, Schedule(bag.start_ns, rate, NOW_NS))
        for item in bag.raw():
            data = restamp(item)
            message: Any = bag.typestore.deserialize_cdr(data, 'sensor_msgs/msg/JointState')
            stamp = message.header.stamp
            found[item.topic].append(stamp.sec * 10**9 + stamp.nanosec - NOW_NS)
    period = round(10**8 / rate)
    assert found['/legs'] == [number * period for number in range(4)]
    early = round(2 * 10**7 / rate)
    assert found['/other_legs'] == [number * period - early for number in range(4)]


def test_a_message_without_bytes_stays_as_it_is(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(20)) as bag:
        restamp = Restamper(bag, Schedule(bag.start_ns, 1.0, NOW_NS))
        assert restamp(RawMessage('/actuator_states', bag.start_ns, b'')) == b''


def test_recorded_stamps_leave_the_bytes_alone(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(20)) as bag:
        restamp = Restamper(bag, Schedule(bag.start_ns, 3.0))
        assert all(restamp(item) == item.data for item in bag.raw())


def test_stamps_inside_lists_are_shifted_and_zero_stays_zero(
    tmp_path: Path, store: Typestore
) -> None:
    types = store.types
    stamps = [START_NS, 0, START_NS + 10**9]
    transforms = [
        types['geometry_msgs/msg/TransformStamped'](
            types['std_msgs/msg/Header'](
                types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9)), 'base_link'
            ),
            'platform_link',
            types['geometry_msgs/msg/Transform'](
                types['geometry_msgs/msg/Vector3'](1.0, 2.0, 3.0),
                types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
            ),
        )
        for stamp in stamps
    ]
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/tf', START_NS, types['tf2_msgs/msg/TFMessage'](transforms))
    with Bag(tmp_path / 'bag') as bag:
        (item,) = bag.raw()
        data = Restamper(bag, Schedule(START_NS, 1.0, NOW_NS))(item)
        message: Any = bag.typestore.deserialize_cdr(data, 'tf2_msgs/msg/TFMessage')
    found = [
        item.header.stamp.sec * 10**9 + item.header.stamp.nanosec for item in message.transforms
    ]
    assert found == [NOW_NS, 0, NOW_NS + 10**9]
    assert message.transforms[2].transform.translation.z == 3.0


def test_clock_ticks_between_the_messages(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(201)) as bag:
        schedule = Schedule(bag.start_ns, rate=2.0)
        played = list(with_clock(bag.raw(['/actuator_states']), schedule, 20.0))
    times = [item.time_ns for item in played]
    assert times == sorted(times)
    ticks = [item for item in played if item.topic == '/clock']
    # One second of the bag takes half a second to play: ten ticks and the first.
    assert [item.time_ns - START_NS for item in ticks] == [n * 100_000_000 for n in range(11)]
    stamps = [np.frombuffer(item.data, '<u4', 2, 4) for item in ticks]
    assert [int(s) * 10**9 + int(n) for s, n in stamps] == [item.time_ns for item in ticks]


def test_recorded_clock_gives_way_to_ours(tmp_path: Path, store: Typestore) -> None:
    types = store.types
    clock = types['rosgraph_msgs/msg/Clock'](types['builtin_interfaces/msg/Time'](1, 2))
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/clock', START_NS, clock)
        writer.write('/note', START_NS + 1, types['std_msgs/msg/String']('x'))
    with Bag(tmp_path / 'bag') as bag:
        played = list(with_clock(bag.raw(), Schedule(START_NS), 10.0))
    assert [(item.topic, item.time_ns) for item in played] == [
        ('/clock', START_NS),
        ('/note', START_NS + 1),
    ]
