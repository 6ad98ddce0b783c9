# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What was measured at a number of poses, how noisy it is, and the CSV or bag that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from stewart_bags.reading import Bag
from stewart_bags.series import (
    JointSeries,
    PoseSeries,
    PoseWithCovarianceSeries,
    read_joints,
    read_series,
)
from stewart_bags.unstamped import stamped, without_unstamped
from stewart_identification.errors import ConfigurationError, UnusableRecording
from stewart_kinematics.motion import Array
from stewart_kinematics.motion_csv import poses_of
from stewart_tables.columns import POSE, RATE, RPY, STROKE
from stewart_tables.csv_tables import read_table
from stewart_tables.errors import listed
from stewart_tables.progress import tell

RATES = tuple(f'rate_{leg}_mps' for leg in range(1, 7))
FORCES = ('fx_mps2', 'fy_mps2', 'fz_mps2')
TURNS = ('wx_radps', 'wy_radps', 'wz_radps')
METRES = tuple(name for name in (*STROKE, *POSE) if name.endswith('_m'))
# Under which other names and units columns may come: those of other tables, millimetres, radians.
ALIASES = {
    **{
        alias: (name, 1.0)
        for alias, name in zip(
            ('p_radps', 'q_radps', 'r_radps', *RATE), (*TURNS, *RATES), strict=True
        )
    },
    **{f'{name}m': (name, 1e-3) for name in METRES},
    **{name.replace('_deg', '_rad'): (name, 180.0 / np.pi) for name in RPY},
}
NORM_TOLERANCE = 1e-3
# Legs that are not faster count as at rest: the platform is not accelerated [m/s].
SLOW = 1e-4
# Strokes that stay inside such a span count as at rest [m].
STILL = 2e-5
# Noise stays inside so many of its standard deviations for minutes.
NOISE_SPAN = 10.0
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Noise:
    """Standard deviations of what was measured.

    Attributes:
        position, attitude: Of the tracker, per axis [m], [rad].
        stroke: Of an encoder [m].
        rate: Of a leg's rate [m/s].
        specific_force, angular_velocity: Of the mean that a row holds, per axis [m/s²], [rad/s].
    """

    position: float = 30e-6
    attitude: float = 20e-6
    stroke: float = 2e-6
    rate: float = 1e-5
    specific_force: float = 2e-3
    angular_velocity: float = 1e-4


@dataclass(frozen=True, eq=False)
class Observations:
    """n poses; what was not measured is NaN.

    Attributes:
        strokes (n, 6): [m].
        rates (n, 6): Of the legs; 0 where nothing is said of them: at rest [m/s].
        position (n, 3), rotation (n, 3, 3): Of the target, in the tracker's coordinates [m].
        specific_force, angular_velocity (n, 3): In sensor axes [m/s²], [rad/s].
        source (n,): Where a person finds each, as ``measured.csv:2``.
    """

    strokes: Array
    rates: Array
    position: Array
    rotation: Array
    specific_force: Array
    angular_velocity: Array
    source: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.strokes)

    def __getitem__(self, rows: object) -> Observations:
        return Observations(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    @property
    def tracked(self) -> Flags:
        """Which poses a tracker has seen, shape (n,)."""
        return _complete(self.position) & _complete(self.rotation.reshape(-1, 9))

    @property
    def felt(self) -> Flags:
        """At which rows the IMU has felt gravity: at rest only, shape (n,)."""
        return _complete(self.specific_force) & np.asarray(np.abs(self.rates) <= SLOW).all(axis=1)

    @property
    def turned(self) -> Flags:
        """At which rows the IMU has felt a turn, shape (n,)."""
        return _complete(self.angular_velocity)


def _complete(values: Array) -> Flags:
    return np.asarray(np.isfinite(values).all(axis=1))


def read_observations(path: str | Path) -> Observations:
    """Read a CSV file: `STROKE`, and `POSE`, `FORCES`, or `TURNS` with `RATES`.

    Args:
        path: One row per pose; an empty cell or ``nan`` was not measured. Columns in metres may
            be in millimetres, ``stroke_1_mm`` and ``x_mm``; `RPY`, which may be in radians, count
            where there is no quaternion; all other names are those of `ALIASES`.

    Raises:
        ConfigurationError: If there is no row, a column is missing or there under two names, a
            quaternion has no norm near 1, or an angular velocity no rates of the legs.
        OSError: If the file cannot be read.
    """
    names = (*STROKE, *RATES, *POSE, *RPY, *FORCES, *TURNS, *ALIASES)
    # A pose without its strokes tells nothing.
    gaps = [name for name in names if not name.startswith('stroke_')]
    table = read_table(path, names, gaps=gaps)
    for alias, (name, scale) in ALIASES.items():
        if {alias, name} <= table.values.keys():
            raise ConfigurationError(f'{path}: {name}', alias, f'one of {name} and {alias}')
        if alias in table.values:
            table.values[name] = scale * table.values.pop(alias)
    count = len(table.take(STROKE))
    if not count:
        raise ConfigurationError(str(path), 'a header alone', 'one row or more')

    def columns(names: tuple[str, ...]) -> Array:
        return table.take(names) if table.has(names) else np.full((count, len(names)), np.nan)

    tracked = bool(table.values.keys() & {*POSE, *RPY})
    if not tracked and not any(map(table.has, (FORCES, TURNS))):
        expected = f'columns {", ".join(POSE)} of a tracker, or {", ".join(FORCES)} of an IMU'
        raise ConfigurationError(str(path), 'strokes alone', expected)
    if tracked and not table.values.keys() & {*POSE[3:], *RPY}:
        angles = ', '.join(RPY)
        expected = (
            f'{", ".join(POSE[3:])}, or {angles} (..._rad: radians) of '
            'R = R_z(yaw) R_y(pitch) R_x(roll), turned about the fixed x, then y, then z'
        )
        raise ConfigurationError(f'{path}: attitude', listed(table.others), expected)
    pose = poses_of(table) if tracked else columns(POSE)
    norms = np.linalg.norm(pose[:, 3:], axis=1)
    wrong = np.flatnonzero(np.abs(norms - 1.0) > NORM_TOLERANCE)
    if wrong.size:
        raise ConfigurationError(
            f'{path}:{int(table.lines[wrong[0]])}',
            float(norms[wrong[0]]),
            'a quaternion of norm 1',
        )
    rates, turns = columns(RATES), columns(TURNS)
    unsaid = ~_complete(rates)
    alone = np.flatnonzero(unsaid & _complete(turns))
    if alone.size:
        where = f'{path}:{int(table.lines[alone[0]])}'
        raise ConfigurationError(where, f'{TURNS[0]} alone', f'{RATES[0]} to {RATES[-1]}, too')
    rates[unsaid] = 0.0
    rotation = np.full((count, 3, 3), np.nan)
    there = np.isfinite(norms)
    if there.any():
        rotation[there] = Rotation.from_quat(pose[there, 3:]).as_matrix()
    return Observations(
        table.take(STROKE),
        rates,
        pose[:, :3],
        rotation,
        columns(FORCES),
        turns,
        np.array([f'{path}:{int(line)}' for line in table.lines]),
    )


def without_copies(observations: Observations) -> tuple[Observations, int]:
    """Return each row once, in their order, and how many copies there were."""
    measured = (name for name in Observations.__dataclass_fields__ if name != 'source')
    parts = [getattr(observations, name) for name in measured]
    rows = np.hstack([part.reshape(len(observations), -1) for part in parts])
    _, first = np.unique(np.nan_to_num(rows, nan=1e300), axis=0, return_index=True)
    return observations[np.sort(first)], len(observations) - len(first)


def read_rests(
    path: str | Path,
    renamed: Mapping[str, str] | None = None,
    *,
    seconds: float = 1.0,
    stroke_noise: float = 0.0,
) -> tuple[Observations, int]:
    """Read from a bag the poses at which the platform rested and was measured from outside.

    Args:
        path: Bag with ``actuator_states`` and ``platform/external_pose``: PoseStamped or
            PoseWithCovarianceStamped of a target on the platform.
        renamed: What the topics are called in this bag.
        seconds: Least length of a rest; its first half is left for the platform to settle and for
            the poses to catch up [s].
        stroke_noise: Standard deviation of an encoder [m].

    Returns:
        A row per rest, the mean of what was measured in its second half, no IMU, found where it
        begins, in seconds after the first strokes; and how many poses were no poses and are left
        out.

    Raises:
        BagError: If the bag cannot be read, lacks a topic or has another type there.
        UnusableRecording: If it goes over the same time twice.
        ConfigurationError: If there is no rest with a pose.
    """
    with Bag(path, renamed) as bag:
        joints = without_unstamped(stamped(read_joints(bag, 'actuator_states'), tell))
        name = 'platform/external_pose'
        found = bag.topic(name, PoseSeries.MSGTYPE, PoseWithCovarianceSeries.MSGTYPE)
        kind: type[PoseSeries | PoseWithCovarianceSeries] = PoseSeries
        if found.msgtype != PoseSeries.MSGTYPE:
            kind = PoseWithCovarianceSeries
        poses = stamped(read_series(bag, name, kind), tell)
    if joints.overlap:
        raise UnusableRecording(joints.overlap)
    # A camera that has lost its target sends zeros or NaN.
    norms = np.linalg.norm(poses.quaternion_xyzw, axis=1)
    posed = np.isfinite(poses.position).all(axis=1) & (np.abs(norms - 1.0) <= NORM_TOLERANCE)
    still, rows, source = max(STILL, NOISE_SPAN * stroke_noise), [], []
    for begin, end in _rests(joints, seconds, still):
        first = (begin + end) // 2
        inside = (joints.stamp_ns >= first) & (joints.stamp_ns <= end)
        seen = (poses.stamp_ns >= first) & (poses.stamp_ns <= end) & posed
        if seen.any():
            turn = Rotation.from_quat(poses.quaternion_xyzw[seen]).mean().as_matrix()
            place = poses.position[seen].mean(axis=0)
            known = np.isfinite(joints.position[inside]).sum(axis=0)
            # A leg that has none stays without, and is named when the strokes are checked.
            mean = np.nansum(joints.position[inside], axis=0) / np.where(known, known, np.nan)
            rows.append((mean, place, turn))
            source.append(f'{path} at {1e-9 * (begin - joints.stamp_ns[0]):.1f} s')
    if not rows:
        expected = (
            f'rests of {seconds:g} s or more in which strokes change by {still:g} m at most (more '
            'with --stroke-noise, the sigma of an encoder) and the platform is seen'
        )
        raise ConfigurationError(f'{path}: poses at rest', 0, expected)
    strokes, place, turn = map(np.array, zip(*rows, strict=True))
    unknown = np.full_like(place, np.nan)
    observations = Observations(
        strokes, np.zeros_like(strokes), place, turn, unknown, unknown, np.array(source)
    )
    return observations, int(np.sum(~posed))


def _rests(joints: JointSeries, seconds: float, still: float) -> list[tuple[int, int]]:
    """Return begin and end of each longest stretch in which no stroke leaves a span [ns]."""
    found, first = [], 0
    low = high = joints.position[0] if len(joints) else np.zeros(6)
    for row in range(len(joints) + 1):
        if row < len(joints):
            lower, higher = np.fmin(low, joints.position[row]), np.fmax(high, joints.position[row])
            if not np.any(higher - lower > still):
                low, high = lower, higher
                continue
            low = high = joints.position[row]
        if row and joints.stamp_ns[row - 1] - joints.stamp_ns[first] >= seconds * 1e9:
            found.append((int(joints.stamp_ns[first]), int(joints.stamp_ns[row - 1])))
        first = row
    return found
