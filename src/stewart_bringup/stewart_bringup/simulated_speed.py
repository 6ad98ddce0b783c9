# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How fast simulated time shall pass, as people write it."""

from __future__ import annotations

from stewart_bringup.errors import SpeedRefused

# What a person writes, and what the node simulation_clock takes for it.
FASTEST, AS_FAST_AS_POSSIBLE = 'max', 0.0
LARGEST = 1000.0


def speed_of(text: str) -> float:
    """Return simulated seconds per second: of a number, or of ``max``, which is 0.

    Raises:
        SpeedRefused: If it is neither.
    """
    if text == FASTEST:
        return AS_FAST_AS_POSSIBLE
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.0 < speed <= LARGEST:
        raise SpeedRefused(f'{text} is neither {FASTEST} nor a number in (0, {LARGEST:g}]')
    return speed
