# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The entities of nodes: calling them directly, and a wait set that is kept between waits.

What is called directly is over when the call returns: its callback group, which a coroutine may
occupy, is asked, but need not be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from inspect import iscoroutinefunction, signature
from time import monotonic_ns
from typing import Any, NamedTuple

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.waitable import NumberOfEntities
from stewart_node_support.courier import Box

# In the order of the fields of NumberOfEntities.
KINDS = ('subscription', 'guard_condition', 'timer', 'client', 'service')
FOREVER = -1
NOW = 0
PLAIN_GROUPS = (MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup)
# Publishers and subscriptions have events, such as a QoS that does not fit. rclpy adds each
# to the wait set in Python, and nobody needs to know at once [ns].
EVENTS_PERIOD = 100_000_000
# A rig has a hundred services, more than all else together, and a person to ask them [ns].
SERVICES_PERIOD = 10_000_000


class Item(NamedTuple):
    """An entity that an executor waits for.

    Attributes:
        node: Its node; None for a guard condition of the executor itself.
        kind: One of `KINDS`; empty for a waitable.
        call: Calls it back if it is ready and returns whether it did; None if only rclpy can.
        gated: Whether its callback group has rules of its own, which are asked before every wait.
        box: Where bytes are handed over to a subscription; None if it takes no part in that.
    """

    entity: Any
    node: Node | None
    kind: str
    call: Callable[[], bool] | None = None
    gated: bool = False
    box: Box | None = None

    @property
    def hidden(self) -> bool:
        """Whether only a wait can tell that something in this process has made it ready."""
        if self.kind == 'subscription':
            return self.call is None and self.box is None
        if self.kind == 'timer':
            return self.call is None
        # A service is asked by a client.
        return self.kind != 'service' and not _is_event(self)


def items_of(node: Node, boxes: Mapping[Any, Box]) -> Iterator[Item]:
    """Yield all entities of a node, in rclpy's order.

    Args:
        boxes: Those that subscriptions have already.
    """
    for kind, entities in (
        ('', node.waitables),
        ('timer', node.timers),
        ('subscription', node.subscriptions),
        ('guard_condition', node.guards),
        ('client', node.clients),
        ('service', node.services),
    ):
        for entity in entities:
            gated = type(entity.callback_group) not in PLAIN_GROUPS
            call, box = None, None
            if kind == 'timer' and not gated:
                call = _timer_call(entity)
            elif kind == 'guard_condition' and not gated:
                call = _guard_call(entity)
            elif kind == 'subscription':
                call, box = _ways_of(entity, boxes.get(entity), gated=gated)
            yield Item(entity, node, kind, call, gated, box)


class _Entries(NamedTuple):
    """Items with their places and how each is added to the wait set."""

    all: list[Any]
    free: list[Any]
    gated: list[Any]

    @classmethod
    def of(cls, entries: list[Any]) -> _Entries:
        """Tell those apart whose callback groups are to be asked before every wait."""
        free = [entry for entry in entries if not entry[1].gated]
        return cls(entries, free, [entry for entry in entries if entry[1].gated])


class WaitList:
    """Wait for the same entities again and again; destroyed ones stay usable until it is closed.

    Args:
        items: In the order in which they are to be called. Destroyed ones are left out.

    Raises:
        NotImplementedError: If a waitable has guard conditions of its own. A wait resets them, so
            rclpy, which looks again before it calls a waitable, would not see them.
    """

    def __init__(self, items: Iterable[Item], context: Context) -> None:
        # Even a wait with a timeout of zero sleeps, for as long as the kernel's timer slack. With
        # a condition that is already triggered the middleware does not sleep.
        self._end_wait = GuardCondition(callback=None, callback_group=None, context=context)
        self._items: list[Item] = []
        with ExitStack() as kept:
            kept.callback(self._end_wait.destroy)
            kept.enter_context(self._end_wait.handle)
            kept.enter_context(context.handle)
            for item in items:
                with suppress(InvalidHandle):
                    kept.enter_context(item.entity.handle if item.kind else item.entity)
                    self._items.append(item)
            self._wait_set = _wait_set(self._items, context)
            self._kept = kept.pop_all()
        kinds = {item.kind for item in self._items}
        self._kinds = [kind for kind in KINDS if kind in kinds]
        self._waitables = '' in kinds
        entries = [
            (at, item, getattr(self._wait_set, f'add_{item.kind}'), item.entity.handle)
            if item.kind
            else (at, item, item.entity.add_to_wait_set, self._wait_set)
            for at, item in enumerate(self._items)
        ]
        self._at = {item.entity.handle.pointer: at for at, item, *_ in entries if item.kind}
        self._all = _Entries.of(entries)
        usual = [entry for entry in entries if not _is_event(entry[1])]
        self._without_events = _Entries.of(usual)
        self._without_services = _Entries.of([e for e in usual if e[1].kind != 'service'])
        timeless = [entry for entry in usual if entry[1].kind != 'timer' or entry[1].call is None]
        self._timeless = _Entries.of(timeless)
        self._services_due = self._events_due = 0

    def close(self) -> None:
        """Release all entities."""
        self._kept.close()

    def ready_now(self, *, busy: bool = False) -> list[Item]:
        """Return what is ready, without the timers that can be called directly and events."""
        return self._ready_of(self._timeless, NOW, busy)

    def ready(self, timeout: int, *, busy: bool = False) -> list[Item]:
        """Wait until an entity is ready, and return those that are, in the order of the list.

        Services are looked at once in `SERVICES_PERIOD`, events once in `EVENTS_PERIOD`, both
        when nothing else happens.

        Args:
            timeout: Longest wait [ns]; `FOREVER` or `NOW` are possible.
            busy: Whether a coroutine may occupy a callback group, so that all groups are asked;
                otherwise only those of gated items are.
        """
        for chosen, due in (
            (self._without_services, min(self._services_due, self._events_due)),
            (self._without_events, self._events_due),
        ):
            left = due - monotonic_ns()
            if left > 0:
                soon = timeout if NOW <= timeout <= left else left
                found = self._ready_of(chosen, soon, busy)
                if chosen is self._without_events:
                    self._services_due = monotonic_ns() + SERVICES_PERIOD
                if found or soon == timeout:
                    return found
                timeout = timeout if timeout == FOREVER else timeout - left
        found = self._ready_of(self._all, timeout, busy)
        now = monotonic_ns()
        self._services_due, self._events_due = now + SERVICES_PERIOD, now + EVENTS_PERIOD
        return found

    def _ready_of(self, chosen: _Entries, timeout: int, busy: bool) -> list[Item]:
        """Wait for some of the entities."""
        free, asked = ([], chosen.all) if busy else (chosen.free, chosen.gated)
        entries = free + [entry for entry in asked if _may_be_called(entry[1].entity)]
        wait_set, at = self._wait_set, self._at
        wait_set.clear_entities()
        for _, _, add, argument in entries:
            add(argument)
        if timeout == NOW:
            self._end_wait.trigger()
            wait_set.add_guard_condition(self._end_wait.handle)
        wait_set.wait(timeout)
        pointers = (p for kind in self._kinds for p in wait_set.get_ready_entities(kind))
        found = [at[pointer] for pointer in pointers if pointer in at]
        for where, item, _, _ in entries if self._waitables else ():
            if not item.kind and item.entity.is_ready(wait_set):
                found.append(where)
        return [self._items[where] for where in sorted(found)]


def _is_event(item: Item) -> bool:
    """Tell whether an item is an event of a publisher or of a subscription, and nothing else."""
    if item.kind:
        return False
    own = item.entity.get_num_entities()
    return own.num_events > 0 and not any(getattr(own, f'num_{kind}s') for kind in KINDS)


def _may_be_called(entity: Any) -> bool:
    group = entity.callback_group
    return group is None or bool(group.can_execute(entity))


def _wait_set(items: Iterable[Item], context: Context) -> Any:
    """Return a wait set with room for the items and one more guard condition."""
    found = Counter(item.kind for item in items)
    counts = NumberOfEntities(*(found[kind] for kind in KINDS))
    counts.num_guard_conditions += 1
    for item in items:
        if not item.kind:
            own = item.entity.get_num_entities()
            if own.num_guard_conditions:
                raise NotImplementedError(
                    f'{type(item.entity).__name__} has guard conditions of its own: spin its node'
                    ' with rclpy.executors.SingleThreadedExecutor'
                )
            counts += own
    sizes = ('subscriptions', 'guard_conditions', 'timers', 'clients', 'services', 'events')
    return _rclpy.WaitSet(*(getattr(counts, f'num_{size}') for size in sizes), context.handle)


def _timer_call(timer: Any) -> Callable[[], bool] | None:
    """Return what calls a timer back if it is due, and returns whether it did.

    None for callbacks that only rclpy can call: coroutines and those with a TimerInfo.
    """
    if not _accepts(timer.callback, 0):
        return None
    handle, is_free = timer.handle, timer.callback_group.can_execute
    is_due, advance = handle.is_timer_ready, handle.call_timer

    def call() -> bool:
        if not (is_due() and is_free(timer)):
            return False
        advance()
        timer.callback()
        return True

    return call


def _guard_call(guard: Any) -> Callable[[], bool] | None:
    """Return what calls a guard condition back that a wait has found triggered, and so reset."""
    if not _accepts(guard.callback, 0):
        return None
    is_free = guard.callback_group.can_execute

    def call() -> bool:
        if not is_free(guard):
            guard.trigger()
            return False
        guard.callback()
        return True

    return call


def _ways_of(
    subscription: Any, box: Box | None, *, gated: bool
) -> tuple[Callable[[], bool] | None, Box | None]:
    """Return what the executor calls for a subscription, and its box: if need be a new one."""
    callback = subscription.callback
    if isinstance(callback, Box):
        return None, callback
    # rclpy hands over the message alone wherever a callback accepts that.
    count = next((count for count in (1, 2) if _accepts(callback, count)), None)
    if gated or count is None:
        return None, None
    if not subscription.raw or count == 2:
        return _message_call(subscription, count), None
    if box is None:
        box = Box(subscription.qos_profile.depth)
        box.belong_to(subscription)
    return _bytes_call(subscription, box), box


def _bytes_call(subscription: Any, box: Box) -> Callable[[], bool]:
    """Return what calls a subscription back with the next message of its box."""
    is_free, take = subscription.callback_group.can_execute, box.take

    def call() -> bool:
        if not is_free(subscription) or (taken := take()) is None:
            return False
        subscription.callback(taken[0])
        return True

    return call


def _message_call(subscription: Any, count: int) -> Callable[[], bool]:
    """Return what calls a subscription back with its next message, `count` 2 with its info."""
    is_free, take = subscription.callback_group.can_execute, subscription.handle.take_message

    def call() -> bool:
        if not is_free(subscription):
            return False
        taken = take(subscription.msg_type, subscription.raw)
        if taken is None:
            return False
        subscription.callback(*taken[:count])
        return True

    return call


def _accepts(callback: Any, count: int) -> bool:
    """Tell whether a plain function can be called with a number of arguments."""
    if not callable(callback) or iscoroutinefunction(callback):
        return False
    try:
        signature(callback).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True
