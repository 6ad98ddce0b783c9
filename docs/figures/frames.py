# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Draw frames.svg of the conventions page: frames, legs and joint numbers of the Vigo platform."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
import matplotlib.pyplot as plt
import numpy as np
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose

BASE, PLATFORM, LEG = '#3b5b7a', '#c8702a', '#8a8f98'
AXES = {'x': '#c0392b', 'y': '#27804a', 'z': '#2b5fc0'}


def closed(points: np.ndarray) -> np.ndarray:
    """Return the points counter-clockwise with the first one repeated."""
    order = np.argsort(np.arctan2(points[:, 1], points[:, 0]))
    return points[np.append(order, order[0])]


def draw_frame(ax: plt.Axes, pose: Pose, name: str, length: float) -> None:
    """Draw the three axes of a frame and its name."""
    for k, (letter, colour) in enumerate(AXES.items()):
        tip = pose.position + length * pose.rotation[:, k]
        ax.plot(*np.stack([pose.position, tip], axis=1), color=colour, lw=2)
        ax.text(*(pose.position + 1.18 * length * pose.rotation[:, k]), letter, color=colour)
    ax.text(*(pose.position + np.array([0.0, 0.05, -0.13])), name, family='monospace', fontsize=8)


def draw_space(ax: plt.Axes, geometry: Geometry, pose: Pose) -> None:
    """Draw base, legs and platform in space."""
    upper = pose.position + geometry.platform_joints @ pose.rotation.T
    ax.plot(*closed(geometry.base_joints).T, color=BASE)
    ax.plot(*upper[np.append(*_order(upper, pose))].T, color=PLATFORM)
    for i in range(6):
        lower = geometry.base_joints[i]
        ax.plot(*np.stack([lower, upper[i]], axis=1), color=LEG, lw=3, solid_capstyle='round')
        ax.text(*(0.5 * (lower + upper[i])), str(i + 1), ha='center', weight='bold')
    draw_frame(ax, Pose.identity(), 'base_link', 0.25)
    draw_frame(ax, pose, 'platform_link', 0.25)
    ax.set_box_aspect(np.ptp(np.vstack([geometry.base_joints, upper, [[0, 0, 0]]]), axis=0))
    ax.view_init(elev=18, azim=-62)
    ax.set_axis_off()


def _order(points: np.ndarray, pose: Pose) -> tuple[np.ndarray, int]:
    local = (points - pose.position) @ pose.rotation
    order = np.argsort(np.arctan2(local[:, 1], local[:, 0]))
    return order, int(order[0])


def draw_plan(ax: plt.Axes, geometry: Geometry) -> None:
    """Draw the joints seen from above, base and platform frames on top of each other."""
    for name, joints, colour in (
        ('B', geometry.base_joints, BASE),
        ('P', geometry.platform_joints, PLATFORM),
    ):
        ring = closed(joints)
        ax.plot(ring[:, 0], ring[:, 1], color=colour, lw=1)
        ax.plot(joints[:, 0], joints[:, 1], 'o', color=colour)
        for i, joint in enumerate(joints):
            # inside the base ring, outside the platform's: the two rings nearly touch
            factor = 1.13 if name == 'B' else 0.84
            ax.text(
                *(factor * joint[:2]), f'{name}{i + 1}', color=colour, ha='center', va='center'
            )
    for k, letter in enumerate('xy'):
        tip = 0.2 * np.eye(2)[k]
        ax.annotate(
            '', tip, (0, 0), arrowprops={'arrowstyle': '->', 'color': AXES[letter], 'lw': 2}
        )
        ax.text(*(1.2 * tip), letter, color=AXES[letter], ha='center', va='center')
    ax.set_aspect('equal')
    ax.set_xlabel('x [m]')
    ax.set_ylabel('y [m]')
    ax.set_title('joints from above, each in its own frame', fontsize=9)
    ax.margins(0.12)


def main() -> None:
    """Write frames.svg beside this file."""
    mpl.rcParams['svg.hashsalt'] = 'stewart'
    geometry = Platform.from_yaml('vigo').geometry
    shifted = geometry.neutral_pose.position + np.array([0.05, 0.0, 0.05])
    pose = Pose.from_rpy(shifted, (0.12, -0.1, 0.2))
    figure = plt.figure(figsize=(9.5, 4.6), layout='constrained')
    draw_space(figure.add_subplot(1, 2, 1, projection='3d'), geometry, pose)
    draw_plan(figure.add_subplot(1, 2, 2), geometry)
    target = Path(__file__).with_name('frames.svg')
    figure.savefig(target, metadata={'Date': None})
    print(target)


if __name__ == '__main__':
    main()
