# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics as rows of a table, under the column names of ``docs/conventions.md``.

Twists and accelerations are those of ``platform_link``'s origin in base axes; what an Odometry has
in the axes of its child frame is turned. The IMU stays in sensor axes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from stewart_bags.findings import Kind
from stewart_bags.reading import Bag
from stewart_bags.series import (
    AccelerationSeries,
    ImuSeries,
    JointSeries,
    OdometrySeries,
    PoseSeries,
    read_joints,
    read_series,
    Series,
    SetpointSeries,
)
from stewart_bags.topics import NS
from stewart_bags.unstamped import stamped
from stewart_tables.columns import ACCELERATION, POSE, TWIST

Array = NDArray[np.float64]

IMU = ('fx_mps2', 'fy_mps2', 'fz_mps2', 'p_radps', 'q_radps', 'r_radps')
LEG_COLUMNS = (('position', 'stroke_{}_m'), ('velocity', 'leg_{}_mps'), ('effort', 'leg_{}_n'))

# Columns, and the arrays of a series that stand side by side in them.
POSE_ARRAYS = (POSE, ('position', 'quaternion_xyzw'))
TWIST_ARRAYS = (TWIST, ('linear_velocity', 'angular_velocity'))
KINDS: dict[type[Series], tuple[tuple[tuple[str, ...], tuple[str, str]], ...]] = {
    SetpointSeries: (
        POSE_ARRAYS,
        TWIST_ARRAYS,
        (ACCELERATION, ('linear_acceleration', 'angular_acceleration')),
    ),
    PoseSeries: (POSE_ARRAYS,),
    OdometrySeries: (POSE_ARRAYS, TWIST_ARRAYS),
    AccelerationSeries: ((ACCELERATION, ('linear', 'angular')),),
    ImuSeries: ((IMU, ('specific_force', 'angular_velocity')),),
}
_BY_TYPE = {kind.MSGTYPE: kind for kind in KINDS}


def rows(
    bag: Bag, topic: str, tell: Callable[[str], None] = lambda _: None
) -> tuple[list[str], Array]:
    """Read a topic as a table; `tell` hears of stamps that are all zero.

    Returns:
        Names of the columns; quantities that were never measured have none.
        (n, columns): ``time_s`` is the stamp after the beginning of the bag, the same for all its
        topics; the time of receipt where all stamps are zero. Where they are of another clock, it
        goes with the stamps from the first receipt on.

    Raises:
        MissingTopic, WrongType: If there is no such topic, or its type has no columns.
        DamagedBag, UndecodableMessage: If the bag cannot be read to its end.
    """
    msgtype = bag.topic(topic, JointSeries.MSGTYPE, *_BY_TYPE).msgtype
    names, arrays = ['time_s'], []
    if msgtype == JointSeries.MSGTYPE:
        series: Series = read_joints(bag, topic)
        for quantity, name in LEG_COLUMNS:
            values = getattr(series, quantity)
            if not np.isnan(values).all():
                names += [name.format(leg) for leg in range(1, 7)]
                arrays.append(values)
    else:
        kind = _BY_TYPE[msgtype]
        series = read_series(bag, topic, kind)
        for columns, attributes in KINDS[kind]:
            names += columns
            arrays += [_in_base(series, attribute) for attribute in attributes]
    series = stamped(series, tell)
    time = series.seconds(bag.start_ns + _clock_ahead(series, tell))
    return names, np.concatenate([time[:, None], *arrays], axis=1)


def _clock_ahead(series: Series, tell: Callable[[str], None]) -> int:
    """Return how far ahead of the bag's clock that of the stamps is; 0 where it is the same."""
    foreign = next((item for item in series.findings if item.kind is Kind.CLOCK), None)
    if foreign is None or foreign.count < np.count_nonzero(series.stamp_ns):
        return 0  # or it was set on the way, which --check tells
    ahead = int(series.stamp_ns[foreign.first] - series.bag_time_ns[foreign.first])
    tell(
        f'{series.topic}: the stamps are of another clock, {ahead / NS:.6g} s from that of the '
        'bag; time_s begins when the first message was received'
    )
    return ahead


def _in_base(series: Series, attribute: str) -> Array:
    """Return an array, that of an Odometry's twist turned out of the axes of its child frame."""
    vectors: Array = getattr(series, attribute)
    if not (isinstance(series, OdometrySeries) and attribute in TWIST_ARRAYS[1]):
        return vectors
    axis, scalar = series.quaternion_xyzw[:, :3], series.quaternion_xyzw[:, 3:]
    return np.asarray(vectors + 2.0 * np.cross(axis, np.cross(axis, vectors) + scalar * vectors))
