# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read from a bag what a viewer shows of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from stewart_bags.errors import MissingJoints
from stewart_bags.findings import Kind
from stewart_bags.reading import Bag
from stewart_bags.series import (
    DriverStateSeries,
    JointSeries,
    OdometrySeries,
    PoseSeries,
    read_joints,
    read_series,
    Series,
    SetpointSeries,
)
from stewart_bags.unstamped import stamped
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import forward_batch_from_positions
from stewart_viewer.recognition import WrongPlatform
from stewart_viewer.recording import Recording, Track
from stewart_viewer.snapshot import DriveReport

NORM_TOLERANCE = 1e-3  # how far a recorded quaternion's norm may be from 1, as in a table

# A picture belongs to an instant: with stamps like these nobody finds it.
UNDATED = (Kind.UNSET, Kind.BACKWARDS, Kind.CLOCK, Kind.OVERLAP)

S = TypeVar('S', bound=Series)


def read_recording(
    path: Path,
    geometry: Geometry | None,
    renamed: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Recording:
    """Read a bag, times after its first message [s]; where no pose was recorded, from the strokes.

    Args:
        geometry: Joints of the platform, if it is known.
        renamed: What topics are called in this bag, by our names.
        tell: Hears of topics whose stamps are zero, go back or are of another clock, which are
            shown when they were received, and of what is left out: poses, strokes and covariances
            with numbers that are not finite, and quaternions whose norm is not 1.

    Raises:
        stewart_bags.errors.BagError: If the bag cannot be read, or holds neither poses nor
            strokes.
        StewartError: If both topics are empty, or hold no pose that can be shown.
        WrongPlatform: If only strokes were recorded, and nobody says of which platform.
    """
    with Bag(path, renamed) as bag:

        def there(topic: str, kind: type[S]) -> S | None:
            found = bag.find(topic)
            if found is None or not found.count:
                return None
            return _dated(read_series(bag, topic, kind), tell)

        origin, posed_topic = bag.start_ns, bag.find('platform/pose')
        has_poses = bool(posed_topic and posed_topic.count)
        legs = _legs(bag, tell, needed=not has_poses)
        if legs is None or has_poses:
            measured = _dated(read_series(bag, 'platform/pose', PoseSeries), tell)
            poses = _shown('platform/pose', measured, origin, tell)
        elif geometry is None:
            raise WrongPlatform(
                'the recording has strokes and no poses: say with --platform what it is of'
            )
        else:
            poses = _from_strokes(legs, geometry, origin)
        # What was executed, else what was asked for.
        setpoints = there('platform/commanded', SetpointSeries) or there(
            'setpoint', SetpointSeries
        )
        odometry = there('platform/odometry', OdometrySeries)
        states = there('driver/state', DriverStateSeries)
    setpoint_track = leg_track = estimate_track = None
    if setpoints is not None:
        setpoint_track = _shown(setpoints.topic.lstrip('/'), setpoints, origin, tell)
    if legs is not None:
        rows = _whole('actuator_states', [legs.position], tell)
        if rows.any():
            values = legs.position[rows], legs.effort[rows]
            leg_track = Track(legs.seconds(origin)[rows], values)
    if odometry is not None:
        covariance = odometry.pose_covariance[:, :3, :3]
        estimate_track = _shown('platform/odometry', odometry, origin, tell, covariance)
    return Recording(poses, setpoint_track, leg_track, estimate_track, _reports(states, origin))


def _dated(series: S, tell: Callable[[str], None]) -> S:
    """Return a series in the order of its stamps: its own, or when it was received."""
    series = stamped(series, tell)
    odd = [item for item in series.findings if item.kind in UNDATED]
    if not odd or series.stamp_ns is series.bag_time_ns:
        return series
    tell(f'{series.topic}: {odd[0]}; shown when it was received')
    return replace(series, stamp_ns=series.bag_time_ns)


def _legs(bag: Bag, tell: Callable[[str], None], *, needed: bool) -> JointSeries | None:
    """Read the strokes; where poses were recorded, joints of other names count as none."""
    found = bag.find('actuator_states')
    if found is None or not found.count:
        return None
    try:
        return _dated(read_joints(bag, 'actuator_states'), tell)
    except MissingJoints:
        if needed:
            raise
        return None


def _shown(
    topic: str,
    found: PoseSeries | SetpointSeries | OdometrySeries,
    origin: int,
    tell: Callable[[str], None],
    *more: Array,
) -> Track:
    """Return poses, and what belongs to them, without the rows that no pose can be made of.

    A machine of others may say so where it has lost its measurement.
    """
    norm = np.linalg.norm(found.quaternion_xyzw, axis=1)
    off = np.where(np.abs(norm - 1.0) > NORM_TOLERANCE, np.nan, norm)
    rows = _whole(topic, [found.position, off, *more], tell)
    turns = found.quaternion_xyzw[rows] / norm[rows, None]
    rest = (values[rows] for values in more)
    return Track(found.seconds(origin)[rows], (found.position[rows], turns, *rest))


def _whole(topic: str, values: Sequence[Array], tell: Callable[[str], None]) -> NDArray[np.bool_]:
    """Return which of n rows are finite throughout, and tell how many are not."""
    rows = np.ones(len(values[0]), dtype=bool)
    for item in values:
        rows &= np.isfinite(item).reshape(len(item), -1).all(axis=1)
    if missing := int(np.count_nonzero(~rows)):
        tell(f'/{topic}: {missing} of {rows.size} messages are left out: no numbers, or no pose')
    return rows


def _from_strokes(legs: JointSeries, geometry: Geometry, origin: int) -> Track:
    """Solve forward kinematics wherever all six strokes are there."""
    whole = np.isfinite(legs.position).all(axis=1)
    found = forward_batch_from_positions(geometry, legs.position[whole])
    good = found.converged
    return Track(
        legs.seconds(origin)[whole][good], (found.position[good], found.quaternion_xyzw[good])
    )


def _reports(
    states: DriverStateSeries | None, origin: int
) -> tuple[tuple[float, DriveReport], ...]:
    if states is None:
        return ()
    rows = zip(states.seconds(origin), states.names, states.simulated, states.reason, strict=True)
    return tuple(
        (float(time), DriveReport(state, '', bool(simulated), reason))
        for time, state, simulated, reason in rows
    )
