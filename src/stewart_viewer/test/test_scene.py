# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is drawn in space stands where the platform stands, in the colours of its limits."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_description.urdf import render_urdf
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.joint_states import JOINT_NAMES, joint_positions
from stewart_viewer.scene import AMBER, colour_of, GREEN, PlatformScene, RED
from stewart_viewer.snapshot import Estimate, Snapshot, stroke_reserve
import viser
import yourdfpy


@pytest.fixture
def scene(server: viser.ViserServer, ex800: Platform) -> PlatformScene:
    return PlatformScene(server, ex800, 'ex800')


def handle(server: viser.ViserServer, name: str) -> Any:
    found = server.scene.get_handle_by_name(name)
    assert found is not None, name
    return found


def tilted(platform: Platform) -> Pose:
    neutral = platform.geometry.neutral_pose
    return Pose.from_rpy(np.add(neutral.position, [0.02, -0.01, 0.015]), (0.1, -0.05, 0.2))


def test_a_platform_on_rods_has_its_bands_on_the_rods(server: viser.ViserServer) -> None:
    """Rods of a hexaglide hang from carriages: a band lies half way to the platform joint."""
    platform = Platform.from_yaml('hexaglide_3d_mec')
    pose, rods = platform.geometry.neutral_pose, platform.geometry.rods
    assert rods is not None
    PlatformScene(server, platform, 'hexaglide_3d_mec').show(Snapshot(0.0, pose=pose))
    for leg in range(6):
        # A right triangle: the carriage is above its rail's foot by what the rod leaves.
        end = pose.position + platform.geometry.platform_joints[leg]
        across = np.linalg.norm((end - rods.origins[leg])[:2])
        carriage = rods.origins[leg] + [0.0, 0.0, end[2] + np.sqrt(1.0 - across**2)]
        band = handle(server, f'/bands/leg_{leg + 1}')
        np.testing.assert_allclose(band.position, 0.5 * (end + carriage), atol=1e-12)
        turned = Rotation.from_quat(np.roll(band.wxyz, -1)).apply([0.0, 0.0, 1.0])
        np.testing.assert_allclose(turned, carriage - end, atol=1e-6)


@pytest.mark.parametrize('name', ['vigo', 'hexaglide_3d_mec', 'sg90_rotary'])
def test_every_part_is_where_the_urdf_has_it(server: viser.ViserServer, name: str) -> None:
    """Against yourdfpy's own forward kinematics."""
    platform = Platform.from_yaml(name)
    pose = Pose.from_rpy(
        np.add(platform.geometry.neutral_pose.position, [0.002, -0.001, 0.003]),
        (0.02, -0.03, 0.04),
    )
    PlatformScene(server, platform, name).show(Snapshot(0.0, pose=pose, commanded=pose))
    urdf = yourdfpy.URDF.load(io.BytesIO(render_urdf(name).encode()))
    positions = joint_positions(platform, pose.position, pose.quaternion_xyzw)
    joints = dict(zip(JOINT_NAMES, positions, strict=True))
    urdf.update_cfg([joints[joint] for joint in urdf.actuated_joint_names])
    above = {joint.child: joint.parent for joint in urdf.robot.joints}
    for joint in urdf.robot.joints:
        path, link = joint.child, joint.parent
        while link in above:
            path, link = f'{link}/{path}', above[link]
        expected = urdf.get_transform(joint.child, joint.parent)
        roots = ['/base_link', '/ghost'] if joint.child == 'platform_link' else ['/base_link']
        for root in roots:
            frame = handle(server, f'{root}/visual/{path}')
            np.testing.assert_allclose(frame.position, expected[:3, 3], atol=1e-9)
            turned = Rotation.from_quat(np.roll(frame.wxyz, -1)).as_matrix()
            np.testing.assert_allclose(turned, expected[:3, :3], atol=1e-7)


def test_a_band_sits_on_every_leg(
    server: viser.ViserServer, scene: PlatformScene, ex800: Platform
) -> None:
    pose = tilted(ex800)
    scene.show(Snapshot(0.0, pose=pose))
    geometry = ex800.geometry
    ends = pose.position + geometry.platform_joints @ pose.rotation.T
    for leg, base, end in zip(range(1, 7), geometry.base_joints, ends, strict=True):
        band = handle(server, f'/bands/leg_{leg}')
        np.testing.assert_allclose(band.position, 0.5 * (base + end), atol=1e-9)
        axis = Rotation.from_quat(np.roll(band.wxyz, -1)).apply([0.0, 0.0, 1.0])
        np.testing.assert_allclose(axis, (end - base) / np.linalg.norm(end - base), atol=1e-9)
        assert band.color == GREEN


def test_a_leg_near_its_end_turns_red(
    server: viser.ViserServer, scene: PlatformScene, ex800: Platform
) -> None:
    strokes = ex800.limits.stroke.mean(axis=1)
    strokes[2] = ex800.limits.stroke[2, 1] - 1e-4
    scene.show(Snapshot(0.0, pose=ex800.geometry.neutral_pose, strokes=strokes))
    assert handle(server, '/bands/leg_3').color == RED
    assert handle(server, '/bands/leg_4').color == GREEN


def test_arrows_point_out_of_legs_that_push(
    server: viser.ViserServer, scene: PlatformScene, ex800: Platform
) -> None:
    pose, forces = tilted(ex800), np.array([50.0, -25.0, 10.0, 0.0, 5.0, -1.0])
    scene.show(Snapshot(0.0, pose=pose, forces=forces))
    arrows = handle(server, '/forces').points
    geometry = ex800.geometry
    legs = pose.position + geometry.platform_joints @ pose.rotation.T - geometry.base_joints
    along = ((arrows[:, 1] - arrows[:, 0]) * legs).sum(axis=1)
    np.testing.assert_array_equal(np.sign(along), np.sign(forces))
    np.testing.assert_allclose(
        np.linalg.norm(arrows[1, 1] - arrows[1, 0]),
        0.5 * np.linalg.norm(arrows[0, 1] - arrows[0, 0]),
        rtol=1e-5,
    )
    scene.show(Snapshot(0.1, pose=pose))
    assert not handle(server, '/forces').visible


def test_the_ellipsoid_has_the_axes_of_the_covariance(
    server: viser.ViserServer, scene: PlatformScene, ex800: Platform
) -> None:
    turn = Rotation.from_euler('xyz', [0.3, 0.2, 0.4]).as_matrix()
    covariance = turn @ np.diag([1e-6, 4e-6, 9e-6]) @ turn.T
    scene.show(Snapshot(0.0, estimate=Estimate(ex800.geometry.neutral_pose, covariance)))
    ellipsoid = handle(server, '/estimate')
    assert ellipsoid.visible
    axes = Rotation.from_quat(np.roll(ellipsoid.wxyz, -1)).as_matrix()
    radii = np.array(ellipsoid.scale) / scene.magnification
    np.testing.assert_allclose(axes @ np.diag(radii**2) @ axes.T, covariance, atol=1e-12)
    scene.show(Snapshot(0.1))
    assert not handle(server, '/estimate').visible


@pytest.mark.parametrize(('reserve', 'colour'), [(1.0, GREEN), (0.1, AMBER), (-0.1, RED)])
def test_colours_follow_the_reserve(reserve: float, colour: tuple[int, int, int]) -> None:
    assert colour_of(reserve) == colour


def test_the_reserve_is_one_in_the_middle_and_negative_outside() -> None:
    limits = np.tile([0.0, 0.2], (6, 1))
    reserve = stroke_reserve(np.array([0.1, 0.0, 0.2, 0.05, -0.02, 0.22]), limits)
    np.testing.assert_allclose(reserve, [1.0, 0.0, 0.0, 0.5, -0.2, -0.2], atol=1e-12)
