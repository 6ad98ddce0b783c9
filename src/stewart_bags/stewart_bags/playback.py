# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is played from a bag, when, and with which stamps: all of a player that needs no ROS."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
import struct
from typing import Any

from rosbags.interfaces import Nodetype, QosDurability
from stewart_bags.cdr_layout import layout_of, LayoutError
from stewart_bags.definitions import nested
from stewart_bags.errors import BagError
from stewart_bags.findings import ANOTHER_CLOCK_NS
from stewart_bags.reading import Bag
from stewart_bags.topics import NS, RawMessage, Topic

_STAMP = {0: struct.Struct('>iI'), 1: struct.Struct('<iI')}
_CLOCK = struct.Struct('<4siI')
HEADER = 'std_msgs/msg/Header'
TIME = 'builtin_interfaces/msg/Time'
CLOCK = '/clock'
TRANSFORMS = 'tf2_msgs/msg/TFMessage'
# The stamp of a header that comes first stands right behind the encapsulation.
FIRST_STAMP = 4


class NothingToPlay(BagError):
    """The bag has no message in what was asked for."""


@dataclass(frozen=True)
class Schedule:
    """When a message of the bag is due, and what its stamps become.

    Attributes:
        start_ns: Bag time at which playing starts [ns].
        rate: How much faster than recorded; above 0.
        now_ns: What `start_ns` is shifted to [ns since the epoch]; None leaves stamps as recorded.
    """

    start_ns: int
    rate: float = 1.0
    now_ns: int | None = None

    def due(self, time_ns: int) -> float:
        """Return when a message of that bag time is due, after the start of playing [s].

        Latched messages from before the start are due at once.
        """
        return max(0, time_ns - self.start_ns) / NS / self.rate

    def shifted(self, stamp_ns: int) -> int:
        """Shift a stamp [ns], and scale its distance from the start with the rate."""
        if self.now_ns is None:
            return stamp_ns
        return max(0, self.now_ns + round((stamp_ns - self.start_ns) / self.rate))


def selected(bag: Bag, topics: Collection[str], start_offset: float) -> Iterator[RawMessage]:
    """Choose the messages of some topics from an offset after the first message of the bag on [s].

    First come the messages before the start that a latched topic's publishers still offer then,
    then all from there on.

    Raises:
        MissingTopic: If there is no such topic.
        NothingToPlay: If the bag ends before the start.
    """
    names = [bag.topic(name).name for name in topics]
    if not sum(bag.topics[name].count for name in names) or start_offset > bag.duration:
        raise NothingToPlay(
            f'{bag.path}: nothing to play {start_offset:g} s after the start, '
            f'it lasts {bag.duration:g} s and has {bag.count} messages on {len(bag.topics)} topics'
        )
    start_ns = bag.start_ns + round(start_offset * NS)
    latched = [name for name in names if is_latched(bag.topics[name])]
    held = {name: deque[RawMessage](maxlen=_offered(bag.topics[name])) for name in latched}
    if latched:
        for message in bag.raw(latched, stop_ns=start_ns):
            held[message.topic].append(message)
    yield from sorted((item for part in held.values() for item in part), key=lambda m: m.time_ns)
    yield from bag.raw(names, start_ns=start_ns)


def is_latched(topic: Topic) -> bool:
    """Tell whether the publishers of a topic offered its last messages to late subscribers."""
    return bool(topic.qos) and all(
        item.durability == QosDurability.TRANSIENT_LOCAL for item in topic.qos
    )


def _offered(topic: Topic) -> int | None:
    """Return how many messages of a latched topic its publishers offer at once; None for all."""
    if topic.msgtype == TRANSFORMS:
        # Each broadcaster says other frames, and not every bag knows how many there were.
        return None
    return sum(max(1, item.depth) for item in topic.qos)


class Restamper:
    """Put other stamps into serialised messages, as a schedule says.

    Stamps that are zero were never set and stay zero; a message that does not fit its type stays
    as it is. Stamps of another clock than the bag's are shifted with the difference of the clocks.
    """

    def __init__(self, bag: Bag, schedule: Schedule) -> None:
        self._bag = bag
        self._schedule = schedule
        self._headed: dict[str, bool] = {}
        self._ahead: dict[str, int] = {}

    def __call__(self, message: RawMessage) -> bytes:
        """Return the bytes of a message with its stamps shifted."""
        if self._schedule.now_ns is None:
            return message.data
        data = bytearray(message.data)
        for at in self._places(message):
            pattern = _STAMP[data[1] & 1]
            seconds, rest = pattern.unpack_from(data, at)
            if seconds or rest:
                stamp_ns = seconds * NS + rest
                stamp_ns -= self._clock_ahead(message, stamp_ns)
                pattern.pack_into(data, at, *divmod(self._schedule.shifted(stamp_ns), NS))
        return bytes(data)

    def _clock_ahead(self, message: RawMessage, stamp_ns: int) -> int:
        """Return how far ahead of the bag's clock that of a topic's stamps is [ns].

        Topics whose clocks are about as far ahead share one: what lies between their stamps stays.
        """
        found = self._ahead.get(message.topic)
        if found is None:
            ahead = stamp_ns - message.time_ns
            known = (0, *self._ahead.values())
            found = next((item for item in known if abs(ahead - item) < ANOTHER_CLOCK_NS), ahead)
            self._ahead[message.topic] = found
        return found

    def _places(self, message: RawMessage) -> list[int]:
        """Return where the stamps lie in a message."""
        topic = self._bag.topics[message.topic]
        first = self._headed.get(topic.name)
        if first is None:
            first = self._headed[topic.name] = self._begins_with_only_header(topic.msgtype)
        if first and len(message.data) >= FIRST_STAMP + 8:
            return [FIRST_STAMP]
        try:
            layout = layout_of(self._bag.typestore, topic.msgtype, message.data)
        except LayoutError:
            return []
        return [
            layout.fields[f'{path}.sec'][0]
            for path in layout.times
            if path.rpartition('.')[2] == 'stamp'
        ]

    def _begins_with_only_header(self, msgtype: str) -> bool:
        """Tell whether the one stamp of a type is that of its header, which comes first."""
        fields = self._fields(msgtype)
        headed = bool(fields) and fields[0][1] == (Nodetype.NAME, HEADER)
        return headed and not self._has_time(fields[1:])

    def _has_time(self, fields: Sequence[Any]) -> bool:
        return any(kind == TIME or self._has_time(self._fields(kind)) for kind in nested(fields))

    def _fields(self, msgtype: str) -> Sequence[Any]:
        return self._bag.typestore.fielddefs.get(msgtype, ([], []))[1]


def with_clock(
    messages: Iterable[RawMessage], schedule: Schedule, frequency: float
) -> Iterator[RawMessage]:
    """Put ticks of /clock [Hz of playing] in place of a recorded one, as the schedule has them."""
    period = schedule.rate / frequency * NS
    ticks = 0
    for message in messages:
        if message.topic == CLOCK:
            continue
        while (tick := schedule.start_ns + round(ticks * period)) <= message.time_ns:
            data = _CLOCK.pack(b'\0\1\0\0', *divmod(schedule.shifted(tick), NS))
            yield RawMessage(CLOCK, tick, data)
            ticks += 1
        yield message
