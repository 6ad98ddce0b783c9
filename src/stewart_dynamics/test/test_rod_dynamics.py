# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts of cranks and carriages, against energies of point masses that know no formula."""

from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_dynamics.errors import MissingMasses
from stewart_dynamics.feed_forward import FeedForward
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.rods import RodModel
from stewart_kinematics.errors import LegFamilyError, MotionRefused, StewartError
from stewart_kinematics.model.leg_kinds import ROTARY
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Array, Motion, read_only
from stewart_kinematics.solvers.forward import forward_from_positions
from stewart_kinematics.solvers.inverse import inverse, leg_positions

NAMES = ('sg90_rotary', 'hexaglide_3d_mec')


def heavy(name: str) -> Platform:
    """Give a platform a lopsided load, and its crank one that is off its plane and its arm."""
    platform = Platform.from_yaml(name)
    masses = platform.masses
    assert masses is not None
    load = masses.platform.mass
    payload = RigidBody(
        2.0 * load,
        read_only(0.3 * platform.geometry.length_scale * np.array([0.5, -0.3, 1.0])),
        read_only(load * platform.geometry.length_scale**2 * np.diag([0.5, 0.7, 0.9])),
    )
    crank = masses.crank
    if crank is not None:
        inertia = load * 0.015**2 * np.diag([0.4, 0.3, 0.5])
        crank = RigidBody(load, read_only([0.002, 0.006, -0.004]), read_only(inertia))
    return replace(platform, masses=replace(masses, payload=payload, crank=crank))


def points_of(body: RigidBody) -> tuple[Array, Array]:
    """Return six point masses (6, 3), (6,) that have mass, centre and inertia of a body."""
    moments, axes = np.linalg.eigh(body.inertia)
    squares = 0.5 * moments.sum() - moments
    arms = np.sqrt(np.maximum(3.0 * squares / body.mass, 0.0))
    points = np.concatenate([axes * arms, -axes * arms], axis=1).T + body.centre_of_mass
    return points, np.full(6, body.mass / 6.0)


def places(platform: Platform, position: Array, quaternion: Array) -> tuple[Array, Array]:
    """Return all point masses of a platform, (n, 3) [m] and (n,) [kg], at a pose."""
    masses, rods = platform.masses, platform.geometry.rods
    assert masses is not None
    assert rods is not None
    bodies = [masses.platform] + ([masses.payload] if masses.payload else [])
    found, weights = [], []
    for body in bodies:
        points, mass = points_of(body)
        found.append(position + Rotation.from_quat(quaternion).apply(points))
        weights.append(mass)
    values = leg_positions(platform.geometry, position, quaternion)
    begin = rods.begin(values)
    for leg in range(6):
        if rods.kind is ROTARY:
            assert masses.crank is not None
            points, mass = points_of(masses.crank)
            arm = begin[leg] - rods.origins[leg]
            arm /= np.linalg.norm(arm)
            frame = np.stack([rods.axes[leg], arm, np.cross(rods.axes[leg], arm)])
            found.append(rods.origins[leg] + points @ frame)
        else:
            mass = np.array([masses.carriage])
            found.append(begin[leg : leg + 1])
        weights.append(mass)
    return np.concatenate(found), np.concatenate(weights)


def moving(platform: Platform, rng: np.random.Generator) -> Motion:
    pose, size = platform.geometry.neutral_pose, platform.geometry.length_scale
    turn = Rotation.from_rotvec(rng.uniform(-0.1, 0.1, 3)).as_quat()
    shift, v, a = size * rng.uniform(-0.1, 0.1, 3), size * rng.normal(size=3), rng.normal(size=3)
    w, alpha = rng.normal(size=3), rng.normal(size=3)
    return Motion.of_vectors(pose.position + shift, turn, v, w, size * a, alpha)


def at(motion: Motion, time: float) -> tuple[Array, Array]:
    """Continue a motion; its accelerations hold at time 0."""
    place = motion.position + time * motion.linear_velocity
    place = place + 0.5 * time**2 * motion.linear_acceleration
    turn = time * motion.angular_velocity + 0.5 * time**2 * motion.angular_acceleration
    turned = Rotation.from_rotvec(turn) * Rotation.from_quat(motion.quaternion_xyzw)
    return place, turned.as_quat()


@pytest.mark.parametrize('name', NAMES)
def test_power_of_the_joints_is_the_change_of_energy(name: str) -> None:
    """Of points: m r' . (r'' - g), with r', r'' by differences of places alone."""
    platform, rng, step = heavy(name), np.random.default_rng(1), 2e-4
    model = RodModel.from_platform(platform)
    for _ in range(50):
        motion = moving(platform, rng)
        before, now, after = (places(platform, *at(motion, k * step)) for k in (-1, 0, 1))
        speed, mass = (after[0] - before[0]) / (2.0 * step), now[1]
        second = (after[0] - 2.0 * now[0] + before[0]) / step**2
        power = np.sum(mass[:, None] * speed * (second - platform.gravity))
        ours = model.efforts(motion) @ inverse(platform.geometry, motion).rate

        scale = np.sum(mass * np.linalg.norm(speed, axis=1)) * 9.8
        assert ours == pytest.approx(power, abs=1e-5 * scale)


@pytest.mark.parametrize('name', NAMES)
def test_efforts_at_rest_are_slopes_of_the_potential(name: str) -> None:
    """Each joint alone is moved a little; the forward kinematics says where the masses go."""
    platform, rng = heavy(name), np.random.default_rng(2)
    motion = moving(platform, rng)
    rest = Motion.at_rest(motion.pose)
    efforts = RodModel.from_platform(platform).efforts(rest)
    values = leg_positions(platform.geometry, motion.position, motion.quaternion_xyzw)

    def potential(joints: Array) -> float:
        found = forward_from_positions(platform.geometry, joints)
        assert found.converged
        points, mass = places(platform, found.position, found.quaternion_xyzw)
        return -float(np.sum(mass[:, None] * points * platform.gravity))

    step = 1e-5 * (1.0 if platform.kind is ROTARY else 0.1)
    for leg in range(6):
        away = step * np.eye(6)[leg]
        slope = (potential(values + away) - potential(values - away)) / (2.0 * step)
        assert efforts[leg] == pytest.approx(slope, rel=1e-5)


def test_six_level_cranks_share_the_weight() -> None:
    """By hand: level arms and equal rods, m g r sin(slope) / 6 of the rod's vertical part."""
    platform = Platform.from_yaml('sg90_rotary')
    masses = platform.masses
    assert masses is not None
    assert masses.crank is not None
    light = replace(masses, crank=replace(masses.crank, mass=0.0))
    pose = platform.geometry.neutral_pose
    torque = FeedForward('sg90_rotary').forces(*Motion.at_rest(pose).parts())
    bare = RodModel.from_platform(replace(platform, masses=light)).efforts(Motion.at_rest(pose))
    arm = masses.crank.mass * 9.80665 * masses.crank.centre_of_mass[1]

    # The heavy part is level within 1e-3 rad, so that the lever is the crank itself.
    assert bare == pytest.approx(np.full(6, 0.1 * 9.80665 * 0.015 / 6.0), rel=1e-3)
    assert torque - bare == pytest.approx(np.full(6, arm), rel=1e-5)


def test_what_has_no_rods_no_masses_or_no_reach_is_refused() -> None:
    rotary = Platform.from_yaml('sg90_rotary')
    with pytest.raises(LegFamilyError):
        RodModel.from_platform(Platform.from_yaml('vigo'))
    with pytest.raises(LegFamilyError):
        InertialModel.from_platform(rotary)
    with pytest.raises(MissingMasses):
        RodModel.from_platform(replace(rotary, masses=None))
    model, pose = RodModel.from_platform(rotary), rotary.geometry.neutral_pose
    far = Motion.at_rest(type(pose)(np.array([0.0, 0.0, 1.0]), pose.quaternion_xyzw))
    with pytest.raises(MotionRefused, match='crank angle of leg 1 is nan'):
        model.efforts(far)
    with pytest.raises(StewartError, match='position must be finite'):
        model.efforts(Motion(np.array([math.nan, 0.0, 0.1]), *far.parts()[1:]))
