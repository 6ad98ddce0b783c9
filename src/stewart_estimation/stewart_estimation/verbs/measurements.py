# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements from a bag or from two CSV files, and what is wrong with them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from stewart_bags.findings import ANOTHER_CLOCK_NS
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries as RecordedImu
from stewart_bags.series import JointSeries, read_joints, read_series, Series
from stewart_bags.unstamped import without_unstamped
from stewart_estimation.errors import EstimationError
from stewart_estimation.external_pose import NO_POSES, PoseSeries
from stewart_estimation.samples import ImuSeries, LegSeries, stated_sigmas
from stewart_estimation.verbs.recorded_poses import (
    LEG_TOPIC,
    NO_TRACKER,
    POSE_TOPIC,
    Posed,
    read_posed,
    read_tracker,
    Tracker,
)
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.motion_csv import lengths_of
from stewart_tables.columns import LENGTH, STROKE, TIME
from stewart_tables.csv_tables import read_table, Table
from stewart_tables.progress import between, Progress, silent, tell

IMU_TOPIC = 'imu/data'

IMU_NAMES = [
    f'{what} {axis}' for what in ('linear acceleration', 'angular velocity') for axis in 'xyz'
]
LEG_STROKES = [f'stroke of leg {leg}' for leg in range(1, 7)]

SPECIFIC_FORCE = ('fx_mps2', 'fy_mps2', 'fz_mps2')
ANGULAR_VELOCITY = ('p_radps', 'q_radps', 'r_radps')

LONGEST_STEP = 1.0
"""No filter follows samples further apart; times in ms are [s]."""

LONGEST_GAP = 3600.0
"""A longer time without a sample is no pause, but the clock or another recording [s]."""

S = TypeVar('S', bound=Series)


class BadRecording(EstimationError):
    """A recording cannot be used; the topic and the time are named."""


class WrongInput(EstimationError):
    """The arguments name no input, or two."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """What goes into the filter.

    Attributes:
        imu, legs: Samples, on one time scale.
        specific_force, angular_velocity (3,): Standard deviations that the IMU's messages state
            [m/s²], [rad/s]; None where unknown.
        poses: From outside, where they were recorded and can be used.
        tracker: What was recorded of them.
        lengths: Whether the legs were recorded as lengths, not strokes.
        posed: What the rig itself said of its poses; None without any.
    """

    imu: ImuSeries
    legs: LegSeries
    specific_force: Array | None = None
    angular_velocity: Array | None = None
    poses: PoseSeries = NO_POSES
    tracker: Tracker = NO_TRACKER
    lengths: bool = False
    posed: Posed | None = None

    @property
    def imu_period(self) -> float:
        """Median time between IMU samples [s]; of several with one stamp one counts."""
        return float(np.median(np.diff(np.unique(self.imu.stamps))))


def add_measurement_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where the measurements come from."""
    add = parser.add_argument
    add('bag', nargs='?', metavar='BAG', help='recording: directory, .mcap or .db3 file')
    add('--imu', metavar='FILE', help='CSV file with time_s, fx_mps2 ..., p_radps ...')
    add('--legs', metavar='FILE', help='CSV file with time_s and leg_1_m ... or stroke_1_m ...')
    for option, topic in (
        ('--imu-topic', IMU_TOPIC),
        ('--leg-topic', LEG_TOPIC),
        ('--pose-topic', POSE_TOPIC),
    ):
        add(option, default=topic, metavar='TOPIC', help='in the bag (default: %(default)s)')
    add(
        '--no-external-pose',
        action='store_true',
        help='leave poses from outside alone, such as raw ones of a tracker for a calibration',
    )
    add(
        '--lenient',
        action='store_true',
        help='take missing legs and lost values as missing, put stamps in order; '
        'else they are refused',
    )


def read_measurements(
    arguments: argparse.Namespace, geometry: Geometry, progress: Progress = silent
) -> Measurements:
    """Read what the arguments name: at least two samples of either sensor, at the same time.

    Raises:
        WrongInput: If neither a bag nor both files are named, or both are.
        BadRecording, ConfigurationError, BagError: If they cannot be used; row or topic, and time,
            are named.
        OSError: If a file cannot be read.
    """
    files = (arguments.imu, arguments.legs)
    if (arguments.bag is None) == (None in files) or (arguments.bag and any(files)):
        raise WrongInput('expected either a BAG or both --imu FILE and --legs FILE')
    if arguments.bag is None:
        imu = read_imu(files[0], between(progress, 0.0, 0.5), lenient=arguments.lenient)
        legs, lengths = read_legs(
            files[1], geometry, between(progress, 0.5, 1.0), lenient=arguments.lenient
        )
        found = Measurements(imu, legs, lengths=lengths)
    else:
        found = read_bag(
            arguments.bag,
            geometry,
            topics=(
                arguments.imu_topic,
                arguments.leg_topic,
                '' if arguments.no_external_pose else arguments.pose_topic,
            ),
            lenient=arguments.lenient,
        )
    names = 'IMU', 'legs'
    if arguments.bag is not None:
        names = arguments.imu_topic, arguments.leg_topic
    _refuse_strangers(found, names)
    return found


def read_imu(
    source: str | Path,
    progress: Progress = silent,
    *,
    lenient: bool = False,
    gaps: bool = False,
) -> ImuSeries:
    """Read samples of an IMU.

    Args:
        source: CSV file with `TIME`, `SPECIFIC_FORCE` and `ANGULAR_VELOCITY`, in sensor axes;
            ``-`` is standard input.
        progress: Told how far it has come.
        lenient: Take empty cells and ``nan`` as missing, and times in any order.
        gaps: Take empty cells and ``nan`` as missing.

    Raises:
        ConfigurationError: If a column is missing, a cell is not a finite number or a time is not
            later than the one before; file, line and column are named.
        OSError: If the file cannot be read.
    """
    columns = (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY)
    may_lack = columns[1:] if lenient or gaps else ()
    table = read_table(source, columns, progress, gaps=may_lack)
    values = table.take(columns)
    return ImuSeries(_times(table, lenient), values[:, 1:4], values[:, 4:])


def read_legs(
    source: str | Path,
    geometry: Geometry,
    progress: Progress = silent,
    *,
    lenient: bool = False,
) -> tuple[LegSeries, bool]:
    """Read samples of the six legs; tell whether the table has lengths, not strokes.

    Args:
        source: CSV file with `TIME` and either `LENGTH` or `STROKE`; ``-`` is standard input.
        geometry: Says how long a leg of no stroke is.
        progress, lenient: As in `read_imu`, and its errors; also where a leg has no length.
    """
    legs = (*LENGTH, *STROKE)
    table = read_table(source, (TIME, *legs), progress, gaps=legs if lenient else ())
    return LegSeries(_times(table, lenient), lengths_of(table, geometry)), table.has(LENGTH)


def _times(table: Table, lenient: bool) -> Array:
    """Return the times of a table; refuse one without rows, or a time out of order."""
    time = table.take((TIME,))[:, 0]
    if time.size < 2:
        raise ConfigurationError(table.source, time.size, 'two rows or more')
    late = np.flatnonzero(~(np.diff(time) > 0.0))
    if late.size and not lenient:
        row = int(late[0]) + 1
        raise ConfigurationError(
            f'{table.source}:{table.lines[row]}: {TIME}',
            float(time[row]),
            f'a time later than {time[row - 1]:.9g} s in the row before',
        )
    return time


def read_bag(
    path: str | Path,
    geometry: Geometry,
    *,
    topics: tuple[str, str, str] = (IMU_TOPIC, LEG_TOPIC, POSE_TOPIC),
    lenient: bool = False,
) -> Measurements:
    """Read the measurements of a bag, by the stamps of the messages.

    Args:
        path, topics: The bag, and its topics of the IMU, the legs and poses from outside, which
            may lack by the name that it has here; empty for no such poses.
        geometry: Says how long a leg of no stroke is.
        lenient: Take what is not finite as missing and put stamps in order, instead of refusing.

    Returns:
        Time 0 is the beginning of the bag, as in ``stewart bag --csv``; the first stamp, where
        stamps are from another clock altogether. An IMU covariance of zeros means that nobody
        knows.

    Raises:
        BadRecording: If a topic is empty, a field is not measured, a value is missing or stamps
            are not in order.
        BagError: If the bag cannot be read or lacks a topic.
    """
    renamed = dict(zip((IMU_TOPIC, LEG_TOPIC), topics, strict=False))
    with Bag(path, renamed) as bag:
        imu = read_series(bag, IMU_TOPIC, RecordedImu)
        joints = read_joints(bag, LEG_TOPIC)
        tracker = read_tracker(bag, topics[2]) if topics[2] else NO_TRACKER
        posed = read_posed(bag)
        begin = bag.start_ns
    imu, joints = _stamped(imu, path), _stamped(joints, path)
    specific_force = _sigmas(imu, 'linear acceleration', imu.specific_force_covariance)
    angular_velocity = _sigmas(imu, 'angular velocity', imu.angular_velocity_covariance)
    lengths = joints.position + geometry.retracted_length
    origin = min(int(imu.stamp_ns.min()), int(joints.stamp_ns.min()))
    if abs(origin - begin) < ANOTHER_CLOCK_NS:
        origin = begin
    samples = np.hstack([imu.specific_force, imu.angular_velocity])
    # Sorting would mix two motions.
    if joints.overlap:
        raise BadRecording(f'{path}: {joints.overlap}')
    if not lenient:
        if joints.parted:
            raise BadRecording(f'{path}: {joints.parted}')
        _refuse_disorder(imu)
        _refuse_disorder(joints)
        _refuse_missing(imu, samples, origin, IMU_NAMES)
        _refuse_missing(joints, joints.position, origin, LEG_STROKES)
    # To the filter not a number is missing; infinity would be an error.
    samples, lengths = (
        np.where(np.isfinite(values), values, np.nan) for values in (samples, lengths)
    )
    return Measurements(
        ImuSeries(imu.seconds(origin), samples[:, :3], samples[:, 3:]),
        LegSeries(joints.seconds(origin), lengths),
        specific_force,
        angular_velocity,
        tracker.poses(origin),
        tracker,
        posed=Posed.within(posed, joints, origin) if posed is not None else None,
    )


def _stamped(series: S, path: str | Path) -> S:
    """Leave out messages that nobody stamped, and say so; refuse where none is, or only one."""
    if len(series) < 2:
        raise BadRecording(f'{path}: {series.topic} has {len(series)} messages, needed are 2')
    unset = series.stamp_ns == 0
    if unset.all():
        raise BadRecording(
            f'{path}: all stamps of {series.topic} are zero, and when it was received is too '
            'rough for an estimate: have its program stamp it'
        )
    if not unset.any():
        return series
    tell(
        f'{series.topic}: {np.count_nonzero(unset)} messages without a stamp, message '
        f'{int(np.argmax(unset)) + 1} first, are left out'
    )
    return without_unstamped(series)


def _sigmas(series: RecordedImu, what: str, covariance: Array) -> Array | None:
    """Return the standard deviations of a covariance, None where it is unknown (REP-145)."""
    first = covariance[:, 0, 0]
    if np.any(first == -1.0):
        raise BadRecording(f'{series.topic} has no {what}: its covariance begins with -1')
    return stated_sigmas(np.diagonal(covariance[0]))


def _refuse_disorder(series: Series) -> None:
    """Name the first stamp that is not later than the one before."""
    steps = np.diff(series.stamp_ns)
    late = np.flatnonzero(steps <= 0)
    if late.size:
        row = int(late[0]) + 1
        raise BadRecording(
            f'{series.topic}: message {row + 1} is stamped {series.stamp_ns[row]} ns, not later '
            f'than the one before it, {series.stamp_ns[row - 1]} ns; --lenient sorts'
        )


def _refuse_missing(
    series: RecordedImu | JointSeries, values: Array, origin: int, names: Sequence[str]
) -> None:
    """Name the first value that is missing."""
    gaps: NDArray[np.int64] = np.argwhere(~np.isfinite(values))
    if gaps.size:
        row, column = (int(item) for item in gaps[0])
        raise BadRecording(
            f'{series.topic}: message {row + 1}, {series.seconds(origin)[row]:.6f} s after the '
            f'first, has no {names[column]} (got {values[row, column]}); --lenient goes on '
            'without it'
        )


def sample_period(name: str, stamps: Array) -> float:
    """Return the median time between the samples of a sensor [s].

    Raises:
        BadRecording: If it is 0, or more than `LONGEST_STEP`.
    """
    different = np.unique(stamps)
    step = float(np.median(np.diff(different))) if different.size > 1 else 0.0
    if not 0.0 < step <= LONGEST_STEP:
        raise BadRecording(
            f'samples of the {name} are {step:.6g} s apart, expected are more than 0 and at '
            f'most {LONGEST_STEP:g} s: are the times in seconds?'
        )
    return step


def _refuse_strangers(found: Measurements, names: tuple[str, str]) -> None:
    """Refuse an IMU and legs too far apart, from sample to sample or from each other."""
    stamps = found.imu.stamps, found.legs.stamps
    for kind, name, times in zip(('IMU', 'legs'), names, stamps, strict=True):
        sample_period(kind, times)
        _refuse_leap(name, times)
    spans = [(times.min(), times.max()) for times in stamps]
    if min(span[1] for span in spans) <= max(span[0] for span in spans):
        said = ' s, legs '.join(f'{low:.6g} to {high:.6g}' for low, high in spans)
        raise BadRecording(f'IMU and legs have no time in common: IMU {said} s')


def _refuse_leap(name: str, stamps: Array) -> None:
    """Name the first sample that comes so long after the one before that the clock has stepped."""
    ordered = np.sort(stamps)
    late = np.flatnonzero(np.diff(ordered) > LONGEST_GAP)
    if late.size:
        before, after = ordered[late[0] : late[0] + 2].tolist()
        raise BadRecording(
            f'{name}: no sample for {after - before:.6g} s after {before:.6g} s: the clock '
            'was set forward, or these are two recordings; cut it there'
        )
