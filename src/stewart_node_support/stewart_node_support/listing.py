# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""All entities of the nodes of an executor, sorted by what it does with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

from rclpy.context import Context
from rclpy.node import Node
from stewart_node_support.courier import Box
from stewart_node_support.entities import Item, items_of, WaitList


class Listing(NamedTuple):
    """All entities of an executor, and those that it calls directly.

    Attributes:
        subscriptions: Those that it calls, by topic.
        boxes: By subscription, also of those that it does not call.
        boxed: Subscriptions that it calls and that bytes are handed over to.
        waits_of_timers: What tells the time until each timer of a node is due [ns].
        hiding: Whether only a wait can tell that something in this process has made one ready.
    """

    timers: list[Item]
    subscriptions: dict[str, list[Item]]
    boxes: dict[Any, Box]
    boxed: list[Item]
    waits_of_timers: dict[Node, list[Callable[[], int | None]]]
    waits: WaitList
    hiding: bool

    @classmethod
    def of(
        cls,
        nodes: Iterable[Node],
        guards: Iterable[Any],
        boxes: Mapping[Any, Box],
        context: Context,
    ) -> Listing:
        """List the entities of nodes.

        Args:
            nodes: In the order in which they are called.
            guards: Guard conditions of the executor itself.
            boxes: Those that subscriptions have already.
        """
        of_nodes = [(node, list(items_of(node, boxes))) for node in nodes]
        items = list(chain.from_iterable(found for _, found in of_nodes))
        own = [Item(guard, None, 'guard_condition') for guard in guards]
        subscriptions: dict[str, list[Item]] = {}
        for item in items:
            if item.kind == 'subscription' and item.call is not None:
                subscriptions.setdefault(item.entity.topic_name, []).append(item)
        return cls(
            timers=[item for item in items if item.kind == 'timer'],
            subscriptions=subscriptions,
            boxes={item.entity: item.box for item in items if item.box is not None},
            boxed=[item for item in items if item.box is not None and item.call is not None],
            waits_of_timers={node: _timer_waits(found) for node, found in of_nodes},
            waits=WaitList([*own, *items], context),
            hiding=any(item.hidden for item in items) or _publishes_unheard(of_nodes),
        )


def _timer_waits(items: Iterable[Item]) -> list[Callable[[], int | None]]:
    return [item.entity.handle.time_until_next_call for item in items if item.kind == 'timer']


def _publishes_unheard(of_nodes: Iterable[tuple[Node, list[Item]]]) -> bool:
    """Tell whether a node publishes to one of the nodes in a way that is not counted."""
    heard, told = set(), set()
    for node, items in of_nodes:
        heard |= {item.entity.topic_name for item in items if item.kind == 'subscription'}
        counted = {item.topic for item in getattr(node, 'published', {}).values()}
        told |= {item.topic_name for item in node.publishers} - counted
    return bool(told & heard)
