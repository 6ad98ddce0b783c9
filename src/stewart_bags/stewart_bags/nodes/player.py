# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Publish what a bag holds, in its rhythm."""

from __future__ import annotations

from dataclasses import dataclass
import threading
import time
from typing import Any

from rclpy.exceptions import InvalidTopicNameException
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from stewart_bags.definitions import differs_here, message_class
from stewart_bags.errors import BagError, UnknownType
from stewart_bags.nodes.offered_qos import to_play
from stewart_bags.playback import CLOCK, Restamper, Schedule, selected, with_clock
from stewart_bags.reading import Bag
from stewart_bags.topics import NS
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.errors import sentence_of
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS
from stewart_tables.settings import param

# At its end the player waits so long for subscriptions that stand still, which may have been
# killed, and looks this often [s].
RECEPTION, LOOK = 10.0, 0.01
# So that a single message is not repeated without a pause [s].
SHORTEST_LOOP = 0.1


@dataclass(frozen=True)
class PlayerParameters:
    """Parameters of the player."""

    bag: str = param('recording', 'path of the bag')
    topics: tuple[str, ...] = param((), 'topics to play; none for all')
    prefix: str = param('', 'put before every topic, such as /replay')
    rate: float = param(1.0, 'how much faster than recorded [-]', min=1e-3, max=1e3)
    start_offset: float = param(
        0.0, 'where to start after the first message [s]', min=0.0, max=1e9
    )
    start_delay: float = param(
        0.5, 'silence before the first message, for subscribers to join [s]', min=0.0, max=60.0
    )
    loop: bool = param(False, 'begin anew at the end')
    stamps: str = param(
        'recorded', 'stamps of headers as recorded, or shifted to now', choices=['recorded', 'now']
    )
    publish_clock: float = param(0.0, 'frequency of /clock [Hz]; 0 for none', min=0.0, max=1e4)
    exit_at_end: bool = param(False, 'end with exit code 0 when all is played')


class Player(Node):
    """Publish the topics of a bag from a thread paced by the steady clock.

    Attributes:
        finished: Set when all is played, and has arrived, or the player was stopped.
        failure: Why it ended early, if it did.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('player', **kwargs)
        self._chosen = parameters = declare(self, PlayerParameters)
        self.published: dict[str, CountedPublisher] = {}
        self.finished = threading.Event()
        self.failure: Exception | None = None
        self.position = 0.0
        self._stop = threading.Event()
        self.bag = Bag(parameters.bag)
        try:
            names = [self.bag.topic(name).name for name in parameters.topics]
        except BagError:
            self.bag.close()
            raise
        self._publishers_by_topic = self._open(names or list(self.bag.topics))
        self._diagnostics = Diagnostics(self, parameters.bag)
        self._diagnostics.add('playing', self._report)
        self._end = self.create_guard_condition(self._on_end)
        self._thread = threading.Thread(target=self._play, name='bag_player', daemon=True)
        self._thread.start()

    @property
    def count(self) -> int:
        """Messages published so far."""
        return sum(item.count for item in self._publishers_by_topic.values())

    def destroy_node(self) -> None:
        """Stop to play, close the bag, then take the node down."""
        self._stop.set()
        self._thread.join()
        self.bag.close()
        super().destroy_node()

    def _open(self, names: list[str]) -> dict[str, CountedPublisher]:
        publishers = {}
        for name in names:
            topic = self.bag.topics[name]
            if name == CLOCK and self._chosen.publish_clock:
                continue
            if topic.definition and differs_here(topic.definition, topic.msgtype):
                # Whoever hears it would read the numbers from other places.
                other = f'{topic.msgtype} was defined otherwise when it was recorded'
                self.get_logger().warning(f'{name} is not played: {other}')
                continue
            try:
                kind = message_class(topic.msgtype)
                target = f'{self._chosen.prefix}{name}'
                publishers[name] = CountedPublisher(self, kind, target, to_play(topic))
            # Other middleware allows names that ROS 2 does not, such as /camera/0/image.
            except (UnknownType, InvalidTopicNameException) as error:
                self.get_logger().warning(f'{name} is not played: {sentence_of(error)}')
        if self._chosen.publish_clock:
            publishers[CLOCK] = CountedPublisher(self, Clock, CLOCK, COMMAND_QOS)
        return publishers

    def _play(self) -> None:
        try:
            self._stop.wait(self._chosen.start_delay)
            while not self._stop.is_set():
                self._play_once()
                if not self._chosen.loop:
                    self._await_reception()
                    break
        except Exception as error:  # a thread that ends by one tells nobody
            self.failure = error
            if not self._chosen.exit_at_end:
                self.get_logger().error(str(error))
        finally:
            self.finished.set()
            if not self._stop.is_set():
                self._end.trigger()

    def _play_once(self) -> None:
        parameters, bag = self._chosen, self.bag
        now = self.get_clock().now().nanoseconds if parameters.stamps == 'now' else None
        offset = parameters.start_offset
        schedule = Schedule(bag.start_ns + round(offset * NS), parameters.rate, now)
        messages = selected(bag, self._publishers_by_topic.keys() & bag.topics.keys(), offset)
        if parameters.publish_clock:
            messages = with_clock(messages, schedule, parameters.publish_clock)
        restamp = Restamper(bag, schedule)
        begin = time.monotonic()
        for message in messages:
            wait = schedule.due(message.time_ns) - (time.monotonic() - begin)
            if self._stop.wait(wait) if wait > 0 else self._stop.is_set():
                return
            data = message.data if message.topic == CLOCK else restamp(message)
            self._publishers_by_topic[message.topic].publish(data)
            self.position = (message.time_ns - bag.start_ns) / NS
        if parameters.loop:
            # Topics that end before the bag does keep their period.
            played = max(schedule.due(bag.end_ns), SHORTEST_LOOP)
            self._stop.wait(max(0.0, played - (time.monotonic() - begin)))

    def _await_reception(self) -> None:
        """Wait until all has arrived: who ends takes along what a busy machine still holds."""
        end = time.monotonic() + RECEPTION
        while not all(item.received for item in self._publishers_by_topic.values()):
            if time.monotonic() > end or self._stop.wait(LOOK):
                return

    def _on_end(self) -> None:
        if self._chosen.exit_at_end:
            if self.failure is not None:
                raise self.failure
            # What the executor's owner takes for the regular end of everything.
            raise ExternalShutdownException

    def _report(self) -> Report:
        values = {'position_s': self.position, 'messages': self.count}
        if self.failure is not None:
            return Report(Level.ERROR, str(self.failure), values)
        state = 'finished' if self.finished.is_set() else 'playing'
        return Report(Level.OK, f'{state} {self.bag.path}', values)
