# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS for the time of a block, soon found by what runs already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path

import rclpy
from rclpy.signals import SignalHandlerOptions

PROFILES = Path(__file__).with_name('discovery.xml')
# Either names the settings of Fast DDS; other middleware heeds neither.
PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')


@contextmanager
def middleware(args: Sequence[str] | None = None) -> Iterator[None]:
    """Start ROS, and shut it down afterwards; signals are left to the caller.

    Where nobody has chosen settings of Fast DDS, ours are taken: with its own, one of three
    commands to a running rig is heard three seconds late.

    Args:
        args: Command line for rclpy; ``sys.argv`` by default.
    """
    if not any(os.environ.get(name) for name in PROFILE_VARIABLES):
        os.environ[PROFILE_VARIABLES[0]] = str(PROFILES)
    rclpy.init(
        args=None if args is None else list(args), signal_handler_options=SignalHandlerOptions.NO
    )
    try:
        yield
    finally:
        rclpy.try_shutdown()
