# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""All that an executor of one thread waits for, with one wait set for every wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, NamedTuple

from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.waitable import NumberOfEntities

KINDS = ('subscription', 'guard_condition', 'timer', 'client', 'service')
FOREVER = -1


class Item(NamedTuple):
    """
    Something of a node that an executor waits for.

    Attributes
    ----------
    entity : object
        Timer, subscription, ...
    node : Node
        Whose it is.
    kind : str
        One of `KINDS`; empty for a waitable.
    take : callable
        Takes what is there, and returns what has to be called.
    direct : bool
        Whether its callback is a plain function, so that it needs no task that may be suspended.
    gated : bool
        Whether its callback group has rules of its own, which are asked before every wait.

    """

    entity: Any
    node: Node
    kind: str
    take: Callable[[Any], Any]
    direct: bool = False
    gated: bool = False


class _Entry(NamedTuple):
    """An item, how it gets into the wait set, and by what it is known there."""

    item: Item
    add: Callable[[Any], Any]
    argument: Any
    key: tuple[str, int] | None


class WaitList:
    """
    Wait for the same things again and again.

    Until it is closed, none of them is destroyed: another thread may ask for that at any time.

    Parameters
    ----------
    items : list of Item
        In the order in which they are to be called; the gated ones come after the others.
    guards : iterable of GuardCondition
        What ends a wait beside them.
    context : Context
        Of rclpy.

    Raises
    ------
    InvalidHandle
        If one of them has been destroyed.

    """

    def __init__(self, items: list[Item], guards: Iterable[Any], context: Context) -> None:
        """Take hold of everything."""
        own = [guard.handle for guard in guards]
        counts = NumberOfEntities(
            *(sum(item.kind == kind for item in items) for kind in KINDS),
        )
        counts.num_guard_conditions += len(own)
        for item in items:
            if not item.kind:
                counts += item.entity.get_num_entities()
        with ExitStack() as kept:
            for handle in (*own, context.handle):
                kept.enter_context(handle)
            for item in items:
                kept.enter_context(item.entity.handle if item.kind else item.entity)
            self._wait_set = _rclpy.WaitSet(
                counts.num_subscriptions,
                counts.num_guard_conditions,
                counts.num_timers,
                counts.num_clients,
                counts.num_services,
                counts.num_events,
                context.handle,
            )
            self._kept = kept.pop_all()
        self._free = [self._entry(item) for item in items if not item.gated]
        self._gated = [self._entry(item) for item in items if item.gated]
        self._guards = own

    def close(self) -> None:
        """Let everything go."""
        self._kept.close()

    def wait(self, admitted: Callable[[Any], bool], *, busy: bool) -> list[Item]:
        """
        Wait until something is ready.

        Parameters
        ----------
        admitted : callable
            Tells of an entity whether it may be called, and so whether it is waited for.
        busy : bool
            Whether that is to be asked of all; otherwise only of the gated ones.

        Returns
        -------
        list of Item
            All that is ready; empty if it was a guard condition that ended the wait.

        """
        wait_set = self._wait_set
        asked = [*self._free, *self._gated] if busy else self._gated
        entries = [entry for entry in asked if admitted(entry.item.entity)]
        if not busy:
            entries = self._free + entries
        wait_set.clear_entities()
        for handle in self._guards:
            wait_set.add_guard_condition(handle)
        for item, add, argument, _ in entries:
            # Its trigger was seen, and something else came in between.
            if item.kind == 'guard_condition' and item.entity._executor_triggered:
                item.entity.trigger()
            add(argument)
        wait_set.wait(FOREVER)
        there = {(kind, at) for kind in KINDS for at in wait_set.get_ready_entities(kind)}
        ready = [
            item
            for item, _, _, key in entries
            if (item.entity.is_ready(wait_set) if key is None else key in there)
        ]
        # A timer that was cancelled meanwhile counts as ready in rcl.
        return [i for i in ready if i.kind != 'timer' or i.entity.handle.is_timer_ready()]

    def _entry(self, item: Item) -> _Entry:
        wait_set, entity = self._wait_set, item.entity
        if not item.kind:
            return _Entry(item, entity.add_to_wait_set, wait_set, None)
        add = getattr(wait_set, f'add_{item.kind}')
        return _Entry(item, add, entity.handle, (item.kind, entity.handle.pointer))
