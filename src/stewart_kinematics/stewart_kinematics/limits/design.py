# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Judge a design by figures and warnings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from stewart_kinematics.errors import ConfigurationError, MotionRefused
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.usual import unusual
from stewart_kinematics.limits.workspace import display_unit, reach, volume
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import condition_number, jacobian

USEFUL_PART = 0.25  # an axis is short if it reaches less than this part of the stroke

MARGIN_CELLS = 24


@dataclass(frozen=True)
class DesignMetrics:
    """What a design can do about its neutral pose.

    Attributes:
        x, y, z, roll, pitch, yaw: Shorter side of the reach along one axis with the others kept
            [m], [rad].
        volume: Positions that are reached with the neutral attitude [m³].
        condition_number: At the neutral pose [-].
        leg_rate_up, leg_rate_sideways, leg_rate_turning: Fastest leg for 1 m/s upwards [-], for 1
            m/s in the worst horizontal direction [-], for 1 rad/s about the worst axis [m].
        leg_force, leg_force_turning: Largest leg force for 1 N in the worst direction [-], for 1 N
            m [1/m].
    """

    x: float
    y: float
    z: float
    roll: float
    pitch: float
    yaw: float
    volume: float
    condition_number: float
    leg_rate_up: float
    leg_rate_sideways: float
    leg_rate_turning: float
    leg_force: float
    leg_force_turning: float


def design_metrics(platform: Platform, cells: int = MARGIN_CELLS) -> DesignMetrics:
    """Judge a design about its neutral pose, with so many cells along each edge of the volume.

    Raises:
        MotionRefused: If the platform may not even rest there.
    """
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    sides = {item.axis: min(-item.lower, item.upper) for item in reach(guard, pose)}
    where = platform.geometry, pose.position, pose.quaternion_xyzw
    rates = jacobian(*where)
    forces = np.asarray(np.linalg.inv(rates).T, dtype=np.float64)
    return DesignMetrics(
        **sides,
        volume=volume(guard, pose, cells).volume,
        condition_number=float(condition_number(*where)),
        leg_rate_up=_worst(rates[:, 2:3]),
        leg_rate_sideways=_worst(rates[:, :2]),
        leg_rate_turning=_worst(rates[:, 3:]),
        leg_force=_worst(forces[:, :3]),
        leg_force_turning=_worst(forces[:, 3:]),
    )


def _worst(rows: Array) -> float:
    """Return the largest answer of a leg to a unit vector of any direction."""
    return float(np.linalg.norm(rows, axis=1).max())


def resting_forces(platform: Platform) -> Array:
    """Return what linear legs push with at rest at the neutral pose (6,) [N]; 0 without masses.

    Weight and Jacobian alone say it: a rod counts as if it hung on its platform joint, and the
    base bears the cylinders. Dynamics knows better, by a few percent.
    """
    masses, geometry = platform.masses, platform.geometry
    if masses is None:
        return np.zeros(6)
    pose = geometry.neutral_pose
    bodies = [
        (body.mass, body.centre_of_mass) for body in (masses.platform, masses.payload) if body
    ]
    bodies += [(masses.rod.mass, joint) for joint in geometry.platform_joints]
    wrench = np.zeros(6)
    for mass, centre in bodies:
        weight = mass * masses.gravity
        wrench += np.concatenate([weight, np.cross(pose.rotation @ centre, weight)])
    rates = jacobian(geometry, pose.position, pose.quaternion_xyzw)
    return np.asarray(np.linalg.solve(rates.T, -wrench), dtype=np.float64)


def half_out(platform: Platform) -> float:
    """Return the height of ``platform_link`` at which the legs are half way out on average [m].

    Attitude and horizontal place are those of the neutral pose, and of the two such heights it is
    the one on its side, with the platform above the legs' shortest or below it.

    Raises:
        ConfigurationError: If the legs are too short to be half way out anywhere.
    """
    geometry, neutral = platform.geometry, platform.geometry.neutral_pose
    wanted = float((geometry.retracted_length + platform.limits.stroke.mean(axis=1)).mean())

    def excess(height: float) -> float:
        place = [*neutral.position[:2], height]
        return float(leg_lengths(geometry, place, neutral.quaternion_xyzw).mean()) - wanted

    # The legs are longer the further the platform is from where they are shortest.
    offsets = geometry.base_joints[:, 2] - geometry.platform_joints @ neutral.rotation[2]
    lowest, highest = float(offsets.min()), float(offsets.max())
    nearest = minimize_scalar(excess, bounds=(lowest, highest), method='bounded').x
    side = 1.0 if neutral.position[2] >= nearest else -1.0
    farthest = (highest if side > 0.0 else lowest) + side * wanted
    if excess(nearest) >= 0.0:
        expected = 'longer than the horizontal distance of its joints'
        raise ConfigurationError('legs.retracted_length_m', wanted, expected)
    return float(brentq(excess, nearest, farthest))


def warnings(platform: Platform) -> list[str]:
    """Say in sentences what is doubtful about a design; empty for a good one."""
    found = [*unusual(platform), *_at_neutral(platform)]
    if platform.masses is None:
        found.append('no masses: dynamics, feed-forward and identification are refused')
    assumed = [key for key, text in platform.sources.items() if text.startswith('assumption')]
    if assumed:
        found.append(f'assumed, not known: {", ".join(sorted(assumed))}')
    return found


def _at_neutral(platform: Platform) -> list[str]:
    """Say in sentences what a design can hardly do at and about its neutral pose."""
    geometry = platform.geometry
    neutral = geometry.neutral_pose
    try:
        guard = MotionGuard(platform)
    except MotionRefused as refusal:
        return [f'the platform may not rest at its neutral pose: {refusal}']
    margins = guard.margins(Motion.at_rest(neutral))
    found = [
        f'at the neutral pose {name} has only {100 * float(margin):.0f} % of its range left'
        for name, margin in margins.items()
        if float(margin) < 0.1
    ]
    for item in reach(guard, neutral):
        side = min(-item.lower, item.upper)
        arm = 1.0 if item.axis in 'xyz' else geometry.length_scale
        if side * arm < USEFUL_PART * 0.5 * platform.travel:
            scale, unit = display_unit(item.axis)
            stop = item.below if -item.lower < item.upper else item.above
            found.append(f'{item.axis} reaches only {scale * side:.3g} {unit}: {stop}')
    return found
