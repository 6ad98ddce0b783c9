# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS for the time of a verb, with signals that end it in good order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ros_session() -> Iterator[Any]:
    """Start ROS, and shut it down afterwards.

    Yields:
        Hears SIGINT and SIGTERM from before ROS is imported, which takes a second.
    """
    from stewart_node_support.stop_signals import StopSignals

    with StopSignals() as stop:
        from stewart_node_support.middleware import middleware

        with middleware([]):
            yield stop
