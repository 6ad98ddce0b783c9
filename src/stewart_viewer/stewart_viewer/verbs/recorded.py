# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read from a bag what a viewer shows of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
from stewart_bags.errors import MissingJoints
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
from stewart_kinematics.solvers.forward import forward_batch_from_positions
from stewart_viewer.recognition import WrongPlatform
from stewart_viewer.recording import Recording, Track
from stewart_viewer.snapshot import DriveReport

S = TypeVar('S', bound=Series)


def read_recording(
    path: Path,
    geometry: Geometry | None,
    renamed: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Recording:
    """Read a bag, times after its first message [s]; where no pose was recorded, from the strokes.

    Args:
        path: The bag.
        geometry: Joints of the platform, if it is known.
        renamed: What topics are called in this bag, by our names.
        tell: Hears of topics whose stamps are all zero; they are shown when they were received.

    Raises:
        stewart_bags.errors.BagError: If the bag cannot be read, or holds neither poses nor
            strokes.
        NothingToShow: If both topics are empty.
        WrongPlatform: If only strokes were recorded, and nobody says of which platform.
    """
    with Bag(path, renamed) as bag:

        def there(topic: str, kind: type[S]) -> S | None:
            found = bag.find(topic)
            if found is None or not found.count:
                return None
            return stamped(read_series(bag, topic, kind), tell)

        origin, strokes = bag.start_ns, bag.find('actuator_states')
        posed_topic = bag.find('platform/pose')
        has_poses = bool(posed_topic and posed_topic.count)
        try:
            legs = None
            if strokes and strokes.count:
                legs = stamped(read_joints(bag, 'actuator_states'), tell)
        except MissingJoints:
            if not has_poses:
                raise
            legs = None
        if legs is None or has_poses:
            measured = stamped(read_series(bag, 'platform/pose', PoseSeries), tell)
            poses = Track(measured.seconds(origin), (measured.position, measured.quaternion_xyzw))
        elif geometry is None:
            raise WrongPlatform(
                'the recording has strokes and no poses: say with --platform what it is of'
            )
        else:
            poses = _from_strokes(legs, geometry, origin)
        setpoints = there('setpoint', SetpointSeries)
        odometry = there('platform/odometry', OdometrySeries)
        states = there('driver/state', DriverStateSeries)
    setpoint_track = leg_track = estimate_track = None
    if setpoints is not None:
        posed = (setpoints.position, setpoints.quaternion_xyzw)
        setpoint_track = Track(setpoints.seconds(origin), posed)
    if legs is not None:
        leg_track = Track(legs.seconds(origin), (legs.position, legs.effort))
    if odometry is not None:
        covariance = odometry.pose_covariance[:, :3, :3]
        posed = (odometry.position, odometry.quaternion_xyzw)
        estimate_track = Track(odometry.seconds(origin), (*posed, covariance))
    return Recording(poses, setpoint_track, leg_track, estimate_track, _reports(states, origin))


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
