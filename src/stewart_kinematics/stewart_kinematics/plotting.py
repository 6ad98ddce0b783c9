# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of what the platform can do. Nothing of the core imports this module."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.workspace import Slice, Volume

REACHABLE = '#2b6cb0'
COLOURS = ('#c53030', '#dd6b20', '#d69e2e', '#38a169', '#319795', '#805ad5', '#b83280', '#718096')
"""What stops the platform, by the order in which it is met in the picture."""


def draw_slice(axes: Axes, part: Slice) -> list[Any]:
    """Draw where a slice is reachable, and what stops the platform elsewhere.

    Args:
        axes: Where to draw.
        part: The slice.

    Returns:
        The coloured regions and the outline of what is reachable.
    """
    (first, unit), (second, other) = (_in_display_units(part, k) for k in (0, 1))
    reachable = part.margin >= 0.0
    met = np.unique(part.limiting[~reachable])
    codes = np.searchsorted(met, part.limiting)
    codes = np.where(reachable, len(met), codes)
    palette = [COLOURS[k % len(COLOURS)] for k in range(len(met))] + [REACHABLE]
    regions = axes.pcolormesh(
        first,
        second,
        codes.T,
        cmap=ListedColormap(palette),
        vmin=-0.5,
        vmax=len(met) + 0.5,
        alpha=0.75,
        shading='nearest',
    )
    outline = axes.contour(first, second, part.margin.T, levels=[0.0], colors='black')
    axes.set_xlabel(f'{part.axes[0]} [{unit}]')
    axes.set_ylabel(f'{part.axes[1]} [{other}]')
    names = [part.quantities[k] for k in met] + ['reachable']
    patches = [axes.scatter([], [], color=colour, marker='s') for colour in palette]
    axes.legend(
        patches, names, fontsize='small', ncols=3, loc='lower center', bbox_to_anchor=(0.5, 1.0)
    )
    if unit == other:
        axes.set_aspect('equal')
    return [regions, outline]


def draw_volume(axes: Any, cloud: Volume) -> Any:
    """Draw the boundary of a volume as a cloud of points.

    Args:
        axes: Where to draw.
        cloud: The volume.

    Returns:
        The cloud, coloured by height.
    """
    shell = cloud.positions[cloud.boundary] * 1e3
    points = axes.scatter(*shell.T, c=shell[:, 2], s=4.0, cmap='viridis')
    axes.set_xlabel('x [mm]')
    axes.set_ylabel('y [mm]')
    axes.set_zlabel('z [mm]')
    axes.set_aspect('equal')
    return points


def workspace_figure(title: str, pose: Pose, slices: list[Slice], cloud: Volume) -> Figure:
    """Put slices and volume on one page.

    Args:
        title: Name of the platform.
        pose: From which the displacements of the slices count.
        slices: Three of them.
        cloud: The volume.

    Returns:
        Four pictures, to be saved.
    """
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
