# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes, and the motions that they describe; no ROS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
import math
from pathlib import Path
from typing import Any

import numpy as np
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.fitting import fit_wave, Scaling
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_fades, plan_move
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.motion_csv import read_motion
from stewart_kinematics.trajectories import (
    AiryWave,
    Faded,
    Jonswap,
    multi_sine,
    OrbitalWave,
    Sequence,
    Trajectory,
)
from stewart_node_support.errors import MessageError
from stewart_tables.progress import silent
from stewart_tables.settings import param


def _limit_scale() -> Any:
    return param(
        1.0, 'part of the rate and acceleration limits that is allowed [-]', min=1e-3, max=1.0
    )


@dataclass(frozen=True)
class InverseKinematicsParameters:
    """Parameters of the inverse kinematics node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    limit_scale: float = _limit_scale()
    silence: float = param(
        0.25, 'silence of one source before another is heard [s]', min=0.01, max=60.0
    )


@dataclass(frozen=True)
class ForwardKinematicsParameters:
    """Parameters of the forward kinematics node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    joint_states_rate: float = param(
        50.0, 'maximum joint_states rate, for display only [Hz]', min=1.0, max=1000.0
    )


@dataclass(frozen=True)
class TrajectoryParameters:
    """Parameters of every trajectory node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    rate: float = param(200.0, 'setpoints per second [Hz]', min=1.0, max=1000.0)
    limit_scale: float = _limit_scale()
    speed_scale: float = param(
        0.5,
        'part of the velocity, acceleration and jerk limits that point-to-point moves use [-]',
        min=1e-3,
        max=1.0,
    )
    silence: float = param(
        0.3, 'silence of another source before this one starts [s]', min=0.01, max=60.0
    )
    patience: float = param(
        0.5, 'longest time without platform/commanded while playing [s]', min=0.05, max=10.0
    )
    pose_age: float = param(0.5, 'oldest platform/pose to start from [s]', min=0.01, max=10.0)


# A stick or trigger beyond is at its end [-].
END = 0.9
# What is further out is no share of a stick, for which drivers may round [-].
LARGEST_SHARE = 1.01


@dataclass(frozen=True)
class TeleopParameters(TrajectoryParameters):
    """Parameters of the node that follows velocities; the defaults are those of most gamepads."""

    axes: tuple[int, int, int, int, int, int] = param(
        (1, 0, 4, 6, 7, 3), 'axes of joy for x, y, z, roll, pitch, yaw; -1: none', min=-1, max=31
    )
    signs: tuple[float, float, float, float, float, float] = param(
        (1.0, 1.0, 1.0, -1.0, 1.0, 1.0), 'factors of these axes [-]', min=-1.0, max=1.0
    )
    dead_man_button: int = param(4, 'button of joy to be held [-]', min=0, max=31)
    dead_zone: float = param(0.1, 'part of a stick that counts as 0 [-]', min=0.0, max=0.9)

    def asked(self, axes: list[float], buttons: list[int]) -> Array | None:
        """Return x, y, z, roll, pitch, yaw (6,) from -1 to 1; None without the dead man's button.

        Axes and buttons are those of a sensor_msgs/Joy; an axis that this gamepad lacks is 0.

        Raises:
            MessageError: If it has no such button, or an axis in use is beyond -1 to 1.
        """
        button = self.dead_man_button
        if button >= len(buttons):
            raise MessageError(f'joy has {len(buttons)} buttons, dead_man_button is {button}')
        if buttons[button] <= 0:
            return None
        there = range(len(axes))
        for number in self.axes:
            # NaN, too, is not within.
            if number in there and not abs(axes[number]) <= LARGEST_SHARE:
                raise MessageError(f'axis {number} of joy is {axes[number]:g}, allowed: -1 to 1')
        sticks = np.array([axes[number] if number in there else 0.0 for number in self.axes])
        beyond = np.maximum(np.abs(sticks) - self.dead_zone, 0.0) / (1.0 - self.dead_zone)
        return np.sign(sticks) * beyond * np.array(self.signs)

    def pushed(self, axes: list[float]) -> list[int]:
        """Return the axes in use that are at an end, as a trigger is that nobody touches."""
        there = range(len(axes))
        return [number for number in self.axes if number in there and abs(axes[number]) > END]

    def missing(self, axes: list[float]) -> list[int]:
        """Return the axes in use that a gamepad lacks."""
        return sorted(number for number in self.axes if number >= len(axes))


@dataclass(frozen=True)
class CycloidalTrajectoryParameters(TrajectoryParameters):
    """Parameters of the point-to-point node."""

    feedback_rate: float = param(10.0, 'feedback messages per second [Hz]', min=0.1, max=1000.0)


@dataclass(frozen=True)
class ExcursionParameters(TrajectoryParameters):
    """Parameters of the nodes that go out and come home."""

    duration: float = param(
        0.0,
        'how long the motion is played, fades included [s]; 0: until stopped, or to its own end',
        min=0.0,
        max=86400.0,
        read_only=False,
    )
    fade_in: float = param(
        3.0, 'time in which the motion grows from rest [s]', min=0.0, max=600.0, read_only=False
    )
    fade_out: float = param(
        3.0, 'time in which the motion shrinks to rest [s]', min=0.0, max=600.0, read_only=False
    )
    horizon: float = param(
        120.0, 'how much of an endless motion is checked beforehand [s]', min=1.0, max=3600.0
    )

    def faded(self, motion: Trajectory, centre: Pose, guard: MotionGuard) -> Faded:
        """Give a motion its fades from and to a centre and check it.

        It ends after `duration`, or with the motion, or never. A recorded motion is checked to its
        end: what it does behind the horizon, its beginning does not tell.

        Raises:
            MotionRefused: If it leaves what the platform may do.
        """
        duration = min(self.duration or math.inf, motion.duration)
        fade_out = self.fade_out if math.isfinite(duration) else 0.0
        return plan_fades(
            motion,
            centre,
            guard,
            fade_in=self.fade_in,
            fade_out=fade_out,
            duration=duration,
            horizon=self.horizon if math.isinf(motion.duration) else math.inf,
        )

    def excursion(self, start: Pose, wave: Faded, guard: MotionGuard) -> Sequence:
        """Return approach, wave and, if it ends, the way to the neutral pose."""
        move = partial(plan_move, guard=guard, scale=self.speed_scale)
        parts: list[Trajectory] = [move(start, wave.centre), wave]
        if math.isfinite(wave.duration):
            parts.append(move(wave.centre, guard.platform.geometry.neutral_pose))
        return Sequence(tuple(parts))


@dataclass(frozen=True)
class OceanTrajectoryParameters(ExcursionParameters):
    """Parameters of the ocean node: components one by one, or a spectrum to draw them from."""

    amplitudes: tuple[float, ...] = param(
        (), 'amplitude of each wave [m]; none: a spectrum', min=0.0, read_only=False
    )
    periods: tuple[float, ...] = param((), 'period of each wave [s]', min=0.01, read_only=False)
    lengths: tuple[float, ...] = param(
        (), 'length of each wave [m]; none: deep water', min=0.01, read_only=False
    )
    phases_deg: tuple[float, ...] = param((), 'phase of each wave [deg]; none: 0', read_only=False)
    spectrum: str = param(
        'jonswap', 'spectrum of the sea', choices=('jonswap', 'pierson_moskowitz'), read_only=False
    )
    significant_height: float = param(
        1.5, 'significant height [m]', min=0.001, max=30.0, read_only=False
    )
    peak_period: float = param(6.0, 'peak period [s]', min=0.1, max=30.0, read_only=False)
    peak_enhancement: float = param(
        3.3,
        'gamma of the JONSWAP spectrum [-]',
        min=1.0,
        max=10.0,
        read_only=False,
    )
    components: int = param(30, 'waves drawn from it', min=1, max=1000, read_only=False)
    seed: int = param(1, 'the same seed gives the same sea', min=0, read_only=False)
    attack_angle_deg: float = param(
        0.0, 'direction of travel from x to y [deg]', min=-360.0, max=360.0, read_only=False
    )
    scaling: str = param(
        'plain',
        'none: as it is; plain: amplitudes; froude: lengths and times',
        choices=('none', 'plain', 'froude'),
        read_only=False,
    )
    fraction: float = param(
        0.6,
        'largest part of any guard margin at the centre that the sea may use [-]',
        min=0.001,
        max=1.0,
        read_only=False,
    )

    def motion(
        self, guard: MotionGuard, progress: Callable[[float], None] = silent
    ) -> tuple[OrbitalWave, Pose, float]:
        """Make the sea and fit it to a platform, telling `progress` the part done.

        Returns:
            The sea as the platform plays it, its centre, and by what it was scaled [-].
        """
        centre = guard.platform.geometry.neutral_pose
        wave = OrbitalWave(components(self), centre, math.radians(self.attack_angle_deg))
        if self.scaling == 'none':
            return wave, centre, 1.0
        # Longer than it is played: the sea's time begins with the fade-in.
        duration = self.duration or self.horizon
        kind: Scaling = 'plain' if self.scaling == 'plain' else 'froude'
        fitted, factor = fit_wave(
            wave, guard, self.fraction, kind, duration=duration, progress=progress
        )
        return fitted, centre, factor


@dataclass(frozen=True)
class ExcitationTrajectoryParameters(ExcursionParameters):
    """Parameters of the excitation node."""

    motion: str = param(
        'ex800_wave',
        'motion by name, or path of its file: .yaml a multi-sine, .csv samples',
        read_only=False,
    )

    def samples(self, guard: MotionGuard) -> tuple[Trajectory, Pose]:
        """Read the file; return the motion, and its centre."""
        if Path(self.motion).suffix.lower() == '.csv':
            read = read_motion(Path(self.motion))
            return read, read.sample(0.0).pose
        centre = guard.platform.geometry.neutral_pose
        return multi_sine.from_yaml(self.motion, centre), centre


def components(parameters: OceanTrajectoryParameters) -> tuple[AiryWave, ...]:
    """Make the waves that the parameters describe.

    Raises:
        ConfigurationError: If the lists differ in length.
        TrajectoryError: If a wave would break.
    """
    count = len(parameters.amplitudes)
    for name, optional in (('periods', False), ('lengths', True), ('phases_deg', True)):
        size = len(getattr(parameters, name))
        if size != count and not (optional and size == 0):
            raise ConfigurationError(name, size, f'{count} values, as many as amplitudes')
    if not count:
        # The Pierson-Moskowitz spectrum is JONSWAP's without the enhancement of its peak.
        gamma = parameters.peak_enhancement if parameters.spectrum == 'jonswap' else 1.0
        sea = Jonswap(parameters.significant_height, parameters.peak_period, gamma)
        return sea.components(parameters.components, parameters.seed)
    phases = [math.radians(phase) for phase in parameters.phases_deg] or [0.0] * count
    lengths = (parameters.lengths,) if parameters.lengths else ()
    rows = zip(parameters.amplitudes, parameters.periods, *lengths, phases, strict=True)
    make = AiryWave if lengths else AiryWave.deep_water
    return tuple(make(*row) for row in rows)
