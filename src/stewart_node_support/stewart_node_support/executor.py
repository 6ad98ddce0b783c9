# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An executor of one thread for many nodes, in real and in simulated time.

rclpy lists all entities anew for every wait, and makes every callback a task that could be
suspended. `LoneExecutor` keeps its wait set and calls plain functions of timers, subscriptions and
guard conditions itself; services, clients, actions, coroutines and tasks it leaves to rclpy. What
that gains is in docs/decisions/0022-a-lone-executor.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import get_ident
from time import monotonic_ns
from typing import Any

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import (
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.task import Future, Task
from stewart_node_support.clock_watch import ClockWatch, follows_system_clock, restart_timers
from stewart_node_support.courier import Box, Courier
from stewart_node_support.entities import FOREVER, Item, KINDS, NOW
from stewart_node_support.listing import Listing
from stewart_node_support.publishers import CountedPublisher

# What we use of rclpy beside its documented interface: attributes of an executor, and of the
# classes of its C++ part.
INTERNALS = {
    'Executor': ('_guard', '_sigint_gc'),
    'WaitSet': (
        *(f'add_{kind}' for kind in KINDS),
        'clear_entities',
        'get_ready_entities',
        'wait',
    ),
    'Publisher': ('get_subscription_count',),
    'Subscription': ('pointer', 'take_message'),
    'Timer': ('pointer', 'call_timer', 'is_timer_ready', 'time_until_next_call'),
    'Client': ('pointer',),
    'GuardCondition': ('pointer',),
    'Service': ('pointer',),
}
# Longest chain of messages before a look at everything else: a loop must not stop the timers.
LONGEST_CHAIN = 1000
# While simulated time passes, other processes are listened to this often in real time [ns].
LOOK_PERIOD = 5_000_000
# Before 7.1.9 rclpy resumes a suspended task at every turn, and does not notice when the future
# that it awaits is done. Since then, a future that is awaited yields itself.
POLLS_TASKS = next(Future().__await__()) is None


def make_executor(context: Context | None = None) -> SingleThreadedExecutor:
    """Return the fastest executor of one thread that works with this rclpy.

    That is a `LoneExecutor`; or rclpy's own, with a warning, if an internal name is missing.
    """
    usual = SingleThreadedExecutor(context=context)
    owners = {owner: getattr(_rclpy, owner, None) for owner in INTERNALS} | {'Executor': usual}
    missing = [
        f'{owner}.{name}'
        for owner, names in INTERNALS.items()
        for name in names
        if not hasattr(owners[owner], name)
    ]
    if missing:
        get_logger('stewart_node_support').warning(
            f'this rclpy has no {", ".join(missing)}: using its SingleThreadedExecutor, which is'
            ' slower with many nodes',
            once=True,
        )
        return usual
    usual.shutdown()
    return LoneExecutor(context=context)


def drain(executor: SingleThreadedExecutor) -> None:
    """Call everything that is ready, and what that makes ready, until nothing is; do not wait.

    A `LoneExecutor` calls in an order that depends only on the order in which nodes and entities
    were created: timers, then messages, then what these caused; at last everything else. rclpy's
    own executors keep no order among nodes.

    Raises:
        ExternalShutdownException: If the context was shut down.
    """
    if isinstance(executor, LoneExecutor):
        executor.drain()
        return
    if not executor.context.ok():
        raise ExternalShutdownException
    begun: set[Task] = set()
    while _call_ready(executor, begun):
        pass


def _call_ready(executor: SingleThreadedExecutor, begun: set[Task], **kwargs: Any) -> bool:
    """Let rclpy call all that is ready; return False if that only polled tasks begun before."""
    progress = False
    try:
        while True:
            task, _, _ = executor.wait_for_ready_callbacks(timeout_sec=0, **kwargs)
            _run(task)
            progress |= not POLLS_TASKS or task.done() or task not in begun
            begun.add(task)
    except TimeoutException:
        return progress


def _run(task: Task) -> None:
    """Begin or continue a task, and raise what it raises."""
    task()
    error = task.exception()
    if error is not None:
        raise error


def _trigger_again(items: Iterable[Item]) -> None:
    """Let the next wait find these guard conditions; the last one has reset them."""
    for item in items:
        if item.kind == 'guard_condition' and item.call is not None:
            with suppress(InvalidHandle):
                item.entity.trigger()


class _TasksOfAll(list[Node]):
    """Nodes whose entities rclpy shall look at, while tasks of all nodes run."""

    def __contains__(self, node: object) -> bool:
        return True


class LoneExecutor(SingleThreadedExecutor):
    """Do what `SingleThreadedExecutor` does, faster and in a fixed order."""

    def __init__(self, *, context: Context | None = None) -> None:
        self._changed = True
        self._over = False
        self._asked = False
        self._order: dict[Node, None] = {}
        self._begun: dict[Task, Any] = {}  # with the entities that they belong to
        self._listed: Listing | None = None
        self._boxes: dict[Any, Box] = {}  # by subscription
        self._courier = CountedPublisher.courier = Courier()
        self._look_due = 0
        super().__init__(context=context)
        self._watch = ClockWatch(self._guard.trigger)

    def wake(self) -> None:
        """Take note that entities were created or destroyed."""
        self._changed = True
        self._courier.open = False
        super().wake()

    def create_task(self, *args: Any, **kwargs: Any) -> Task:
        """Let the next turn begin a function or coroutine; done futures use this, too."""
        self._asked = True
        return super().create_task(*args, **kwargs)

    def add_node(self, node: Node) -> bool:
        """Add a node; it comes after those that were added before."""
        self._order.setdefault(node)
        self._changed = True
        self._courier.open = False
        return bool(super().add_node(node))

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        self._order.pop(node, None)
        self._changed = True
        self._courier.open = False
        super().remove_node(node)

    def get_nodes(self) -> list[Node]:
        """Return the nodes in the order in which they were added."""
        return list(self._order)

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop; what is ready is not called any more."""
        self._over = True
        self._watch.close()
        if self.context.ok():
            self._courier.close()
        if CountedPublisher.courier is self._courier:
            CountedPublisher.courier = None
        done = bool(super().shutdown(timeout_sec))
        self._order.clear()
        self._release()
        return done

    def wait_for_ready_callbacks(self, *args: Any, **kwargs: Any) -> Any:
        """Wait as rclpy does, and remember the task that it returns."""
        found = super().wait_for_ready_callbacks(*args, **kwargs)
        self._begun[found[0]] = found[1]
        return found

    def waits_of_timers(self) -> dict[Node, list[Callable[[], int | None]]]:
        """Return what tells the time until each node's timers are due [ns], None if cancelled.

        It is another object once entities were created or destroyed.
        """
        return self._listing().waits_of_timers

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait until something is ready, then call all that is."""
        timeout = FOREVER
        if timeout_sec is not None and timeout_sec >= 0.0:
            timeout = round(timeout_sec * 1e9)
        self._courier.thread = get_ident()
        try:
            # Whoever spins may wait for a task that is done now.
            if not self._resume():
                self._look(timeout)
        except ShutdownException:
            return

    def drain(self) -> None:
        """Call everything that is ready, and what that makes ready; do not wait.

        Other processes are listened to once in `LOOK_PERIOD`; what happens in this one is heard of
        at once, if need be by a wait.
        """
        courier = self._courier
        courier.thread = get_ident()
        try:
            self._check()
            courier.asks = self._hiding(self._listing()) or monotonic_ns() >= self._look_due
            while True:
                # Time stands still meanwhile, so no other timer becomes due.
                self._call(self._listing().timers)
                self._deliver()
                if not (self._resume() or (self._wanted() and self._look(NOW, timers=False))):
                    return
        except ShutdownException:
            return
        finally:
            courier.asks = True

    def _wanted(self) -> bool:
        """Tell whether it takes a wait to know that the instant is over."""
        return self._courier.asks or self._asked or self._changed

    def _hiding(self, listing: Listing) -> bool:
        """Tell whether something in this process may be ready without our hearing of it."""
        if listing.hiding or CountedPublisher.courier is not self._courier:
            return True
        # Of one that is done no wait tells either.
        return bool(self._begun) and (not POLLS_TASKS or self._busy())

    def _busy(self) -> bool:
        """Tell whether a coroutine may occupy a callback group."""
        return any(entity is not None for entity in self._begun.values())

    def _look(self, timeout: int, *, timers: bool = True) -> bool:
        """Wait, and call what is ready; return whether something was called."""
        if self._watch.set_back():
            restart_timers(
                item.entity for item in self._listing().timers if follows_system_clock(item.entity)
            )
        waits, busy = self._listing().waits, self._busy()
        if timers:
            # What was sent while tasks ran is delivered now.
            ready = waits.ready(NOW if self._courier.sent else timeout, busy=busy)
        else:
            ready = waits.ready_now(busy=busy)
        self._check()
        self._courier.asks = True
        self._look_due = monotonic_ns() + LOOK_PERIOD
        for item in ready:
            # The wait has reset it, and rclpy looks again.
            if item.kind == 'guard_condition' and item.call is None:
                item.entity.trigger()
        called = self._call(ready)
        called |= self._deliver()
        # Those whose callback groups were occupied.
        called |= self._call([item for item in self._listing().boxed if item.box])
        others = {item.node for item in ready if item.call is None}
        if not others:
            return called
        nodes = _TasksOfAll(node for node in self._order if node in others)
        self._asked = False
        progress = _call_ready(self, set(self._begun), nodes=nodes)
        if (progress or self._asked) and not self._over:
            # Tasks that were created before rclpy waited wait for a guard that this has reset.
            self._guard.trigger()
        return progress or called

    def _deliver(self) -> bool:
        """Call back with the messages that our own publishers have sent, in their order.

        Within a process a message is there as soon as it is published, so nobody has to look for
        it. What comes from elsewhere, or is left over here, is found by the next wait.
        """
        sent, called = self._courier.sent, False
        for _ in range(LONGEST_CHAIN):
            if not sent:
                break
            listing = self._listing()
            topic = sent.popleft()
            called |= self._call(listing.subscriptions.get(topic, ()))
            if self._changed:
                # Whoever was not called yet is, once all are listed anew.
                sent.appendleft(topic)
        return called

    def _call(self, items: Iterable[Item]) -> bool:
        """Call directly those of the items that are ready; return whether one was."""
        called, left = False, iter(items)
        try:
            # Whoever is created or destroyed now changes all lists.
            while not (self._changed or self._over) and (item := next(left, None)):
                if item.call is not None and item.call():
                    called = True
        finally:
            _trigger_again(left)
        return called

    def _resume(self) -> bool:
        """Forget tasks that are done; return whether resuming the others has ended one."""
        ended = False
        for task in list(self._begun):
            if not (task.done() or task.cancelled()):
                if POLLS_TASKS:
                    _run(task)
                if not task.done():
                    continue
                ended = True
            self._begun.pop(task, None)
        return ended

    def _check(self) -> None:
        """Raise if this executor or its context was shut down."""
        if self._over:
            raise ShutdownException
        if not self.context.ok():
            raise ExternalShutdownException

    def _listing(self) -> Listing:
        """Return all entities, listed anew if some were created or destroyed."""
        if self._over:
            raise ShutdownException
        if self._changed or self._listed is None:
            self._check()
            self._changed = False
            # Before the handles of what was destroyed are released.
            self._courier.close()
            self._release()
            guards = (self._guard, self._sigint_gc)
            try:
                self._listed = Listing.of(self._order, guards, self._boxes, self.context)
            except RuntimeError:
                # The context may have been shut down since it was looked at.
                self._check()
                raise
            self._boxes = self._listed.boxes
            self._courier.serve(self._boxes.items())
            # It is not known what has come meanwhile.
            self._courier.asks = True
        return self._listed

    def _release(self) -> None:
        """Let entities be destroyed."""
        listed, self._listed = self._listed, None
        if listed is not None:
            listed.waits.close()
