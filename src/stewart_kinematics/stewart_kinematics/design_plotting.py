# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A design on one page: its joints and legs, its workspace, its condition number."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np
from stewart_kinematics.jacobian import condition_number
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.platform import Platform
from stewart_kinematics.plotting import draw_slice, draw_volume
from stewart_kinematics.workspace import displaced, plane, Progress, Volume, volume

SAMPLES = 81


def design_figure(platform: Platform, cells: int = 30, progress: Progress | None = None) -> Figure:
    """Draw a platform, where it reaches, and how well conditioned it is there.

    Args:
        platform: The design; it may rest at its neutral pose.
        cells: Cells along each edge of the volume.
        progress: Told the part of the volume that is done, 0 to 1.

    Returns:
        Four pictures, to be saved.
    """
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    cloud = volume(guard, pose, cells, progress)
    figure = Figure(figsize=(12.0, 10.0), layout='constrained')
    figure.suptitle(f'{platform.title}: neutral pose, and displacements from it at rest')
    draw_geometry(figure.add_subplot(2, 2, 1, projection='3d'), platform)
    draw_slice(figure.add_subplot(2, 2, 2), plane(guard, pose, ('x', 'z'), SAMPLES))
    draw_volume(figure.add_subplot(2, 2, 3, projection='3d'), cloud)
    draw_condition(figure.add_subplot(2, 2, 4), platform, cloud)
    return figure


def draw_geometry(axes: Any, platform: Platform) -> None:
    """Draw joints and legs at the neutral pose.

    Args:
        axes: Where to draw.
        platform: The design.
    """
    geometry, pose = platform.geometry, platform.geometry.neutral_pose
    base = 1e3 * geometry.base_joints
    moving = 1e3 * (pose.position + geometry.platform_joints @ pose.rotation.T)
    for ring, colour in ((base, 'tab:gray'), (moving, 'tab:orange')):
        around = ring[np.argsort(np.arctan2(ring[:, 1], ring[:, 0]))]
        axes.plot(*np.vstack([around, around[:1]]).T, color=colour)
    for leg, (start, end) in enumerate(zip(base, moving, strict=True), start=1):
        axes.plot(*np.stack([start, end]).T, color='tab:blue', linewidth=3)
        axes.text(*(0.5 * (start + end)), f'{leg}')
    axes.set_title('legs 1 to 6 at the neutral pose')
    axes.set_xlabel('x [mm]')
    axes.set_ylabel('y [mm]')
    axes.set_zlabel('z [mm]')
    axes.set_aspect('equal')


def draw_condition(axes: Axes, platform: Platform, cloud: Volume) -> None:
    """Map the condition number over x and y at the neutral height and attitude.

    Args:
        axes: Where to draw.
        platform: The design.
        cloud: Tells how far the map goes.
    """
    geometry, pose = platform.geometry, platform.geometry.neutral_pose
    span = np.abs(cloud.positions[:, :2] - pose.position[:2]).max()
    grid = np.linspace(-span, span, SAMPLES)
    x, y = np.meshgrid(grid, grid, indexing='ij')
    shift = np.zeros((SAMPLES, SAMPLES, 6))
    shift[..., 0], shift[..., 1] = x, y
    poses = displaced(pose, shift)
    number = condition_number(geometry, poses.position, poses.quaternion_xyzw)
    levels = axes.contourf(1e3 * x, 1e3 * y, number, levels=20, cmap='magma_r')
    inside = MotionGuard(platform).allowed(poses)
    axes.contour(1e3 * x, 1e3 * y, inside.astype(float), levels=[0.5], colors='tab:cyan')
    axes.figure.colorbar(levels, ax=axes, label='condition number [-]')
    axes.set_title(
        f'condition number (moments / {geometry.length_scale:.3g} m); reachable inside the line'
    )
    axes.set_xlabel('x [mm]')
    axes.set_ylabel('y [mm]')
    axes.set_aspect('equal')
