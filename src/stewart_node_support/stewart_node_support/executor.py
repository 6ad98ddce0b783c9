# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
rclpy's executor of one thread, for many nodes that are called often.

For every wait rclpy (7.1) lists all entities anew and asks the callback group of each, under its
lock; it makes every callback a task that could be suspended; and around it wakes threads, where
there are none itself, so that the next wait ends at once for nothing. What that costs a rig is in
docs/decisions/0022-a-lone-executor.md.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.executors import (
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
)
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.task import Task
from stewart_node_support.wait_list import Item, WaitList

DIRECT = ('timer', 'subscription')


class LoneExecutor(SingleThreadedExecutor):
    """Run callbacks in the thread that spins, as `SingleThreadedExecutor` does, with less ado."""

    def __init__(self, **kwargs: Any) -> None:
        """Begin without nodes."""
        self._changed = True
        self._waits: WaitList | None = None
        self._tasks: list[tuple[Task, Any, Node | None]]
        super().__init__(**kwargs)

    def wake(self) -> None:
        """Take note that entities were created or destroyed."""
        self._changed = True
        super().wake()

    def add_node(self, node: Node) -> bool:
        """Add a node."""
        self._changed = True
        return bool(super().add_node(node))

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        self._changed = True
        super().remove_node(node)

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop; what is still to be called is not called any more."""
        done = bool(super().shutdown(timeout_sec))
        self._release()
        return done

    def can_execute(self, entity: Any) -> bool:
        """Tell whether an entity may be called; what only this thread changes needs no lock."""
        if entity._executor_event:
            return False
        group = entity.callback_group
        if type(group) is MutuallyExclusiveCallbackGroup:
            return group._active_entity is None
        return bool(group.can_execute(entity))

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait until there is something to call, and call all of it; with a timeout, one of it."""
        if timeout_sec is not None:
            super().spin_once(timeout_sec)
            return
        try:
            unfinished = self._unfinished()
            for task, _, _ in unfinished:
                _run(task)
            if any(task.done() for task, _, _ in unfinished):
                return  # who spins may have waited for that
            for item in self._ready():
                # Whatever is left over is still ready at the next wait.
                if self._changed or self._is_shutdown:
                    break
                if self.can_execute(item.entity):
                    if item.direct:
                        _call(item)
                    else:
                        _run(self._make_handler(item.entity, item.node, item.take))
        except ShutdownException:
            return

    def _unfinished(self) -> list[tuple[Task, Any, Node | None]]:
        """Return the tasks that wait for something else than an entity; forget those done."""
        with self._tasks_lock:
            self._tasks = [
                work for work in self._tasks if not (work[0].done() or work[0].cancelled())
            ]
            return [work for work in reversed(self._tasks) if not work[0].executing()]

    def _ready(self) -> list[Item]:
        """Wait; return what is ready, by node and in rclpy's order."""
        try:
            if self._changed or self._waits is None:
                self._changed = False
                self._release()
                items = [item for node in self.get_nodes() for item in self._listed(node)]
                self._waits = WaitList(items, (self._guard, self._sigint_gc), self._context)
            # Only a task that is not done keeps anything from being called.
            busy = any(entity is not None for _, entity, _ in self._tasks)
            ready = self._waits.wait(self.can_execute, busy=busy)
        except _rclpy.InvalidHandle:
            # Another thread has destroyed something, and says so by `wake`.
            self._changed = True
            return []
        if self._is_shutdown:
            raise ShutdownException
        if not self._context.ok():
            raise ExternalShutdownException
        for item in ready:
            if item.kind == 'guard_condition':
                item.entity._executor_triggered = True
        return ready

    def _release(self) -> None:
        """Let what was waited for be destroyed."""
        waits, self._waits = self._waits, None
        if waits is not None:
            waits.close()

    def _listed(self, node: Node) -> Iterator[Item]:
        """Yield everything of a node, in the order in which rclpy calls it."""
        for waitable in node.waitables:
            yield Item(waitable, node, '', self._take_waitable, gated=_gated(waitable))
        for kind, entities, take in (
            ('timer', node.timers, self._take_timer),
            ('subscription', node.subscriptions, self._take_subscription),
            ('guard_condition', node.guards, self._take_guard_condition),
            ('client', node.clients, self._take_client),
            ('service', node.services, self._take_service),
        ):
            for entity in entities:
                plain = kind in DIRECT and not iscoroutinefunction(entity.callback)
                yield Item(entity, node, kind, take, plain, _gated(entity))

    def _make_handler(self, entity: Any, node: Node, take: Callable[[Any], Any]) -> Task:
        """Return the task that takes what is there for an entity, and calls it back."""
        # Until it is taken it stays off the wait list.
        entity._executor_event = True

        async def handler() -> None:
            group = entity.callback_group
            if not group.beginning_execution(entity):
                entity._executor_event = False
                return
            try:
                call = take(entity)
                entity._executor_event = False
                if call is not None:
                    await call()
            finally:
                group.ending_execution(entity)

        task = Task(handler, executor=self)
        with self._tasks_lock:
            self._tasks.append((task, entity, node))
        return task


def _gated(entity: Any) -> bool:
    """Tell whether a callback group has rules of its own, as a recorder's has."""
    return type(entity.callback_group) not in {
        MutuallyExclusiveCallbackGroup,
        ReentrantCallbackGroup,
    }


def _run(task: Task) -> None:
    """Begin a task or go on with it, and raise what it raises."""
    task()
    if task.exception() is not None:
        raise task.exception()


def _call(item: Item) -> None:
    """Take what is there for a timer or a subscription, and call back."""
    group = item.entity.callback_group
    if not group.beginning_execution(item.entity):
        return
    try:
        taken = _taken(item)
        if taken is not None:
            item.entity.callback(*taken)
    finally:
        group.ending_execution(item.entity)


def _taken(item: Item) -> tuple[Any, ...] | None:
    """Return what a callback is to be called with; None if there is nothing any more."""
    entity = item.entity
    try:
        with entity.handle:
            if item.kind == 'timer':
                entity.handle.call_timer()
                return ()
            taken = entity.handle.take_message(entity.msg_type, entity.raw)
    except _rclpy.InvalidHandle:
        return None  # another thread has destroyed it
    if taken is None or entity._callback_type is not Subscription.CallbackType.MessageOnly:
        return taken
    return taken[:1]
