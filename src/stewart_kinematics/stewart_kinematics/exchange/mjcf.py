# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write a platform as MuJoCo reads it: a free body and six legs that connect constraints close.

Names are those of the URDF. The position of the slide ``leg_1`` is the stroke, those of
``leg_1_base_u`` and ``_v`` are the angles of its base joint. What MJCF has no place for - rates,
cones, limits - stands under ``custom``, by its key in a platform file.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from stewart_kinematics.exchange.neutral_legs import (
    add,
    bodies,
    document,
    LEAST_MASS,
    NeutralLegs,
)
from stewart_kinematics.model.platform import ANGLES, MAGNITUDES, Platform, RigidBody
from stewart_kinematics.model.schema import scale_of
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import rpy_deg

STEP, STEP_OF_MASSLESS_LEGS = 5e-4, 1e-4
"""Time step [s]. A connect constraint yields as 1/mass of the rod and as the step squared."""

TITLE = 'title'  # name of the custom text that holds the long name

LEG_NUMBERS = {
    'rate_mps': 'rate',
    'acceleration_mps2': 'acceleration',
    'base_joint_angle_deg': 'base_joint_angle',
    'platform_joint_angle_deg': 'platform_joint_angle',
    'distance_m': 'leg_distance',
}
NUMBERS = {
    **{f'legs.{key}': name for key, name in LEG_NUMBERS.items()},
    **{f'limits.{name}_deg': name for name in ANGLES},
    'limits.condition_number': 'condition_number',
    **{f'limits.{key}': name for name, key in MAGNITUDES.items()},
}
"""Keys of a platform file that MJCF has no place for, and what `Limits` calls them."""


def mjcf(platform: Platform) -> str:
    """Write a platform in MJCF; without masses it can be looked at and moved by hand."""
    masses = bodies(platform)
    light = min(masses[name].mass for name in ('cylinder', 'rod')) <= LEAST_MASS
    step = STEP_OF_MASSLESS_LEGS if light else STEP
    root = ET.Element('mujoco', model=platform.name)
    # Without these MuJoCo would mend bodies in silence.
    add(root, 'compiler', angle='radian', balanceinertia='false', autolimits='true')
    exact = {'tolerance': '1e-12', 'jacobian': 'dense'}
    add(root, 'option', exact, timestep=step, integrator='RK4', gravity=platform.gravity)
    _defaults(root, step)
    world = add(root, 'worldbody')
    add(world, 'light', pos='0 0 4', dir='0 0 -1', directional='true')
    _platform(world, platform, masses)
    _legs(world, platform, masses)
    equality = add(root, 'equality')
    actuator, sensor = add(root, 'actuator'), add(root, 'sensor')
    for n in range(1, 7):
        ends = {'site1': f'leg_{n}_tip', 'site2': f'leg_{n}_socket'}
        add(equality, 'connect', {'name': f'leg_{n}_platform', **ends})
        add(actuator, 'motor', name=f'leg_{n}', joint=f'leg_{n}')
        add(sensor, 'jointpos', name=f'leg_{n}_stroke', joint=f'leg_{n}')
        add(sensor, 'jointvel', name=f'leg_{n}_rate', joint=f'leg_{n}')
        add(sensor, 'actuatorfrc', name=f'leg_{n}_force', actuator=f'leg_{n}')
    frame = {'objtype': 'xbody', 'objname': 'platform_link'}
    add(sensor, 'framepos', {'name': 'platform_position', **frame})
    add(sensor, 'framequat', {'name': 'platform_quaternion_wxyz', **frame})
    if platform.imu is not None:
        add(sensor, 'accelerometer', name='imu_specific_force', site='imu_link')
        add(sensor, 'gyro', name='imu_angular_velocity', site='imu_link')
    _custom(root, platform)
    text = (
        'The loops are closed by connect constraints, as hard as MuJoCo makes them: solref is two '
        'time steps, change it with the step.'
    )
    return document(root, platform, text)


def _defaults(root: ET.Element, step: float) -> None:
    """Let nothing collide, and closings and end stops be hard."""
    default = add(root, 'default')
    hard = {'solref': f'{2.0 * step!r} 1', 'solimp': '0.9999 0.9999 0.001 0.5 2'}
    add(default, 'equality', hard)
    add(default, 'joint', solreflimit=hard['solref'])
    add(default, 'geom', contype='0', conaffinity='0', mass='0')


def _place(name: str, pose: Pose) -> dict[str, Any]:
    turn = pose.quaternion_xyzw[[3, 0, 1, 2]]
    return {'name': name, 'pos': pose.position, 'quat': turn}


def _inertial(parent: ET.Element, body: RigidBody) -> None:
    full = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    add(parent, 'inertial', pos=body.centre_of_mass, mass=body.mass, fullinertia=full)


def _platform(world: ET.Element, platform: Platform, masses: dict[str, RigidBody]) -> None:
    """Add the moving body with its sockets, sensor and payload."""
    geometry = platform.geometry
    body = add(world, 'body', _place('platform_link', geometry.neutral_pose))
    add(body, 'freejoint', name='platform')
    _inertial(body, masses['platform'])
    joints = geometry.platform_joints
    radius = float(np.linalg.norm(joints[:, :2], axis=1).max())
    add(body, 'geom', type='cylinder', size=[radius, 0.01 * radius], rgba='0.9 0.5 0.1 0.5')
    for n, joint in enumerate(joints, 1):
        add(body, 'site', name=f'leg_{n}_socket', pos=joint)
    if platform.imu is not None:
        add(body, 'site', _place('imu_link', platform.imu))
    if 'payload' in masses:
        _inertial(add(body, 'body', name='payload_link'), masses['payload'])


def _legs(world: ET.Element, platform: Platform, masses: dict[str, RigidBody]) -> None:
    """Add cylinders on two hinges and rods on a slide, each as it stands at the neutral pose."""
    legs, geometry = NeutralLegs.of(platform), platform.geometry
    lengths = geometry.retracted_length + legs.stroke
    width = 0.01 * float(geometry.retracted_length.min())
    for i, axes in enumerate(legs.frames):
        name = f'leg_{i + 1}'
        place = {'pos': geometry.base_joints[i], 'xyaxes': axes.T[:2]}
        cylinder = add(world, 'body', place, name=f'{name}_cylinder')
        hinges = ('u', axes.T @ platform.base_joint_axes[i]), ('v', [0.0, 1.0, 0.0])
        for k, (letter, axis) in enumerate(hinges):
            angle = {'ref': legs.angles[i, k], 'range': legs.angle_ranges[i, k]}
            add(cylinder, 'joint', angle, name=f'{name}_base_{letter}', axis=axis)
        _inertial(cylinder, masses['cylinder'])
        tube = [0.0, 0.0, 0.0, 0.0, 0.0, 0.9 * geometry.retracted_length[i]]
        colour = '0.1 0.3 0.8 1'
        add(cylinder, 'geom', type='capsule', fromto=tube, size=2.0 * width, rgba=colour)
        rod = add(cylinder, 'body', name=f'{name}_rod', pos=[0.0, 0.0, lengths[i]])
        stroke = {'ref': legs.stroke[i], 'range': platform.limits.stroke[i]}
        add(rod, 'joint', stroke, name=name, type='slide', axis='0 0 1')
        _inertial(rod, masses['rod'])
        back = [0.0, 0.0, -geometry.retracted_length[i], 0.0, 0.0, 0.0]
        add(rod, 'geom', type='capsule', fromto=back, size=width)
        add(rod, 'site', name=f'{name}_tip')


def _custom(root: ET.Element, platform: Platform) -> None:
    """Keep the numbers that MJCF has no place for, as a platform file names them."""
    custom, zero = add(root, 'custom'), platform.geometry.zero_pose
    add(custom, 'text', name=TITLE, data=platform.title)
    numbers = {'zero_pose.position_m': zero.position, 'zero_pose.rpy_deg': np.array(rpy_deg(zero))}
    for key, name in NUMBERS.items():
        numbers[key] = np.divide(getattr(platform.limits, name), scale_of(key))
    for key, values in numbers.items():
        add(custom, 'numeric', name=key, data=values)
