# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the motion guard looks at: every quantity with its bounds, and how people read it."""

from __future__ import annotations

from dataclasses import dataclass
import itertools
import math

import numpy as np
from stewart_kinematics.model.leg_kinds import LINEAR
from stewart_kinematics.model.platform import ANGLES, Platform
from stewart_kinematics.motion import Array, read_only, UNITS

NORM_TOLERANCE = 1e-6  # how far the norm of a quaternion may be from 1


@dataclass(frozen=True)
class Column:
    """One guarded quantity: its group, bounds in SI and rad, and how people read it."""

    group: str
    lower: float
    upper: float
    unit: str
    leg: int | None = None
    name: str = ''
    size: float = 0.0

    @property
    def label(self) -> str:
        """What it is called where it is broken."""
        return self.name or self.group

    @property
    def bounded(self) -> bool:
        """Whether there is a bound at all, from which a value can have a margin."""
        return math.isfinite(self.lower) or math.isfinite(self.upper)

    @property
    def reference(self) -> float:
        """What a margin is divided by: `size`, or half the interval, or the one bound, or 1."""
        bounds = [abs(bound) for bound in (self.lower, self.upper) if math.isfinite(bound)]
        if self.size or len(bounds) == 2:
            return self.size or (self.upper - self.lower) / 2.0
        return (bounds and bounds[0]) or 1.0


def joint_axes(platform: Platform) -> Array:
    """Return the legs' directions at the neutral pose, seen in the base and in the platform."""
    pose = platform.geometry.neutral_pose
    begin, end = platform.geometry.leg_ends(pose)
    legs = end - begin
    directions = legs / np.linalg.norm(legs, axis=1, keepdims=True)
    return read_only(np.vstack([directions, directions @ pose.rotation]))


def columns_of(platform: Platform, scale: float, determinant: float) -> list[Column]:
    """Return the bounds in the order of the kernel's columns."""
    limits, legs = platform.limits, range(1, 7)
    rate, acceleration = limits.rate * scale, limits.acceleration * scale
    kind = platform.kind
    # Lower and upper ends.
    strokes: list[tuple[float, float]] = limits.stroke.tolist()
    angles: list[tuple[float, float]] = limits.angles.tolist()
    unit = 'deg' if kind.unit == 'rad' else kind.unit
    base, moving = limits.base_joint_angle, limits.platform_joint_angle
    interval = (0.0, math.inf) if determinant > 0.0 else (-math.inf, 0.0)

    def of_legs(group: str, lower: float, upper: float, unit: str) -> list[Column]:
        return [Column(group, lower, upper, unit, i) for i in legs]

    result = [
        Column('quaternion norm', 1.0 - NORM_TOLERANCE, 1.0 + NORM_TOLERANCE, '1'),
        *(Column(kind.quantity, *ends, unit, i) for i, ends in enumerate(strokes, 1)),
        *of_legs('leg rate', -rate, rate, f'{kind.unit}/s'),
        *of_legs('leg acceleration', -acceleration, acceleration, f'{kind.unit}/s²'),
        *of_legs('base joint angle', -math.inf, base, 'deg'),
        *of_legs('platform joint angle', -math.inf, moving, 'deg'),
        *(Column(name, *ends, 'deg') for name, ends in zip(ANGLES, angles, strict=True)),
    ]
    for i, j in itertools.combinations(legs, 2):
        name = f'distance of legs {i} and {j}'
        least = limits.leg_distance or -math.inf
        result.append(Column('leg distance', least, math.inf, 'm', None, name))
    for field in ('velocity', 'acceleration'):
        for half in ('linear', 'angular'):
            key, bound = f'{half}_{field}', scale * getattr(limits, f'{half}_{field}')
            result.append(Column(f'{half} {field}', -math.inf, bound, UNITS[key]))
    result.append(Column('condition number', -math.inf, limits.condition_number, '1'))
    result.append(Column('determinant', *interval, '1', size=abs(determinant)))
    if kind is not LINEAR:
        result += of_legs('pressure angle', -math.inf, limits.pressure_angle, 'deg')
        result += of_legs('reach', -1.0, 1.0, '1')
    return result
