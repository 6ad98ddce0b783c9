# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of designs, workspaces and motions. Nothing of the core imports this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
import numpy as np
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.workspace import displaced, plane, Slice, Volume, volume
from stewart_kinematics.model.leg_kinds import LegKind
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.solvers.jacobian import condition_number
from stewart_kinematics.spatial import rpy_from_quaternion
from stewart_tables.progress import Progress

PLANE_SAMPLES = 81
VOLUME_CELLS = 30

PLACES: dict[str, Any] = {'xlabel': 'x [mm]', 'ylabel': 'y [mm]'}
LEGS = tuple(f'leg {number}' for number in range(1, 7))

REACHABLE = '#2b6cb0'
COLOURS = ('#c53030', '#dd6b20', '#d69e2e', '#38a169', '#319795', '#805ad5', '#b83280', '#718096')
"""What stops the platform, by the order in which it is met in the picture."""


def draw_slice(axes: Axes, part: Slice) -> None:
    """Draw where a slice is reachable, and what stops the platform elsewhere."""
    (first, unit), (second, other) = (_in_display_units(part, k) for k in (0, 1))
    reachable = part.margin >= 0.0
    met = np.unique(part.limiting[~reachable])
    codes = np.searchsorted(met, part.limiting)
    codes = np.where(reachable, len(met), codes)
    palette = [COLOURS[k % len(COLOURS)] for k in range(len(met))] + [REACHABLE]
    axes.pcolormesh(
        first,
        second,
        codes.T,
        cmap=ListedColormap(palette),
        vmin=-0.5,
        vmax=len(met) + 0.5,
        alpha=0.75,
        shading='nearest',
        # One picture: as thousands of paths it takes seconds to write, and megabytes.
        rasterized=True,
    )
    axes.contour(first, second, part.margin.T, levels=[0.0], colors='black')
    axes.set(xlabel=f'{part.axes[0]} [{unit}]', ylabel=f'{part.axes[1]} [{other}]')
    names = [part.quantities[k] for k in met] + ['reachable']
    patches = [axes.scatter([], [], color=colour, marker='s') for colour in palette]
    axes.legend(
        patches, names, fontsize='small', ncols=3, loc='lower center', bbox_to_anchor=(0.5, 1.0)
    )
    if unit == other:
        axes.set_aspect('equal')


def draw_volume(axes: Any, cloud: Volume) -> None:
    """Draw the boundary of a volume as a cloud of points, coloured by height."""
    shell = cloud.positions[cloud.boundary] * 1e3
    axes.scatter(*shell.T, c=shell[:, 2], s=4.0, cmap='viridis')
    axes.set(**PLACES, zlabel='z [mm]', aspect='equal')


def workspace_figure(title: str, pose: Pose, slices: list[Slice], cloud: Volume) -> Figure:
    """Put three slices, their displacements counting from a pose, and the volume on one page."""
    figure = Figure(figsize=(12.0, 10.0), layout='constrained')
    x, y, z = pose.position * 1e3
    figure.suptitle(
        f'{title}: workspace at rest, displacements from ({x:.0f}, {y:.0f}, {z:.0f}) mm\n'
        f'volume with this attitude {cloud.volume:.4g} m³'
    )
    for place, part in enumerate(slices, start=1):
        draw_slice(figure.add_subplot(2, 2, place), part)
    draw_volume(figure.add_subplot(2, 2, 4, projection='3d'), cloud)
    return figure


def _in_display_units(part: Slice, k: int) -> tuple[Any, str]:
    """Return the displacements along an axis in mm or degrees, and the unit."""
    values = (part.first, part.second)[k]
    return (values * 1e3, 'mm') if part.axes[k] in 'xyz' else (np.degrees(values), '°')


def design_figure(platform: Platform, progress: Progress) -> Figure:
    """Draw a platform, where it reaches, and how well conditioned it is there.

    It may rest at its neutral pose; `progress` is told the part of the volume that is done.
    """
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    cloud = volume(guard, pose, VOLUME_CELLS, progress)
    figure = Figure(figsize=(12.0, 10.0), layout='constrained')
    figure.suptitle(f'{platform.title}: neutral pose, and displacements from it at rest')
    draw_geometry(figure.add_subplot(2, 2, 1, projection='3d'), platform)
    side: Any = figure.add_subplot(2, 2, 2)
    draw_slice(side, plane(guard, pose, ('x', 'z'), PLANE_SAMPLES))
    # Its legend stands above it.
    side.set_xlabel(
        f'{side.get_xlabel()}, other coordinates neutral, y = {1e3 * pose.position[1]:.3g} mm'
    )
    space: Any = figure.add_subplot(2, 2, 3, projection='3d')
    draw_volume(space, cloud)
    space.set_title(f'where the origin of the platform reaches: {cloud.volume:.3g} m³')
    draw_condition(figure.add_subplot(2, 2, 4), platform, cloud)
    return figure


def draw_geometry(axes: Any, platform: Platform) -> None:
    """Draw joints and legs at the neutral pose, of rods also what moves them."""
    geometry, pose = platform.geometry, platform.geometry.neutral_pose
    base, moving = (1e3 * ends for ends in geometry.leg_ends(pose))
    if geometry.rods is not None:
        for start, end in zip(1e3 * geometry.rods.origins, base, strict=True):
            axes.plot(*np.stack([start, end]).T, color='tab:green', linewidth=3)
    for ring, colour in ((base, 'tab:gray'), (moving, 'tab:orange')):
        around = ring[np.argsort(np.arctan2(ring[:, 1], ring[:, 0]))]
        axes.plot(*np.vstack([around, around[:1]]).T, color=colour)
    for leg, (start, end) in enumerate(zip(base, moving, strict=True), start=1):
        axes.plot(*np.stack([start, end]).T, color='tab:blue', linewidth=3)
        axes.text(*(0.5 * (start + end)), f'{leg}')
    axes.set(title='legs 1 to 6 at the neutral pose', **PLACES, zlabel='z [mm]', aspect='equal')


def draw_condition(axes: Axes, platform: Platform, cloud: Volume) -> None:
    """Map the condition number over x and y at the neutral height, as far as the cloud."""
    geometry, pose = platform.geometry, platform.geometry.neutral_pose
    span = np.abs(cloud.positions[:, :2] - pose.position[:2]).max()
    grid = np.linspace(-span, span, PLANE_SAMPLES)
    x, y = np.meshgrid(grid, grid, indexing='ij')
    shift = np.zeros((PLANE_SAMPLES, PLANE_SAMPLES, 6))
    shift[..., 0], shift[..., 1] = x, y
    poses = displaced(pose, shift)
    number = condition_number(geometry, poses.position, poses.quaternion_xyzw)
    levels = axes.contourf(1e3 * x, 1e3 * y, number, levels=20, cmap='magma_r')
    inside = MotionGuard(platform).allowed(poses)
    axes.contour(1e3 * x, 1e3 * y, inside.astype(float), levels=[0.5], colors='tab:cyan')
    axes.figure.colorbar(levels, ax=axes, label='condition number [-]')
    scale = f'(moments / {geometry.length_scale:.3g} m)'
    axes.set(title=f'condition number {scale}; reachable inside the line', **PLACES)
    axes.set_aspect('equal')


def plot_lines(
    axes: Axes, time: Array, values: Array, labels: Sequence[str], quantity: str
) -> list[Any]:
    """Draw one line per column of `values` (n, m) over time (n,) [s], and return them.

    `quantity` is the label of the vertical axis, with its unit.
    """
    lines = list(axes.plot(time, values, linewidth=1.2))
    for number, (line, label) in enumerate(zip(lines, labels, strict=True)):
        line.set_label(label)
        # Legs often move in pairs: dashes show the line underneath.
        line.set_linestyle('--' if len(lines) > 3 and number % 2 else '-')
    axes.set(xlabel='time [s]', ylabel=quantity)
    axes.grid(alpha=0.3)
    axes.legend(fontsize='small', ncols=min(3, len(lines)), loc='best')
    return lines


def plot_motion(figure: Figure, time: Array, motion: Motion, stroke: Array, kind: LegKind) -> None:
    """Draw pose, twist and acceleration of n samples, and positions (n, 6) of legs of a kind."""
    rpy = np.degrees(rpy_from_quaternion(motion.quaternion_xyzw))
    panels: list[tuple[Array, Sequence[str], str]] = [
        (motion.position, 'xyz', 'position [m]'),
        (rpy, ('roll', 'pitch', 'yaw'), 'attitude [deg]'),
        (motion.linear_velocity, 'xyz', 'velocity [m/s]'),
        (motion.angular_velocity, 'xyz', 'angular velocity [rad/s]'),
        (motion.linear_acceleration, 'xyz', 'acceleration [m/s²]'),
        (motion.angular_acceleration, 'xyz', 'angular acceleration [rad/s²]'),
    ]
    grid = figure.add_gridspec(4, 2)
    for number, panel in enumerate(panels):
        plot_lines(figure.add_subplot(grid[number // 2, number % 2]), time, *panel)
    quantity = f'{kind.quantity} [{kind.unit}]'
    plot_lines(figure.add_subplot(grid[3, :]), time, stroke, LEGS, quantity)
