# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Waypoints: read from a file, appended to it, and planned as moves from rest to rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass, field, replace
from functools import cached_property
import math
from pathlib import Path
import sys
from typing import cast, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from stewart_description.suggestion import expected_name
from stewart_description.yaml_text import ERRORS, parsed
from stewart_kinematics.errors import (
    ConfigurationError,
    MotionRefused,
    TrajectoryError,
)
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_move
from stewart_kinematics.limits.workspace import displaced
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.schema import read_yaml, Section
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.spatial import compose_poses, invert_pose, rpy_deg
from stewart_kinematics.trajectories import Rest, Sequence, Trajectory
from stewart_tables.whole_files import whole_file
import yaml

DEFAULT_SPEED = 0.5  # fraction of the limits that a move uses

MOST_WAYPOINTS, MOST_PARTS, LONGEST_DWELL = 200, 4000, 3600.0
DOWN = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
PARK_RESERVE = 0.02  # part of the way down that the park pose keeps from the lowest allowed pose

TOP = ('waypoints', 'poses', 'relative_to', 'speed', 'dwell_s', 'repeat')
EACH = ('name', 'pose', 'position_m', 'rpy_deg', 'dwell_s', 'speed')
REFERENCES = ('base', 'zero', 'neutral')


@dataclass(frozen=True, eq=False)
class Waypoint:
    """A pose in ``base_link`` to rest at for `dwell` [s], and the part of the limits to use."""

    pose: Pose
    name: str = ''
    dwell: float = 0.0
    speed: float = DEFAULT_SPEED


@dataclass(frozen=True, eq=False)
class WaypointList:
    """What a file says: waypoints, how often all of them are visited, and what poses count from.

    A file has ``waypoints``, and optionally ``relative_to`` (base, zero or neutral), ``speed``,
    ``dwell_s``, ``repeat`` and ``poses``, names of its own. A waypoint has ``pose``, a name, or
    ``position_m`` and ``rpy_deg``.
    """

    waypoints: tuple[Waypoint, ...]
    repeat: int = 1
    reference: Pose = field(default_factory=Pose.identity)

    @classmethod
    def from_yaml(cls, path: Path, platform: Platform) -> WaypointList:
        """Read a file.

        Raises:
            ConfigurationError: If a key is unknown or missing, or a value cannot be used.
        """
        section = read_yaml(path)
        try:
            section.finish(optional=TOP)
            return cls._from_section(section, platform)
        except ConfigurationError as error:
            raise ConfigurationError(error.key, error.value, error.expected, str(path)) from error

    @classmethod
    def _from_section(cls, section: Section, platform: Platform) -> WaypointList:
        name = section.text('relative_to') if section.has('relative_to') else 'base'
        if name not in REFERENCES:
            raise ConfigurationError('relative_to', name, expected_name(name, REFERENCES, 'pose'))
        geometry = platform.geometry
        reference = geometry.named_pose(name)
        poses = named_poses(platform)
        if section.has('poses'):
            own = section.section('poses')
            for key in {'neutral', 'zero'} & set(own.names()):
                expected = f"a name of its own, {key} is the platform's"
                raise ConfigurationError('poses', key, expected)
            poses |= {key: compose_poses(reference, own.pose(key)) for key in own.names()}
        general = _paced(section, Waypoint(Pose.identity()))
        items = section.sections('waypoints')
        if not 1 <= len(items) <= MOST_WAYPOINTS:
            raise ConfigurationError('waypoints', len(items), f'1 to {MOST_WAYPOINTS} of them')
        waypoints = tuple(_waypoint(item, general, poses, reference) for item in items)
        repeat = section.number('repeat', 1, MOST_PARTS) if section.has('repeat') else 1.0
        if repeat != int(repeat):
            raise ConfigurationError('repeat', repeat, 'a whole number')
        return cls(waypoints, int(repeat), reference)


@dataclass(frozen=True, eq=False)
class Route:
    """Moves and rests one after the other.

    Attributes:
        sequence: The whole motion, at rest where two parts meet.
        numbers: Waypoint of each part, from 0 and counted on over the rounds.
        count: How many waypoints a round has.
    """

    sequence: Sequence
    numbers: tuple[int, ...]
    count: int = 1
    shortest_period: ClassVar[float] = math.inf

    @property
    def duration(self) -> float:
        """Time from the first to the last pose [s]."""
        return self.sequence.duration

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        return self.sequence.sample(time)

    def place(self, time: float) -> tuple[int, int]:
        """Return waypoint and round, both from 1, that a time [s] belongs to."""
        lap, number = divmod(self.numbers[self.sequence.part_at(time)], self.count)
        return number + 1, lap + 1

    @cached_property
    def arrivals(self) -> list[float]:
        """When each waypoint is reached, over all rounds [s]."""
        ends = np.append(self.sequence.starts[1:], self.duration)
        moves = np.diff(self.numbers, prepend=-1) == 1
        return [float(end) for end in ends[moves]]

    def visited(self, time: float) -> int:
        """Return how many waypoints are reached at a time [s], over all rounds."""
        return bisect_right(self.arrivals, time)


def plan_route(
    start: Pose, waypoints: Items[Waypoint], guard: MotionGuard, repeat: int = 1
) -> Route:
    """Plan moves through waypoints, each from rest to rest and judged on its whole way.

    Raises:
        MotionRefused: If a waypoint, or the way to it, breaks a limit; it is named by its number.
        TrajectoryError: If there are none, or too many over all rounds.
    """
    steps = route_steps(start, waypoints, guard, repeat)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return cast('Route', done.value)


def route_steps(
    start: Pose, waypoints: Items[Waypoint], guard: MotionGuard, repeat: int = 1
) -> Generator[None, None, Route]:
    """Plan as `plan_route` does, one move per step, for a thread that has other things to do."""
    count = len(waypoints)
    if not 1 <= count <= MOST_WAYPOINTS:
        raise TrajectoryError(f'expected 1 to {MOST_WAYPOINTS} waypoints, got {count}')
    most = MOST_PARTS // (2 * count)
    if not 1 <= repeat <= most:
        allowed = f'{count} waypoints may be visited 1 to {most} times'
        raise TrajectoryError(f'{allowed}, asked are {repeat}')
    once: list[tuple[Trajectory, ...]] = []
    for number, waypoint in enumerate(waypoints, 1):
        once.append(_part(start, waypoint, number, guard))
        start = waypoint.pose
        yield
    # Rounds differ from the first one in their first move.
    again = [_part(start, waypoints[0], 1, guard), *once[1:]] if repeat > 1 else []
    stops = once + again * (repeat - 1)
    numbers = tuple(number for number, parts in enumerate(stops) for _ in parts)
    sequence = Sequence(tuple(part for parts in stops for part in parts))
    return Route(sequence, numbers, count)


def _part(
    start: Pose, waypoint: Waypoint, number: int, guard: MotionGuard
) -> tuple[Trajectory, ...]:
    """Return the move to a waypoint, and the rest there; errors say which waypoint it is."""
    name = f'waypoint {number}' + (f' ({waypoint.name})' if waypoint.name else '')
    pose, dwell, place = waypoint.pose, waypoint.dwell, f'{name} is out of reach'
    try:
        guard.check(Motion.at_rest(pose))
        place = f'the way to {name}'
        move = plan_move(start, pose, guard, scale=waypoint.speed)
    except (MotionRefused, TrajectoryError) as error:
        error.args = (f'{place}: {error}',)
        raise
    return (move, Rest(pose, dwell)) if dwell else (move,)


def named_poses(platform: Platform) -> dict[str, Pose]:
    """Return the poses that a waypoint may name.

    ``neutral`` and ``zero`` stand in the platform's file; ``park``, and with it ``load``, is the
    lowest pose straight below the neutral one, with a reserve of 2 % of the way.
    """
    geometry = platform.geometry
    poses = {'neutral': geometry.neutral_pose, 'zero': geometry.zero_pose}
    return poses | dict.fromkeys(('park', 'load'), _lowest(platform))


def _lowest(platform: Platform) -> Pose:
    """Return the lowest allowed pose straight below the neutral one, less the reserve."""
    guard, neutral = MotionGuard(platform), platform.geometry.neutral_pose
    reach = float(platform.geometry.length_scale)
    depth, step = 0.0, reach
    # The first refusal of a grid, then ever finer: further below a pose may be allowed again.
    for _ in range(4):
        depths = np.linspace(depth, depth + step, 65)
        allowed = guard.allowed(displaced(neutral, depths[:, None] * DOWN))
        first = int(np.argmin(allowed)) if not allowed.all() else depths.size
        depth, step = float(depths[max(first - 1, 0)]), float(depths[1] - depths[0])
    below = (1.0 - PARK_RESERVE) * depth
    return Pose(neutral.position - np.array([0.0, 0.0, below]), neutral.quaternion_xyzw)


def _waypoint(
    section: Section, general: Waypoint, poses: Mapping[str, Pose], reference: Pose
) -> Waypoint:
    section.finish(optional=EACH)
    name = section.text('name') if section.has('name') else ''
    if section.has('pose'):
        known, path = section.text('pose'), section.path('pose')
        if known not in poses:
            raise ConfigurationError(path, known, expected_name(known, poses, 'pose'))
        if section.has('position_m') or section.has('rpy_deg'):
            expected = 'a name, or position_m and rpy_deg, not both'
            raise ConfigurationError(path, known, expected)
        pose, name = poses[known], name or known
    else:
        pose = compose_poses(reference, section.as_pose())
    return replace(_paced(section, general), pose=pose, name=name)


def _paced(section: Section, default: Waypoint) -> Waypoint:
    """Return a waypoint with the dwell and the speed that a section may have."""
    dwell, speed = default.dwell, default.speed
    if section.has('dwell_s'):
        dwell = section.number('dwell_s', 0.0, LONGEST_DWELL)
    if section.has('speed'):
        speed = section.number('speed', 1e-3, 1.0)
    return replace(default, dwell=dwell, speed=speed)


def append_waypoint(path: Path, pose: Pose, platform: Platform, name: str = '') -> int:
    """Append a pose to the waypoints of a file, which is made if there is none.

    What stands in the file stays as it is, comments included.

    Returns:
        Number of the new waypoint.

    Raises:
        ConfigurationError: If the file cannot be read, is full, or its waypoints are not its last
            key, one per line.
        MotionRefused: If the platform may not be sent there, as where it fell without drives.
    """
    try:
        MotionGuard(platform).check(Motion.at_rest(pose))
    except MotionRefused as error:
        error.args = (f'the platform rests where no waypoint may be: {error}',)
        raise
    text, count = 'relative_to: neutral\nwaypoints:\n', 0
    reference = platform.geometry.neutral_pose
    if path.exists():
        known = WaypointList.from_yaml(path, platform)
        text, count, reference = path.read_text('utf-8'), len(known.waypoints), known.reference
    if count >= MOST_WAYPOINTS:
        expected = f'fewer than {MOST_WAYPOINTS} waypoints, to append one'
        raise ConfigurationError(str(path), count, expected)
    away = compose_poses(invert_pose(reference), pose)
    # Quoted: `no` is no text in YAML, and `1: 2` is a mapping.
    quoted = yaml.dump(name, default_style='"', allow_unicode=True, width=sys.maxsize).strip()
    label = f'name: {quoted}, ' if name else ''
    # YAML reads 1e-06 as a text.
    position, turn = (
        ', '.join(f'{round(float(number), 6) + 0.0:.6f}' for number in values)
        for values in (away.position, rpy_deg(away))
    )
    line = f'  - {{{label}position_m: [{position}], rpy_deg: [{turn}]}}\n'
    _require_append(path, text, line, count)
    with whole_file(path) as stream:
        stream.write(text.rstrip('\n') + '\n' + line)
    return count + 1


def _require_append(path: Path, text: str, line: str, count: int) -> None:
    """Refuse to append a line that would not be a waypoint more."""
    try:
        found = len(parsed(text.rstrip('\n') + '\n' + line)['waypoints'])
    except ERRORS:
        found = 0
    if found != count + 1:
        expected = 'waypoints as the last key, each in a line that begins with two spaces and -'
        raise ConfigurationError(str(path), 'another form', expected)
