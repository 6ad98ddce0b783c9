# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Hexapods as other people write them, none of whose habits is ours, and their import."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.exchange.importing import import_platform
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.schema import Section

BASE = np.array(
    [[0.5 * np.cos(a), 0.5 * np.sin(a), 0.05] for a in np.radians([-10, 10, 110, 130, 230, 250])]
)
TOP = np.array(
    [[0.3 * np.cos(a), 0.3 * np.sin(a), -0.02] for a in np.radians([-50, 50, 70, 170, 190, 290])]
)
HEIGHT = 0.8
DRAWN = np.add(TOP, [0.0, 0.0, HEIGHT]) - BASE
LENGTHS = np.linalg.norm(DRAWN, axis=1)


def text(values: object) -> str:
    return ' '.join(f'{value:.15g}' for value in np.ravel(values))


def along(i: int) -> Rotation:
    """The shortest turn of z into a leg's direction."""
    leg = DRAWN[i]
    axis = np.cross([0.0, 0.0, 1.0], leg)
    angle = np.arctan2(np.linalg.norm(axis), leg[2])
    return Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))


def closed_by_bodies() -> str:
    """Build MJCF with geoms that carry the masses, classes, degrees, and connected bodies.

    Slides are 0 in the drawing and go both ways; the platform is free; hinge axes are the leg's.
    """
    legs, closings, motors = '', '', ''
    for i in range(6):
        turn = along(i).as_euler('XYZ', degrees=True)
        legs += f"""
    <body name="lower{i}" pos="{text(BASE[i])}" euler="{text(turn)}" childclass="leg">
      <joint axis="1 0 0" range="-35 35"/><joint axis="0 1 0" range="-35 35"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.02" mass="1.5"/>
      <body name="upper{i}">
        <joint class="slide" name="act{i}"/>
        <geom type="sphere" pos="0 0 {LENGTHS[i] - 0.2:.15g}" size="0.05" mass="0.5"/>
      </body>
    </body>"""
        anchor = f'anchor="0 0 {LENGTHS[i]:.15g}"'
        closings += f'<connect body1="upper{i}" body2="top" {anchor} solref=".01 1"/>'
        motors += f'<position joint="act{i}" kp="5000"/>'
    return f"""<mujoco model="shaker">
  <option gravity="0 0 -9.81"/>
  <default><default class="leg"><joint damping="0.1"/><geom contype="0" conaffinity="0"/>
    <default class="slide"><joint type="slide" axis="0 0 1" range="-0.15 0.15"/></default>
  </default></default>
  <worldbody><geom type="plane" size="2 2 .1"/><light pos="0 0 3"/>
    <body name="top" pos="0 0 {HEIGHT}"><freejoint/>
      <geom type="box" size="0.2 0.2 0.01" mass="8"/>
      <body name="camera" pos="0.1 0 0.05"><geom type="sphere" size="0.02" mass="0.25"/></body>
    </body>{legs}
  </worldbody>
  <equality>{closings}</equality><actuator>{motors}</actuator>
</mujoco>"""


def on_shoes(raised: float = 0.0, sites: bool = False) -> str:
    """Build MJCF whose legs end in heavy shoes that are welded to the platform, which comes last.

    ``relpose`` says where each shoe is; the platform may be drawn higher than that [m].
    """
    model, closings = closed_by_bodies(), ''
    begin, end = model.index('<body name="top"'), model.index('<body name="lower0"')
    top, legs = model[begin:end], model[end : model.index('</worldbody>')]
    top = top.replace(f'pos="0 0 {HEIGHT}"', f'pos="0 0 {HEIGHT + raised}"')
    for i in range(6):
        x, y, z, w = along(i).inv().as_quat()
        shoe = f"""<body name="shoe{i}" pos="0 0 {LENGTHS[i]:.15g}" quat="{text([w, x, y, z])}">
          <joint type="ball"/><geom type="sphere" size="0.01" mass="9"/><site name="foot{i}"/>
        </body>"""
        slide = f'<joint class="slide" name="act{i}"/>'
        legs = legs.replace(slide, slide + shoe)
        top = top.replace('<freejoint/>', f'<freejoint/><site name="s{i}" pos="{text(TOP[i])}"/>')
        ends = f'body1="top" body2="shoe{i}" relpose="{text(TOP[i])} 1 0 0 0"'
        ends = f'site1="s{i}" site2="foot{i}"' if sites else ends
        closings += f'<weld name="glue{i}" {ends}/>'
    motors = model[model.index('</equality>') :]
    return f'{model[:begin]}{legs}{top}</worldbody><equality>{closings}{motors}'


def legs_in_halves() -> str:
    """Build MJCF of a frame whose tubes meet rods that stand on the platform.

    The slides are on the platform's side, a weld joins their nuts to the tubes.
    """
    tubes, rods, closings = '', '', ''
    for i in range(6):
        turn = along(i).as_euler('XYZ', degrees=True)
        back = (along(i) * Rotation.from_euler('x', 180.0, degrees=True)).as_euler('XYZ', True)
        tubes += f"""
      <body name="tube{i}" pos="{text(BASE[i])}" euler="{text(turn)}">
        <joint axis="1 0 0"/><joint axis="0 1 0"/><geom size="0.02" mass="1.5"/></body>"""
        rods += f"""
      <body name="rod{i}" pos="{text(TOP[i])}" euler="{text(back)}">
        <joint type="ball"/><geom size="0.02" mass="0.5"/>
        <body name="nut{i}" pos="0 0 0.3"><geom size="0.01" mass="0.1"/>
          <joint name="act{i}" type="slide" axis="0 0 1" range="-0.1 0.2"/></body></body>"""
        closings += f'<weld body1="tube{i}" body2="nut{i}"/>'
    return f"""<mujoco model="halves"><worldbody><body name="frame" pos="0 0 0">{tubes}
    </body><body name="plate" pos="0 0 {HEIGHT}"><freejoint/><geom size="0.1" mass="5"/>{rods}
    </body></worldbody><equality>{closings}</equality></mujoco>"""


def hung_on_one_leg() -> str:
    """Build MJCF whose platform is the end of leg 1, on a base that stands turned and raised.

    Ball joints at the base, hinges at the platform, cross pieces, slides that shorten when their
    position grows, sites that connects name; the other legs hang down from the platform.
    """
    legs, closings, sites = '', '', ''
    for i in range(1, 6):
        down = along(i) * Rotation.from_euler('x', 180.0, degrees=True)
        x, y, z, w = down.as_quat()
        legs += f"""
      <body pos="{text(TOP[i])}" quat="{w:.15g} {x:.15g} {y:.15g} {z:.15g}">
        <joint axis="1 0 0"/><joint axis="0 1 0"/>
        <inertial pos="0 0 0.1" mass="0.7" diaginertia=".002 .002 .001"/>
        <body pos="0 0 {LENGTHS[i]:.15g}">
          <joint name="s{i}" type="slide" axis="0 0 -1" range="-.1 .2"/>
          <inertial pos="0 0 -0.15" mass="1.1" diaginertia=".003 .003 .001"/>
          <site name="foot{i}"/>
        </body>
      </body>"""
        closings += f'<connect site1="foot{i}" site2="stand{i}"/>'
        sites += f'<site name="stand{i}" pos="{text(BASE[i])}"/>'
    x, y, z, w = along(0).as_quat()
    back = along(0).inv().as_quat()
    return f"""<mujoco model="hanging">
  <compiler angle="radian"/>
  <worldbody>
    <body name="floor" pos="0 0 0">{sites}
    <body pos="{text(BASE[0])}" quat="{w:.15g} {x:.15g} {y:.15g} {z:.15g}">
      <joint type="ball"/><inertial pos="0 0 0.15" mass="1.1" diaginertia=".003 .003 .001"/>
      <body pos="0 0 {LENGTHS[0]:.15g}">
        <joint name="s0" type="slide" axis="0 0 -1" range="-.1 .2"/>
        <inertial pos="0 0 -0.1" mass="0.7" diaginertia=".002 .002 .001"/>
        <body quat="{back[3]:.15g} {text(back[:3])}"><joint axis="1 0 0"/>
          <inertial pos="0 0 0" mass="1e-8" diaginertia="1e-9 1e-9 1e-9"/>
          <body name="top"><joint axis="0 1 0"/><joint axis="0 0 1"/>
            <inertial pos="{text(-TOP[0])}" mass="6" diaginertia="1 1 1.5"/>
            <body pos="{text(-TOP[0])}">{legs}</body>
          </body>
        </body>
      </body>
    </body></body>
  </worldbody>
  <equality>{closings}</equality>
</mujoco>"""


def gazebo_urdf(closure: str = 'ball') -> str:
    """Build URDF with cross links, whose loops Gazebo closes at the platform."""
    parts = ''
    for i in range(6):
        turn = along(i).as_euler('xyz')
        parts += f"""
  <link name="cross{i}"/>
  <joint name="u{i}" type="revolute"><parent link="frame"/><child link="cross{i}"/>
    <origin xyz="{text(BASE[i])}" rpy="{text(turn)}"/><axis xyz="0 1 0"/>
    <limit lower="-0.6" upper="0.6" velocity="1" effort="1"/></joint>
  <link name="tube{i}"><inertial><origin xyz="0 0 0.2" rpy="0 0 1.5707963267948966"/>
    <mass value="2"/><inertia ixx="0.03" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <joint name="v{i}" type="revolute"><parent link="cross{i}"/><child link="tube{i}"/>
    <axis xyz="1 0 0"/><limit lower="-0.5" upper="0.5" velocity="1" effort="1"/></joint>
  <link name="piston{i}"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="p{i}" type="prismatic"><parent link="tube{i}"/><child link="piston{i}"/>
    <origin xyz="0 0 {LENGTHS[i]:.15g}"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.2" velocity="0.3" effort="500"/></joint>
  <gazebo><joint name="top{i}" type="{closure}"><parent>plate</parent>
    <child>piston{i}</child></joint>
  </gazebo>"""
    return f"""<?xml version="1.0"?>
<robot name="lab">
  <link name="world"/><link name="frame"/><link name="plate"><inertial><mass value="9"/>
    <inertia ixx="0.3" iyy="0.3" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="f" type="fixed"><parent link="world"/><child link="frame"/></joint>
  <joint name="loose" type="floating"><parent link="world"/><child link="plate"/>
    <origin xyz="0 0 {HEIGHT}"/></joint>{parts}
</robot>"""


def imported(folder: Path, text: str) -> tuple[Platform, list[str]]:
    file = folder / 'model.xml'
    file.write_text(text)
    content, notes = import_platform(file)
    return Platform.from_section(Section(content, '')), notes


def check_joints(platform: Platform, order: list[int] | None = None) -> None:
    rows = order or [0, 1, 2, 3, 4, 5]
    assert platform.geometry.base_joints == pytest.approx(BASE[rows], abs=1e-12)
    assert platform.geometry.platform_joints == pytest.approx(TOP[rows], abs=1e-12)
    assert platform.geometry.neutral_pose.position == pytest.approx([0.0, 0.0, HEIGHT])
