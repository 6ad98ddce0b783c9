# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python class of a message type, by its name."""

from __future__ import annotations

import importlib
from typing import Any

from stewart_bags.errors import UnknownType


def message_class(msgtype: str) -> Any:
    """Import the class of a message type.

    Args:
        msgtype: For example ``sensor_msgs/msg/Imu``.

    Returns:
        Class with the type support that rclpy needs.

    Raises:
        UnknownType: If its package is not installed here.
    """
    package, kind, name = [*msgtype.split('/'), '', ''][:3]
    try:
        return getattr(importlib.import_module(f'{package}.{kind}'), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownType(msgtype, f'its package is not installed here ({error})') from error
