# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write a platform as Gazebo reads it: SDFormat 1.11, a world with one closed-chain model.

Joint positions are counted from the neutral pose, in which the model is drawn: SDFormat has no
other zero. So the position of the slide ``leg_1`` is the stroke less that of the neutral pose.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation
from stewart_kinematics.exchange.linkage import MOMENTS
from stewart_kinematics.exchange.neutral_legs import (
    add,
    bodies,
    document,
    NeutralLegs,
    words,
)
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial import rpy_from_quaternion

VERSION = '1.11'

SYSTEMS = {
    'physics': 'Physics',
    'user-commands': 'UserCommands',
    'scene-broadcaster': 'SceneBroadcaster',
    'imu': 'Imu',
    'forcetorque': 'ForceTorque',
}
"""Gazebo's systems that the world needs; naming one switches the default ones off."""


def sdf(platform: Platform) -> str:
    """Write a platform in SDFormat; without masses it can be looked at."""
    root = ET.Element('sdf', version=VERSION)
    world = add(root, 'world', name=platform.name)
    for system, name in SYSTEMS.items():
        _plugin(world, system, name)
    _text(world, 'gravity', platform.gravity)
    model = add(world, 'model', name=platform.name)
    masses, legs = bodies(platform), NeutralLegs.of(platform)
    neutral = platform.geometry.neutral_pose
    add(model, 'link', name='base_link')
    _joint(model, 'base_mount', 'fixed', 'world', 'base_link')
    link = _link(model, 'platform_link', neutral, masses['platform'])
    if platform.imu is not None:
        sensor = add(link, 'sensor', name='imu', type='imu')
        _text(sensor, 'pose', _pose(platform.imu))
        _text(sensor, 'always_on', 'true')
        _text(sensor, 'update_rate', '100')
    if 'payload' in masses:
        _link(model, 'payload_link', neutral, masses['payload'])
        _joint(model, 'payload_link_mount', 'fixed', 'platform_link', 'payload_link')
    for i in range(6):
        _leg(model, platform, legs, i, masses)
    _plugin(model, 'joint-state-publisher', 'JointStatePublisher')
    for n in range(1, 7):
        force = _plugin(model, 'apply-joint-force', 'ApplyJointForce')
        _text(force, 'joint_name', f'leg_{n}')
    text = (
        'Joint positions are 0 at the neutral pose. The physics engine must close loops; each '
        'leg ends in a ball joint on platform_link.'
    )
    return document(root, platform, text)


def _text(parent: ET.Element, tag: str, value: str | ArrayLike) -> None:
    add(parent, tag).text = value if isinstance(value, str) else words(value)


def _plugin(parent: ET.Element, system: str, name: str) -> ET.Element:
    return add(
        parent, 'plugin', filename=f'gz-sim-{system}-system', name=f'gz::sim::systems::{name}'
    )


def _pose(pose: Pose) -> str:
    """Return x, y, z [m], roll, pitch, yaw [rad]."""
    return words([*pose.position, *rpy_from_quaternion(pose.quaternion_xyzw)])


def _link(model: ET.Element, name: str, pose: Pose, body: RigidBody) -> ET.Element:
    """Add a body at a pose in the model's frame."""
    link = add(model, 'link', name=name)
    _text(link, 'pose', _pose(pose))
    inertial = add(link, 'inertial')
    _text(inertial, 'pose', [*body.centre_of_mass, 0.0, 0.0, 0.0])
    _text(inertial, 'mass', body.mass)
    inertia = add(inertial, 'inertia')
    for key, value in zip(MOMENTS, body.inertia[np.triu_indices(3)], strict=True):
        _text(inertia, key, value)
    return link


def _joint(model: ET.Element, name: str, kind: str, parent: str, child: str) -> ET.Element:
    """Add a joint at the origin of its child."""
    joint = add(model, 'joint', name=name, type=kind)
    _text(joint, 'parent', parent)
    _text(joint, 'child', child)
    return joint


def _axis(
    joint: ET.Element, tag: str, direction: ArrayLike, limits: Array, rate: float | None = None
) -> None:
    """Add an axis in the frame of the joint's child with its lower and upper position."""
    axis = add(joint, tag)
    _text(axis, 'xyz', direction)
    limit = add(axis, 'limit')
    _text(limit, 'lower', limits[0])
    _text(limit, 'upper', limits[1])
    if rate is not None:
        _text(limit, 'velocity', rate)


def _leg(
    model: ET.Element, platform: Platform, legs: NeutralLegs, i: int, masses: dict[str, RigidBody]
) -> None:
    """Add cylinder and rod, the joints about them, and a sensor of the leg's force."""
    name, axes = f'leg_{i + 1}', legs.frames[i]
    turned = Rotation.from_matrix(axes).as_quat()
    place = Pose(platform.geometry.base_joints[i], turned)
    cylinder = _link(model, f'{name}_cylinder', place, masses['cylinder'])
    rod = _link(model, f'{name}_rod', Pose(legs.tips[i], turned), masses['rod'])
    retracted = platform.geometry.retracted_length[i]
    width = 0.01 * float(retracted)
    for link, side, radius in ((cylinder, 1.0, 2.0 * width), (rod, -1.0, width)):
        visual = add(link, 'visual', name='tube')
        _text(visual, 'pose', [0.0, 0.0, side * 0.5 * retracted, 0.0, 0.0, 0.0])
        shape = add(add(visual, 'geometry'), 'cylinder')
        _text(shape, 'radius', radius)
        _text(shape, 'length', retracted)
    base = _joint(model, f'{name}_base', 'universal', 'base_link', f'{name}_cylinder')
    ranges = legs.angle_ranges[i] - legs.angles[i][:, None]
    _axis(base, 'axis', axes.T @ platform.base_joint_axes[i], ranges[0])
    _axis(base, 'axis2', [0.0, 1.0, 0.0], ranges[1])
    slide = _joint(model, name, 'prismatic', f'{name}_cylinder', f'{name}_rod')
    strokes = platform.limits.stroke[i] - legs.stroke[i]
    _axis(slide, 'axis', [0.0, 0.0, 1.0], strokes, platform.limits.rate)
    sensor = add(slide, 'sensor', name=f'{name}_force', type='force_torque')
    _text(sensor, 'always_on', 'true')
    _text(add(sensor, 'force_torque'), 'frame', 'child')
    _joint(model, f'{name}_platform', 'ball', 'platform_link', f'{name}_rod')
