# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Draw wave.png of the README: the Vigo platform on a JONSWAP sea, and its six strokes."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
import matplotlib.pyplot as plt
import numpy as np
from stewart_kinematics.inverse import inverse
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.platform import Platform
from stewart_kinematics.trajectories import Jonswap, OrbitalWave
from stewart_kinematics.trajectories.scaling import fit_plain

BASE, PLATFORM, LEG, WATER = '#3b5b7a', '#c8702a', '#8a8f98', '#4a90b8'
DURATION, RATE, SEED = 15.0, 100.0, 1


def main() -> None:
    """Write wave.png beside this file."""
    platform = Platform.from_yaml('vigo')
    components = Jonswap(1.5, 6.0).components(30, SEED)
    sea = OrbitalWave(components, platform.geometry.neutral_pose, np.radians(35.0))
    fitted = fit_plain(sea, MotionGuard(platform), 0.6, duration=DURATION)
    time = np.arange(0.0, DURATION, 1.0 / RATE)
    motion = fitted.wave.sample(time)
    tilt = np.abs(motion.quaternion_xyzw[:, :2]).max(axis=1)
    figure = plt.figure(figsize=(10.0, 4.4), layout='constrained')
    draw_platform(
        figure.add_subplot(1, 2, 1, projection='3d'), platform, motion[int(tilt.argmax())]
    )
    draw_strokes(figure.add_subplot(1, 2, 2), platform, time, motion)
    target = Path(__file__).with_name('wave.png')
    figure.savefig(target, dpi=110, metadata={'Software': None})
    print(target)


def draw_platform(ax: plt.Axes, platform: Platform, motion: Motion) -> None:
    """Draw the platform at one instant, the sea's surface through its plate."""
    geometry, pose = platform.geometry, Pose(motion.position, motion.quaternion_xyzw)
    upper = pose.position + geometry.platform_joints @ pose.rotation.T
    for points, colour in ((geometry.base_joints, BASE), (upper, PLATFORM)):
        order = np.argsort(np.arctan2(*(points - points.mean(axis=0)).T[1::-1]))
        ring = points[np.append(order, order[0])]
        ax.plot(*ring.T, color=colour, lw=3)
    for lower, tip in zip(geometry.base_joints, upper, strict=True):
        ax.plot(*np.stack([lower, tip], axis=1), color=LEG, lw=4, solid_capstyle='round')
    grid = np.linspace(-0.9, 0.9, 9)
    x, y = np.meshgrid(grid, grid)
    normal = pose.rotation[:, 2]
    slope = normal[:2] / normal[2]
    z = pose.position[2] - (x - pose.position[0]) * slope[0] - (y - pose.position[1]) * slope[1]
    ax.plot_wireframe(x, y, z, color=WATER, lw=0.6, alpha=0.7)
    ax.set_box_aspect((1.8, 1.8, 1.9), zoom=1.35)
    ax.view_init(elev=14, azim=-58)
    ax.set_axis_off()


def draw_strokes(ax: plt.Axes, platform: Platform, time: np.ndarray, motion: Motion) -> None:
    """Draw the six strokes inside their limits."""
    strokes = inverse(platform.geometry, motion).stroke
    for leg in range(6):
        ax.plot(time, strokes[:, leg], lw=1.2, label=f'leg {leg + 1}')
    lower, upper = platform.limits.stroke[0]
    for limit in (lower, upper):
        ax.axhline(limit, color='k', lw=1, ls=':')
    ax.set_xlim(0.0, DURATION)
    ax.set_xlabel('time [s]')
    ax.set_ylabel('stroke [m]')
    ax.set_title(f'JONSWAP sea, seed {SEED}, 60 % of the workspace', fontsize=10)
    ax.legend(ncols=3, fontsize=8)


if __name__ == '__main__':
    main()
