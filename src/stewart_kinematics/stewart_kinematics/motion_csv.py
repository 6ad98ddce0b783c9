# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the columns of a table mean to a platform: motions, poses in a frame, lengths of legs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.spatial import compose_quaternions, invert_pose
from stewart_kinematics.spatial.rotations import rpy_from_quaternion
from stewart_kinematics.trajectories import Sampled
from stewart_tables.columns import ACCELERATION, LENGTH, MOTION, POSE, RPY, STROKE, TIME, TWIST
from stewart_tables.csv_tables import read_table, Table

NORM_TOLERANCE = 1e-3  # how far a quaternion's norm may be from 1: enough for four printed digits

SAME_ATTITUDE = 0.2
"""How far quaternion and roll, pitch, yaw of a row may be apart: rounding to a decimal [deg]."""


def read_motion(path: Path) -> Sampled:
    """Read samples of poses, and of twists and accelerations where the file has them.

    A CSV file with the columns `TIME` and `POSE` (or `RPY` for the quaternion), optionally all of
    `TWIST`, and with it all of `ACCELERATION`. Time 0 of the motion is the first line.

    Raises:
        ConfigurationError: If a column is missing or a cell is not a number; the message names the
            line.
        TrajectoryError: If the samples make no trajectory.
    """
    table = read_table(path, MOTION)
    time, pose = table.take([TIME])[:, 0], poses_of(table)
    twist, acceleration = derivatives(table)
    lines = table.lines.tolist()
    return Sampled(time, pose[:, :3], pose[:, 3:], twist, acceleration, lines)


def poses_of(table: Table) -> Array:
    """Return positions and quaternions (n, 7); without a quaternion roll, pitch and yaw count.

    Raises:
        ConfigurationError: If a column is missing, or quaternion and angles of a row disagree.
    """
    if not table.has(RPY):
        return table.take(POSE)
    angles = table.take(RPY)
    known = np.isfinite(angles).all(axis=1)
    turn = np.full((len(angles), 4), np.nan)
    turn[known] = Rotation.from_euler('ZYX', angles[known, ::-1], degrees=True).as_quat()
    if not table.has(POSE[3:]):
        return np.concatenate([table.take(POSE[:3]), turn], axis=1)
    pose = table.take(POSE)
    cosine = np.abs(np.sum(pose[:, 3:] * turn, axis=1))
    least = np.cos(np.radians(0.5 * SAME_ATTITUDE)) * np.linalg.norm(pose[:, 3:], axis=1)
    apart = np.flatnonzero(cosine < least)
    if apart.size:
        place = f'{table.line(apart[0])}: {", ".join(RPY)}'
        expected = f'the attitude of {", ".join(POSE[3:])}, or one of the two left out'
        raise ConfigurationError(place, angles[apart[0]].tolist(), expected)
    return pose


def rpy_columns(quaternion_xyzw: Array) -> Array:
    """Return the columns `RPY` (n, 3) of quaternions [deg]; NaN where one is."""
    known = np.asarray(np.isfinite(quaternion_xyzw).all(axis=1))
    angles = np.full((len(known), 3), np.nan)
    angles[known] = np.degrees(rpy_from_quaternion(quaternion_xyzw[known]))
    return angles


def derivatives(table: Table) -> tuple[Array | None, Array | None]:
    """Return the twists and the accelerations of a table, (n, 6) each, where it has them.

    Raises:
        ConfigurationError: If a group is there in part, or accelerations come without twists.
    """
    twist, acceleration = (
        table.take(group) if table.has(group) else None for group in (TWIST, ACCELERATION)
    )
    if acceleration is not None and twist is None:
        missing = f'the columns {", ".join(TWIST)} as well'
        raise ConfigurationError(table.head, 'accelerations without twists', missing)
    return twist, acceleration


def poses_in_base(table: Table, reference: Pose) -> tuple[Array, Array]:
    """Return the poses of a table in ``base_link``, (n, 3) [m] and (n, 4).

    The table counts from the frame `reference` in ``base_link``.

    Raises:
        ConfigurationError: If a column is missing or a quaternion has not norm 1; the line is
            named.
    """
    pose = poses_of(table)
    norm = np.linalg.norm(pose[:, 3:], axis=1)
    off = np.flatnonzero(np.abs(norm - 1.0) > NORM_TOLERANCE)
    if off.size:
        place = f'{table.line(off[0])}: qx, qy, qz, qw'
        raise ConfigurationError(place, float(norm[off[0]]), 'a quaternion of norm 1')
    return _move(reference, pose[:, :3], pose[:, 3:] / norm[:, None])


def motion_in_base(table: Table, reference: Pose) -> Motion:
    """Return the samples of a table in ``base_link``; derivatives that it has not are 0."""
    position, quaternion = poses_in_base(table, reference)
    twist, acceleration = (
        np.zeros((len(position), 6)) if values is None else values for values in derivatives(table)
    )
    return Motion(position, quaternion, twist, acceleration)


def poses_from_base(
    position: Array, quaternion_xyzw: Array, reference: Pose
) -> tuple[Array, Array]:
    """Return poses of ``base_link`` as counted from a reference, (n, 3) and (n, 4)."""
    return _move(invert_pose(reference), position, quaternion_xyzw)


def lengths_of(table: Table, geometry: Geometry) -> Array:
    """Return the joint-to-joint lengths (n, 6) [m], whether a table has lengths or strokes.

    Raises:
        ConfigurationError: If neither is there, or a leg has no length; file, line and column are
            named.
    """
    if table.has(LENGTH):
        names, lengths = LENGTH, table.take(LENGTH)
    elif table.has(STROKE):
        names, lengths = STROKE, table.take(STROKE) + geometry.retracted_length
    else:
        raise ConfigurationError(table.head, 'neither', f'{LENGTH[0]} ... or {STROKE[0]} ...')
    bad = np.argwhere(lengths <= 0.0)
    if bad.size:
        row, leg = bad[0]
        place = f'{table.line(row)}: {names[leg]}'
        raise ConfigurationError(place, float(lengths[row, leg]), 'a leg longer than 0 m')
    return lengths


def _move(frame: Pose, position: Array, quaternion_xyzw: Array) -> tuple[Array, Array]:
    """Return the product of one pose and many."""
    return (
        frame.position + position @ frame.rotation.T,
        compose_quaternions(frame.quaternion_xyzw, quaternion_xyzw),
    )
