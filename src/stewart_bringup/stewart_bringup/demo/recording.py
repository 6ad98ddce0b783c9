# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The bag of one scenario: as plain arrays, or why it did not come to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from stewart_bags.errors import BagError
from stewart_bags.reading import Bag
from stewart_bags.series import (
    DriverStateSeries,
    JointSeries,
    PoseSeries,
    read_joints,
    read_series,
    SetpointSeries,
)

SETPOINTS = 'setpoint'
COMMANDS = 'joint_commands'
ACTUATORS = 'actuator_states'
EFFORTS = 'joint_efforts'
POSES = 'platform/pose'
DRIVER_STATE = 'driver/state'


def driver_history(path: Path) -> tuple[tuple[float, str, str], ...]:
    """Return the states of the driver: seconds after the first one, state, reason.

    What is said again, as when one leg after the other becomes live, stands once. Empty where
    the bag does not tell: it may be cut short or missing.
    """
    try:
        with Bag(path) as bag:
            said = read_series(bag, DRIVER_STATE, DriverStateSeries)
    except (BagError, OSError):
        return ()
    seconds = (said.bag_time_ns - said.bag_time_ns[:1]) / 1e9
    told = zip(map(float, seconds), said.names, said.reason, strict=True)
    return tuple(next(same) for _, same in groupby(told, key=itemgetter(1, 2)))


@dataclass(frozen=True)
class Recording:
    """What was recorded: setpoints, the same as strokes and rates, and what came of them.

    Attributes:
        efforts: Forces that feed-forward gave; None without feed-forward.
        counts: Messages of every topic in the bag, by full name.
    """

    setpoints: SetpointSeries
    commands: JointSeries
    actuators: JointSeries
    efforts: JointSeries | None
    poses: PoseSeries
    driver_states: DriverStateSeries
    counts: Mapping[str, int]


def read_recording(path: Path) -> Recording:
    """Read the bag of a scenario.

    Raises:
        stewart_bags.errors.BagError: If a topic is missing or the bag cannot be read to its end.
    """
    with Bag(path) as bag:
        fed = any(name.endswith(f'/{EFFORTS}') and t.count for name, t in bag.topics.items())
        return Recording(
            setpoints=read_series(bag, SETPOINTS, SetpointSeries),
            commands=read_joints(bag, COMMANDS),
            actuators=read_joints(bag, ACTUATORS),
            efforts=read_joints(bag, EFFORTS) if fed else None,
            poses=read_series(bag, POSES, PoseSeries),
            driver_states=read_series(bag, DRIVER_STATE, DriverStateSeries),
            counts={name: topic.count for name, topic in bag.topics.items()},
        )
