# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of motions: what moves, how fast, and what the legs do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.spatial import euler_from_quaternion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGS = tuple(f'leg {number}' for number in range(1, 7))


def plot_lines(
    axes: Axes, time: Array, values: Array, labels: Sequence[str], quantity: str
) -> list[Any]:
    """Draw one line per column over time.

    Args:
        axes: Where to draw.
        time (n,): [s].
        values (n, m): What is drawn.
        labels: Names of the columns.
        quantity: Label of the vertical axis, with its unit.

    Returns:
        The m lines.
    """
    lines = list(axes.plot(time, values, linewidth=1.2))
    for number, (line, label) in enumerate(zip(lines, labels, strict=True)):
        line.set_label(label)
        # Legs often move in pairs: dashes show the line underneath.
        line.set_linestyle('--' if len(lines) > 3 and number % 2 else '-')
    axes.set_xlabel('time [s]')
    axes.set_ylabel(quantity)
    axes.grid(alpha=0.3)
    axes.legend(fontsize='small', ncols=min(3, len(lines)), loc='best')
    return lines


def plot_motion(figure: Figure, time: Array, motion: Motion, stroke: Array | None = None) -> None:
    """Draw a motion: pose, twist and acceleration, and the strokes if there are any.

    Args:
        figure: Empty figure.
        time (n,): [s].
        motion: n samples.
        stroke (n, 6): Strokes of the legs [m].
    """
    rpy = np.degrees(euler_from_quaternion('ZYX', motion.quaternion_xyzw)[:, ::-1])
    panels: list[tuple[Array, Sequence[str], str]] = [
        (motion.position, 'xyz', 'position [m]'),
        (rpy, ('roll', 'pitch', 'yaw'), 'attitude [deg]'),
        (motion.linear_velocity, 'xyz', 'velocity [m/s]'),
        (motion.angular_velocity, 'xyz', 'angular velocity [rad/s]'),
        (motion.linear_acceleration, 'xyz', 'acceleration [m/s²]'),
        (motion.angular_acceleration, 'xyz', 'angular acceleration [rad/s²]'),
    ]
    rows = 3 if stroke is None else 4
    grid = figure.add_gridspec(rows, 2)
    for number, (values, labels, quantity) in enumerate(panels):
        plot_lines(
            figure.add_subplot(grid[number // 2, number % 2]), time, values, labels, quantity
        )
    if stroke is not None:
        plot_lines(figure.add_subplot(grid[3, :]), time, stroke, LEGS, 'stroke [m]')
