# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Record topics, as the bytes that they are, into a bag that stays readable whatever happens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
import math
from operator import itemgetter
import time
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.exceptions import InvalidTopicNameException
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from stewart_bags.definitions import message_class
from stewart_bags.errors import BagError, UnknownType
from stewart_bags.nodes.offered_qos import matching, to_bag
from stewart_bags.overlaps import SOUND
from stewart_bags.recording import CAPACITY, Recording
from stewart_bags.topics import NS
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_node_support.courier import Box
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.inbox import Gate
from stewart_node_support.parameters import declare
from stewart_node_support.running import run
from stewart_tables.errors import counted
from stewart_tables.settings import param

# Messages are fetched this often [s]; the subscriptions hold five seconds of them. In simulated
# time they have no time of reception but that of the fetch.
FETCH_PERIOD = 0.02
SIMULATED_FETCH_PERIOD_NS = 5_000_000
# In one of so many periods the middleware may tell of messages that it has lost.
FETCHES_PER_LOOK = 50
# The disk is looked at so often [s].
FAILURE_PERIOD = 0.2
# A driver comes to rest within 15 s; after those launch sends SIGTERM [s].
LONGEST_OUTLIVING = 14.0


@dataclass(frozen=True)
class RecorderParameters:
    """Parameters of the recorder."""

    topics: tuple[str, ...] = param((), 'topics to record; none for all that are seen')
    output: str = param('recording', 'directory of the bag; must not exist')
    storage: str = param(
        'mcap', 'how messages lie on disk', choices=[item.value for item in Storage]
    )
    compression: str = param(
        'none', 'what is compressed with zstd', choices=[item.value for item in Compression]
    )
    poll_period: float = param(
        0.1, 'time between two looks for new topics [s]', min=0.01, max=60.0
    )
    queue_size: int = param(CAPACITY, 'messages that may wait for the disk', min=1, max=10_000_000)
    exit_on_failure: bool = param(True, 'end with exit code 1 when the disk takes no more')
    outlive: str = param(
        '',
        'topic whose last publisher is waited for after a request to stop, '
        f'{LONGEST_OUTLIVING:g} s at most; empty: end at once',
    )


class Recorder(Node):
    """Subscribe to topics with what their publishers offer, write a bag.

    Bag time is the time of reception, as the middleware tells it; in simulated time it is that
    time when the message is fetched, up to 5 ms later, and the recorder waits for a slow disk
    instead of losing messages.
    """

    # Whoever composes nodes calls `discover` before they publish, so that no message comes too
    # early, and lets the executor run until `counts` agree.
    #
    # One callback per message costs rclpy 0.1 ms; at a thousand messages per second that is a
    # sixth of a core, which the other nodes then lack. So the recorder empties its subscriptions
    # itself. Their events wake the executor, too, whenever a message is there, and are listened to
    # for a moment now and then.

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('recorder', **kwargs)
        self._chosen = parameters = declare(self, RecorderParameters)
        writer = BagWriter(
            parameters.output,
            storage=Storage(parameters.storage),
            compression=Compression(parameters.compression),
        )
        self.recording = Recording(writer, capacity=parameters.queue_size)
        self.path = writer.path
        self._wanted = {self.resolve_topic_name(name) for name in parameters.topics}
        self._subscriptions_by_topic: dict[str, tuple[Subscription, QoSProfile]] = {}
        # By name: in which order topics are discovered is chance, and is not to be seen in a bag.
        self._boxes: list[tuple[str, Box]] = []
        self._msgtypes: dict[str, str] = {}
        self._ambiguous, self._unrecordable = set[str](), set[str]()
        self._dropped_before_us = 0
        self._diagnostics = Diagnostics(self, str(writer.path))
        self._diagnostics.add('recording', self._report)
        self._messages, self._events = Gate(), Gate()
        self._fetched = self._taken = 0
        # Bag time of the last message, and by how much a clock that was set back fell behind [ns].
        self._latest_ns = self._set_back_ns = 0
        self._fetching = self.create_timer(FETCH_PERIOD, self._fetch)
        self._timers_running = [
            self.create_timer(parameters.poll_period, self.discover),
            self._fetching,
            self.create_timer(FAILURE_PERIOD, self._look_at_disk),
        ]
        self._asked_to_end = math.inf
        self.discover()

    @property
    def counts(self) -> dict[str, int]:
        """Messages written so far, by topic; final after `destroy_node`."""
        return self.recording.counts

    @property
    def topics(self) -> set[str]:
        """Topics that are being recorded."""
        return set(self._subscriptions_by_topic)

    @property
    def lost(self) -> int:
        """Messages that did not get into the bag, as far as anyone knows."""
        return sum(self.recording.lost.values()) + self._dropped_before_us

    def discover(self) -> None:
        """Look for topics that have publishers, and follow publishers that offer less."""
        for topic, _ in self.get_topic_names_and_types():
            if self._wanted and topic not in self._wanted:
                continue
            # Names with a leading underscore are hidden: the inner topics of actions.
            if not self._wanted and '/_' in topic:
                continue
            offers = defaultdict[str, list[QoSProfile]](list)
            for item in self.get_publishers_info_by_topic(topic):
                offers[item.topic_type].append(item.qos_profile)
            if offers and topic not in self._unrecordable:
                self._choose(topic, offers)

    @property
    def may_end(self) -> bool:
        """Whether a request to stop is heeded: what the rig does on its end is wanted, too."""
        now, topic = time.monotonic(), self._chosen.outlive
        self._asked_to_end = min(self._asked_to_end, now)
        waited = now - self._asked_to_end > LONGEST_OUTLIVING
        return not topic or waited or not self.count_publishers(topic)

    def destroy_node(self) -> None:
        """Write what is waiting, finish the bag, then take the node down; once is enough.

        Raises:
            BagError: If the disk has failed, and the parameter ``exit_on_failure`` is true.
        """
        running, self._timers_running = self._timers_running, []
        for timer in running:
            timer.cancel()
        if running:
            self._fetch()
        while self._subscriptions_by_topic:
            _, (subscription, _) = self._subscriptions_by_topic.popitem()
            self.destroy_subscription(subscription)
        try:
            self.recording.close()
        except BagError as error:
            # Whoever runs the node says what is raised.
            if not self._chosen.exit_on_failure:
                self.get_logger().error(str(error))
        super().destroy_node()
        if running:
            self._look_at_disk()

    def _look_at_disk(self) -> None:
        if self._chosen.exit_on_failure and self.recording.failure is not None:
            raise self.recording.failure

    def _choose(self, topic: str, offers: Mapping[str, list[QoSProfile]]) -> None:
        """Follow the publishers of one type: that which a topic had first."""
        msgtype = self._msgtypes.setdefault(topic, min(offers))
        others = offers.keys() - {msgtype}
        if others and topic not in self._ambiguous:
            self._ambiguous.add(topic)
            said = f'{topic} is recorded as {msgtype}, not what others publish there'
            self.get_logger().warning(f'{said}: {", ".join(sorted(others))}')
        if msgtype in offers:
            self._follow(topic, msgtype, offers[msgtype])

    def _follow(self, topic: str, msgtype: str, offers: list[QoSProfile]) -> None:
        request = matching(offers)
        present = self._subscriptions_by_topic.get(topic)
        if present is not None:
            if not _asks_less(request, present[1]):
                return
            self._fetch()
            self.destroy_subscription(present[0])
            self._boxes = [item for item in self._boxes if item[0] != topic]
        try:
            kind = message_class(msgtype)
            self.recording.add_topic(topic, msgtype, qos=[to_bag(item) for item in offers])
            box = Box(request.depth)
            subscription = self.create_subscription(
                kind,
                topic,
                box,
                request,
                raw=True,
                event_callbacks=SubscriptionEventCallbacks(message_lost=self._on_lost),
            )
        except (UnknownType, InvalidTopicNameException, _rclpy.RCLError) as error:
            self._unrecordable.add(topic)
            self.get_logger().warning(f'{topic} is not recorded: {error}')
            return
        except BagError:
            return  # the disk has failed; the diagnostics say so
        subscription.callback_group = self._messages
        for handler in subscription.event_handlers:
            handler.callback_group = self._events
        box.belong_to(subscription)
        self._subscriptions_by_topic[topic] = (subscription, request)
        self._boxes = sorted([*self._boxes, (topic, box)], key=itemgetter(0))

    def _fetch(self) -> None:
        """Take what has arrived on all topics, in the order of its arrival."""
        self._fetched += 1
        self._events.open = self._fetched % FETCHES_PER_LOOK == 0
        clock = self.get_clock()
        now, simulated = clock.now().nanoseconds, clock.ros_time_is_active
        if simulated:
            self._fetching.timer_period_ns = SIMULATED_FETCH_PERIOD_NS
        fetched = []
        for topic, box in self._boxes:
            while (taken := box.take()) is not None:
                data, received = taken
                fetched.append((now if simulated else received or now, topic, data))
        self._taken += len(fetched)
        fetched.sort(key=itemgetter(0))
        if fetched and not simulated:
            self._watch_clock(fetched)
        for item, topic, data in fetched:
            self.recording.put(topic, item, data, patient=simulated)

    def _watch_clock(self, fetched: list[tuple[int, str, bytes]]) -> None:
        """Tell if what came now came before what is in the bag, by the clock of the computer.

        What came before the clock was set back is put first, the rest stays sorted by time.
        """
        behind = self._latest_ns - fetched[0][0]
        if behind > SOUND * NS:
            self._set_back_ns = behind
            self.get_logger().warning(self._set_back())
            between = self._latest_ns - behind / 2
            fetched.sort(key=lambda item: (item[0] < between, item[0]))
        self._latest_ns = fetched[-1][0]

    def _set_back(self) -> str:
        said = 'the clock of this computer was set back by'
        return f'{said} {self._set_back_ns / NS:.3g} s: the bag goes over the same time twice'

    def _on_lost(self, event: Any) -> None:
        self._dropped_before_us += int(event.total_count_change)

    def _report(self) -> Report:
        recording = self.recording
        values = {'taken': self._taken, 'lost': self.lost, 'topics': len(self.topics)}
        if not self.get_clock().ros_time_is_active:
            # The writer's thread follows no simulated time.
            values['waiting'] = recording.waiting
            values['waiting_bytes'] = recording.waiting_bytes
            values['size_bytes'] = recording.size
        if recording.failure is not None:
            return Report(Level.ERROR, str(recording.failure), values)
        if self.lost:
            return Report(Level.WARN, f'{counted(self.lost, "message")} lost', values)
        if self._set_back_ns:
            return Report(Level.WARN, self._set_back(), values)
        if self._wanted - self.topics:
            waits = ', '.join(sorted(self._wanted - self.topics))
            return Report(Level.WARN, f'nobody publishes {waits}', values)
        return Report(Level.OK, f'recording to {self.path}', values)


def _asks_less(request: QoSProfile, present: QoSProfile) -> bool:
    """Tell whether a new request can be served by publishers that cannot serve the present one."""
    return bool(
        request.reliability > present.reliability or request.durability > present.durability
    )


if __name__ == '__main__':
    run(Recorder)
