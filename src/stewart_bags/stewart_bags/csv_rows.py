# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics as rows of a table, under the column names of ``docs/conventions.md``.

Twists and accelerations are those of ``platform_link``'s origin in base axes; what an Odometry has
in the axes of its child frame is turned. The IMU stays in sensor axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_bags.reading import Bag
from stewart_bags.series import (
    AccelerationSeries,
    ImuSeries,
    JointSeries,
    OdometrySeries,
    PoseSeries,
    read_joints,
    read_series,
    SetpointSeries,
)

Array = NDArray[np.float64]

POSE = ('x_m', 'y_m', 'z_m', 'qx', 'qy', 'qz', 'qw')
TWIST = tuple(f'{q}{axis}_base_{u}' for q, u in (('v', 'mps'), ('w', 'radps')) for axis in 'xyz')
ACCELERATION = tuple(
    f'{q}{axis}_base_{u}' for q, u in (('a', 'mps2'), ('alpha', 'radps2')) for axis in 'xyz'
)
IMU = ('fx_mps2', 'fy_mps2', 'fz_mps2', 'p_radps', 'q_radps', 'r_radps')
LEG_COLUMNS = (
    ('position', 'stroke_{}_m'),
    ('velocity', 'leg_{}_mps'),
    ('effort', 'leg_{}_n'),
)

Blocks = list[tuple[tuple[str, ...], Array]]


def rows(bag: Bag, topic: str) -> tuple[list[str], Array]:
    """Read a topic as a table.

    Returns:
        Names of the columns; quantities that were never measured have none.
        (n, columns): ``time_s`` is the stamp after the beginning of the bag, the same for all its
        topics.

    Raises:
        MissingTopic, WrongType: If there is no such topic, or its type has no columns.
        DamagedBag, UndecodableMessage: If the bag cannot be read to its end.
    """
    msgtype = bag.topic(topic, JointSeries.MSGTYPE, *_KINDS).msgtype
    series: Any
    if msgtype == JointSeries.MSGTYPE:
        series = read_joints(bag, topic)
        blocks = _legs(series)
    else:
        kind, make = _KINDS[msgtype]
        series = read_series(bag, topic, kind)
        blocks = make(series)
    time = series.seconds(bag.start_ns)[:, None]
    names = ['time_s', *(name for columns, _ in blocks for name in columns)]
    return names, np.concatenate([time, *(values for _, values in blocks)], axis=1)


def _legs(series: JointSeries) -> Blocks:
    return [
        (tuple(name.format(leg) for leg in range(1, 7)), getattr(series, quantity))
        for quantity, name in LEG_COLUMNS
        if not np.isnan(getattr(series, quantity)).all()
    ]


def _pose(series: Any) -> tuple[tuple[str, ...], Array]:
    return POSE, np.concatenate([series.position, series.quaternion_xyzw], axis=1)


def _setpoint(series: SetpointSeries) -> Blocks:
    twist = np.concatenate([series.linear_velocity, series.angular_velocity], axis=1)
    rates = np.concatenate([series.linear_acceleration, series.angular_acceleration], axis=1)
    return [_pose(series), (TWIST, twist), (ACCELERATION, rates)]


def _odometry(series: OdometrySeries) -> Blocks:
    turned = [
        _turned(series.quaternion_xyzw, item)
        for item in (series.linear_velocity, series.angular_velocity)
    ]
    return [_pose(series), (TWIST, np.concatenate(turned, axis=1))]


def _turned(quaternion_xyzw: Array, vectors: Array) -> Array:
    """Turn vectors (n, 3) of the child frame into the axes of the frame it moves in."""
    axis, scalar = quaternion_xyzw[:, :3], quaternion_xyzw[:, 3:]
    return np.asarray(vectors + 2.0 * np.cross(axis, np.cross(axis, vectors) + scalar * vectors))


_KINDS: dict[str, tuple[type[Any], Callable[[Any], Blocks]]] = {
    SetpointSeries.MSGTYPE: (SetpointSeries, _setpoint),
    PoseSeries.MSGTYPE: (PoseSeries, lambda series: [_pose(series)]),
    OdometrySeries.MSGTYPE: (OdometrySeries, _odometry),
    AccelerationSeries.MSGTYPE: (
        AccelerationSeries,
        lambda s: [(ACCELERATION, np.concatenate([s.linear, s.angular], axis=1))],
    ),
    ImuSeries.MSGTYPE: (
        ImuSeries,
        lambda s: [(IMU, np.concatenate([s.specific_force, s.angular_velocity], axis=1))],
    ),
}
