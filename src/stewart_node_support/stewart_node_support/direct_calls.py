# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Call the plain function of a timer or subscription without a task that could be suspended."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction, signature
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup


def is_gated(entity: Any) -> bool:
    """Tell whether a callback group has rules of its own, as a recorder's has."""
    return type(entity.callback_group) not in {
        MutuallyExclusiveCallbackGroup,
        ReentrantCallbackGroup,
    }


def timer_call(timer: Any) -> Callable[[], bool] | None:
    """Return what calls a timer back if it is due.

    Returns:
        Returns whether it has called the timer; None for callbacks that only rclpy can call:
        coroutines, those with a TimerInfo, and those in a gated group.
    """
    if is_gated(timer) or not _accepts(timer.callback, 0):
        return None
    handle, group = timer.handle, timer.callback_group
    is_due, advance = handle.is_timer_ready, handle.call_timer
    begin, end = group.beginning_execution, group.ending_execution

    def call() -> bool:
        if not (is_due() and begin(timer)):
            return False
        try:
            advance()
            timer.callback()
        finally:
            end(timer)
        return True

    return call


def message_call(subscription: Any) -> Callable[[], bool] | None:
    """Return what calls a subscription back with its next message.

    Returns:
        Returns whether there was a message; None for callbacks that only rclpy can call:
        coroutines and those in a gated group.
    """
    callback = subscription.callback
    # rclpy hands over the message alone wherever a callback accepts that.
    count = next((count for count in (1, 2) if _accepts(callback, count)), None)
    if is_gated(subscription) or count is None:
        return None
    take, group = subscription.handle.take_message, subscription.callback_group
    begin, end = group.beginning_execution, group.ending_execution

    def call() -> bool:
        if not begin(subscription):
            return False
        try:
            taken = take(subscription.msg_type, subscription.raw)
            if taken is None:
                return False
            subscription.callback(*taken[:count])
        finally:
            end(subscription)
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
