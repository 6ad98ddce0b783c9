# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform in space: its URDF, the commanded ghost, leg bands, forces and the ellipsoid."""

from __future__ import annotations

import io
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_description.urdf import render_urdf
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_kinematics.solvers.joint_states import joint_positions
from stewart_viewer.force_scale import colour_of_force, ForceScale, size_of
from stewart_viewer.moving_urdf import MovingUrdf
from stewart_viewer.snapshot import Estimate, Snapshot, stroke_reserve
import viser
import yourdfpy

GREEN, AMBER, RED, GREY = (40, 160, 80), (230, 160, 20), (205, 30, 45), (150, 150, 155)
GHOST = (0.1, 0.65, 0.35, 0.35)
LITTLE_RESERVE, NO_RESERVE = 0.2, 0.05
"""Below these parts of half the stroke, or of a joint's angle, a leg's band turns amber, red."""

BELOW = -0.01
"""The grid lies under the base plate [m]."""


class PlatformScene:
    """Everything that is drawn in space of a platform, whose name or YAML file is `source`.

    The ellipsoid of one standard deviation is drawn `magnification` times as large as it is.
    """

    def __init__(self, server: viser.ViserServer, platform: Platform, source: str) -> None:
        self._server, self._platform = server, platform
        size = size_of(platform)
        self._size, self._force_scale = size, ForceScale(size)
        self._guard = MotionGuard(platform)
        self.magnification = 100.0
        server.scene.set_up_direction('+z')
        server.scene.add_grid(
            '/grid', 4.0 * size, 4.0 * size, cell_size=0.25 * size, position=(0.0, 0.0, BELOW)
        )
        reach = 1.6 * size
        server.initial_camera.position = (reach, -reach, reach)
        server.initial_camera.look_at = (0.0, 0.0, 0.7 * size)
        urdf = render_urdf(source)
        self._body = MovingUrdf(server, _loaded(urdf), '/base_link')
        # Only the moving plate of the ghost is of use; its legs would hide the real ones.
        link = 'platform_link'
        plate = _loaded(_with_visuals_of(link, urdf))
        self._ghost = MovingUrdf(server, plate, '/ghost', link, mesh_color_override=GHOST)
        # A little thicker than the legs of the URDF.
        radius = 1.2 * max(0.4 * platform.limits.leg_distance, 0.01 * size)
        self._bands: list[Any] = [
            server.scene.add_cylinder(f'/bands/leg_{leg}', radius, 0.1 * size, color=GREY)
            for leg in range(1, 7)
        ]
        self._arrows: Any = None
        self._ellipsoid = server.scene.add_icosphere(
            '/estimate', 1.0, color=(120, 60, 200), opacity=0.45, visible=False
        )
        self.show(Snapshot(0.0, pose=platform.geometry.neutral_pose))

    def show(self, snapshot: Snapshot) -> None:
        """Draw an instant; what it does not know stays as it was, or disappears."""
        with self._server.atomic():
            if snapshot.pose is not None:
                self._body.move(self._joints(snapshot.pose))
                self._draw_legs(snapshot)
            elif self._arrows is not None:
                self._arrows.visible = False
            self._ghost.show(snapshot.commanded is not None)
            if snapshot.commanded is not None:
                self._ghost.move(self._joints(snapshot.commanded))
            self._draw_estimate(snapshot.estimate)

    def _joints(self, pose: Pose) -> Array:
        return joint_positions(self._platform, pose.position, pose.quaternion_xyzw)

    def _draw_legs(self, snapshot: Snapshot) -> None:
        """Put a band around each leg, in the colour of its reserve, and an arrow of its force."""
        pose, geometry = snapshot.pose, self._platform.geometry
        if pose is None:
            return
        ends = pose.position + geometry.platform_joints @ pose.rotation.T
        rods = geometry.rods
        bases = geometry.base_joints if rods is None else rods.begin_at(pose)
        legs = ends - bases
        lengths = np.linalg.norm(legs, axis=1)
        strokes = snapshot.strokes
        if strokes is None:
            strokes = leg_positions(geometry, pose.position, pose.quaternion_xyzw)
        reserve = stroke_reserve(strokes, self._platform.limits.stroke)
        # The angles of its joints stop a leg, too.
        reserve = np.fmin(reserve, self._guard.leg_margins(Motion.at_rest(pose)))
        directions = legs / lengths[:, None]
        for band, base, leg, direction, part in zip(
            self._bands, bases, legs, directions, reserve, strict=True
        ):
            band.position = base + 0.5 * leg
            band.wxyz = _turned_to(direction)
            band.color = colour_of(part)
        self._draw_forces(snapshot.forces, ends, directions)

    def _draw_forces(self, forces: Array | None, ends: Array, directions: Array) -> None:
        """Draw an arrow at each platform joint: out of the leg pushes, into it pulls."""
        if forces is None:
            if self._arrows is not None:
                self._arrows.visible = False
            return
        lengths = self._force_scale.lengths(forces)
        points = np.stack([ends, ends + lengths[:, None] * directions], axis=1)
        colours = np.array([colour_of_force(force) for force in forces], dtype=np.uint8)
        if self._arrows is None:
            self._arrows = self._server.scene.add_arrows(
                '/forces',
                points.astype(np.float32),
                colours,
                shaft_radius=0.012 * self._size,
                head_radius=0.03 * self._size,
                head_length=0.06 * self._size,
            )
            return
        self._arrows.visible = True
        self._arrows.points = points.astype(np.float32)
        self._arrows.colors = colours

    def _draw_estimate(self, estimate: Estimate | None) -> None:
        """Draw the ellipsoid of one standard deviation of the position, magnified."""
        self._ellipsoid.visible = estimate is not None
        if estimate is None:
            return
        variances, axes = np.linalg.eigh(estimate.covariance)
        axes = axes * np.sign(np.linalg.det(axes))
        radii = self.magnification * np.sqrt(np.maximum(variances, 0.0))
        self._ellipsoid.scale = tuple(np.maximum(radii, 1e-4).tolist())
        self._ellipsoid.position = estimate.pose.position
        self._ellipsoid.wxyz = np.roll(Rotation.from_matrix(axes).as_quat(), 1)


def colour_of(reserve: float) -> tuple[int, int, int]:
    """Return green, amber or red for what a leg has left of its stroke."""
    if reserve < NO_RESERVE:
        return RED
    return AMBER if reserve < LITTLE_RESERVE else GREEN


def _loaded(urdf: str) -> yourdfpy.URDF:
    return yourdfpy.URDF.load(io.BytesIO(urdf.encode()))


def _with_visuals_of(link: str, urdf: str) -> str:
    """Leave out what every other link looks like."""
    root = ElementTree.fromstring(urdf)
    for item in root.iter('link'):
        if item.get('name') != link:
            for visual in item.findall('visual'):
                item.remove(visual)
    return ElementTree.tostring(root, encoding='unicode')


def _turned_to(direction: Array) -> Array:
    """Turn a cylinder, which stands along z, into a direction, or its opposite; w first."""
    x, y, z = direction if direction[2] >= 0.0 else -direction
    return np.array([1.0 + z, -y, x, 0.0]) / np.sqrt(2.0 + 2.0 * z)
