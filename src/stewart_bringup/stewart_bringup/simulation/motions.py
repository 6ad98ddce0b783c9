# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is played: a wave's configuration, a motion from a file, or a move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from stewart_bringup.errors import BringupError
from stewart_bringup.rigs import available, config_file, sections
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_description.suggestion import meant
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import check, plan_move
from stewart_kinematics.limits.waypoints import plan_route, WaypointList
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.schema import read_yaml
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.parameters import (
    ExcitationTrajectoryParameters,
    ExcursionParameters,
    OceanTrajectoryParameters,
    TrajectoryParameters,
)
from stewart_kinematics.trajectories import multi_sine, Trajectory

OCEAN, EXCITATION, CYCLOIDAL = 'ocean_trajectory', 'excitation_trajectory', 'cycloidal_trajectory'
MOVE = 'cycloidal'
# How long an endless motion is played if nothing else is asked for, as by the wave operator [s].
PLAYED = 15.0
# So much less than its fades a motion may last by the digits of its times [s].
ROUNDING = 1e-3

Make = Callable[[Pose], Trajectory]


@dataclass(frozen=True, eq=False)
class Motion:
    """What is played, and by whom.

    Attributes:
        source: Name of the trajectory node that would play it.
        parameters: Of that node.
        make: Takes the pose at which the platform stands, returns the trajectory from there: it
            ends at rest.
        remark: What is odd about how it is played, in a sentence.
    """

    source: str
    parameters: TrajectoryParameters
    make: Make
    remark: str = ''


def files_of(name: str) -> tuple[list[Path], dict[str, Any]]:
    """Find what a motion's name means.

    Args:
        name: A wave's configuration, a shipped multi-sine, a file, or ``cycloidal``.

    Returns:
        Parameter files to lay over the rig's.
        Parameters that win over them, by node.

    Raises:
        BringupError: If it means nothing.
    """
    if name == MOVE:
        return [], {CYCLOIDAL: {}}
    if name in available('wave'):
        return [config_file('wave', name)], {}
    path = Path(name)
    if path.suffix in {'.yaml', '.yml'} and path.is_file():
        names = read_yaml(path).names()
        if 'waypoints' in names:
            return [], {CYCLOIDAL: {}}
        # A parameter file, and no multi-sine.
        if names and names[0].startswith('/'):
            return [path], {}
    if path.suffix in {'.yaml', '.yml', '.csv'} or name in multi_sine.shipped():
        return [], {EXCITATION: {'motion': name}}
    known = [*available('wave'), *multi_sine.shipped(), MOVE]
    expected = f'{", ".join(known)}, or a CSV or YAML file{meant(name, known)}'
    raise BringupError(f'no motion {name!r}: expected {expected}')


def source_of(files: Sequence[Path], overrides: dict[str, Any]) -> str:
    """Return the trajectory node that plays what some files and overrides say."""
    for node in (OCEAN, EXCITATION, CYCLOIDAL):
        if node in overrides or any(node == name for path in files for name, _ in sections(path)):
            return node
    raise ConfigurationError('motion', [str(path) for path in files], 'a trajectory node in it')


def motion_of(
    source: str,
    parameters: RigParameters,
    platform: Platform,
    *,
    duration: float | None = None,
    target: Pose | Path | None = None,
) -> Motion:
    """Make a motion as its trajectory node would, checked as far as its start does not matter.

    Args:
        platform: Whose limits hold, as far as the node's ``limit_scale`` allows.
        duration: How long an endless motion is played before it fades out, or a move takes [s].
        target: Where a move goes, or a file of waypoints.

    Raises:
        MotionRefused: If the platform may not do it.
        ConfigurationError, TrajectoryError: If the parameters make no motion.
    """
    if source == CYCLOIDAL:
        asked = parameters.of(source, TrajectoryParameters)
        guard = MotionGuard(platform, scale=asked.limit_scale)
        if isinstance(target, Path):
            found = WaypointList.from_yaml(target, platform)
            return Motion(
                source,
                asked,
                lambda start: plan_route(start, found.waypoints, guard, found.repeat).sequence,
            )
        end = platform.geometry.neutral_pose if target is None else target
        scale = asked.speed_scale

        def move(start: Pose) -> Trajectory:
            return plan_move(start, end, guard, duration=duration, scale=scale)

        return Motion(source, asked, move)
    chosen: ExcursionParameters
    if source == OCEAN:
        ocean = chosen = parameters.of(source, OceanTrajectoryParameters)
        guard = MotionGuard(platform, scale=ocean.limit_scale)
        played, centre, _ = ocean.motion(guard)
        wave = ocean.faded(played, centre, guard)
    else:
        excitation = chosen = parameters.of(source, ExcitationTrajectoryParameters)
        guard = MotionGuard(platform, scale=excitation.limit_scale)
        samples, centre = excitation.samples(guard)
        longest = max(excitation.fade_in, excitation.fade_out)
        if samples.duration < longest:
            raise ConfigurationError(
                f'{source}: motion',
                f'{samples.duration:g} s',
                f'the {longest:g} s of its fades or more; a YAML file with motion, fade_in and '
                'fade_out for this node, named as MOTION, makes the fades shorter',
            )
        wave = excitation.faded(samples, centre, guard)
    wanted = inf if duration is None else duration
    if duration is None and not isfinite(wave.duration):
        wanted = PLAYED
    if wanted < wave.duration - wave.fade_out:
        # As if somebody had asked for the end after this time.
        wave = wave.with_fade_out_at(wanted, chosen.fade_out)
        check(wave, guard, begin=wanted)
    remark = ''
    if wave.fade_in + wave.fade_out > wave.duration + ROUNDING:
        remark = (
            f'{source}: its {wave.duration:.4g} s are less than fade_in and fade_out, '
            f'{wave.fade_in:g} s + {wave.fade_out:g} s, which overlap: at no time is the motion '
            'played in full'
        )
    return Motion(source, chosen, lambda start: chosen.excursion(start, wave, guard), remark)
