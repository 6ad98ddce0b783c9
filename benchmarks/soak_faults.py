# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The faults of a soak: what is injected into the card or the sensor, and how it is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Fault:
    """What is injected and how it is mended; `trips` if the driver has to go to FAULT."""

    name: str
    arguments: dict[str, Any]
    mend: tuple[str, dict[str, Any]] | None
    trips: bool
    seconds: float = 2.0


def drawn(rng: np.random.Generator) -> Fault:
    """Draw a fault."""
    leg = int(rng.integers(1, 7))
    mended = 'card.mend', {}
    return (
        Fault('card.stick', {'leg': leg}, mended, trips=True),
        Fault('card.saturate', {'leg': leg, 'end': 'high'}, mended, trips=True),
        Fault('card.saturate', {'leg': leg, 'end': 'low'}, mended, trips=True),
        Fault('card.disturb', {'leg': leg, 'volts': 0.5}, mended, trips=True),
        Fault('card.disturb', {'leg': leg, 'volts': 0.02}, mended, trips=False),
        Fault('card.remove', {}, mended, trips=True),
        Fault('imu.garbage', {'count': 500}, None, trips=False),
        Fault('imu.lose', {'count': 33}, None, trips=False),
        Fault('imu.checksum', {'count': 5}, None, trips=False),
        Fault('imu.freeze', {}, ('imu.freeze', {'on': False}), trips=False),
        Fault('imu.silence', {}, ('imu.silence', {'on': False}), trips=False),
        Fault('imu.unplug', {}, ('imu.plug', {}), trips=False),
    )[int(rng.integers(12))]
