# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Photograph the web viewer: its page, viewer.png, a sea, wave.webp, its buttons, controls.png.

Needs the Debian packages chromium and chromium-driver, which draw without a screen. The animation
repeats without a seam: the periods of the sea's components are rounded to fractions of its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
import io
from pathlib import Path
import shutil
import sys
import time
from typing import Any
from unittest.mock import Mock

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.limits.fitting import fit_wave
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories import AiryWave, Jonswap, OrbitalWave
from stewart_viewer.leg_plots import LegPlots
from stewart_viewer.live import LiveView, Mailbox
from stewart_viewer.scene import PlatformScene
from stewart_viewer.server import open_server
from stewart_viewer.snapshot import DriveReport, Part, Snapshot
from stewart_viewer.status import Status

sys.path.insert(0, str(Path(__file__).parents[2] / 'src' / 'stewart_viewer' / 'test'))
from chromium import DISMISS, screenshot

HERE = Path(__file__).parent
PLATFORM, SEED = 'vigo', 1
LENGTH, FRAMES = 8.0, 96
"""Of the animation [s], and its pictures."""

FRACTION = 0.9
"""Of the workspace that the sea uses."""

LATE = 0.01
"""What is measured is behind the command by one cycle [s]."""

SETTLED = 0.5
"""Time that the software renderer is given for one picture [s]."""

WIDTH, QUALITY = 400, 75
COLOURED, MARGIN = 60, 0.08
"""Difference of two channels that makes a pixel part of the platform, for floor and grid are
grey; free space around the platform, of its height."""

AXES, SHADOW = 80, 40
"""Width of the axes in the corner, and of the panel's shadow [pixel]."""

FLAGS = (
    '--headless',
    '--no-sandbox',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--disable-background-networking',
    '--window-size=1280,930',
)
TALL = 1250
"""Height at which all controls fit into the window [pixel]."""

PANEL = 'return document.getElementById("drives").getBoundingClientRect().left'


def main() -> None:
    """Write the pictures beside this file."""
    platform = Platform.from_yaml(PLATFORM)
    wave = sea(platform)
    # The last instant is the first one again, and has the page to itself.
    instants = np.linspace(0.0, LENGTH, FRAMES + 1)
    shown, ahead = wave.sample(instants), wave.sample(instants + LATE)
    MotionGuard(platform).check(shown)
    server = open_server('127.0.0.1', 0)
    try:
        parts: list[Part] = [
            Status(server, platform, 'JONSWAP sea'),
            LegPlots(server, platform),
            PlatformScene(server, platform, PLATFORM),
        ]
        with browser(f'http://127.0.0.1:{server.get_port()}') as page:
            *cycle, again = snapshots(platform, instants, shown)
            pictures = [photograph(page, parts, snapshot) for snapshot in cycle]
            edge = int(page.execute_script(PANEL)) - SHADOW
            whole = photograph(page, parts, replace(again, commanded=pose_of(ahead, FRAMES)))
    finally:
        server.stop()
    whole.quantize(192).save(HERE / 'viewer.png', optimize=True)
    animate([picture.crop((0, 0, edge, picture.height)) for picture in pictures])
    photograph_controls(platform)
    print(HERE / 'viewer.png', HERE / 'wave.webp', HERE / 'controls.png')


def photograph_controls(platform: Platform) -> None:
    """Photograph the page of a rig that waits for a target; there is nobody to press a button."""
    # The picture is taken a while after the last pose.
    mailbox = Mailbox(stale=np.inf)
    operator = Mock(sources=('ocean', 'excitation'))
    recorder = Mock(running=False, ended=Mock(return_value=''))
    view = LiveView(
        PLATFORM, mailbox, operator, host='127.0.0.1', port=0, rate=10.0, recorder=recorder
    )
    try:
        with browser(view.url) as page:
            page.set_window_size(1280, TALL)
            times = np.linspace(0.0, 4.0, 9)
            rest = Motion.at_rest(platform.geometry.neutral_pose, times.shape)
            for told in snapshots(platform, times, rest):
                mailbox.put(
                    told.time,
                    pose=told.pose,
                    strokes=told.strokes,
                    forces=told.forces,
                    drives=told.drives,
                )
                time.sleep(SETTLED)
            picture = picture_of(page, 10.0 * SETTLED)
    finally:
        view.close()
    picture.quantize(192).save(HERE / 'controls.png', optimize=True)


def sea(platform: Platform) -> OrbitalWave:
    """Return a seeded sea at Froude's scale that is the same again after `LENGTH`."""
    full = OrbitalWave(
        Jonswap(0.8, 6.0).components(30, SEED), platform.geometry.neutral_pose, np.radians(35.0)
    )
    fitted, _ = fit_wave(full, MotionGuard(platform), FRACTION, 'froude', duration=15.0)
    return replace(fitted, components=tuple(map(repeated, fitted.components)))


def repeated(wave: AiryWave) -> AiryWave:
    """Return the deep-water wave of the nearest period that fits a whole number of times."""
    times = max(round(LENGTH / wave.period), 1)
    return AiryWave.deep_water(wave.amplitude, LENGTH / times, wave.phase)


def snapshots(platform: Platform, instants: np.ndarray, motion: Motion) -> Iterator[Snapshot]:
    """Yield what the viewer is told."""
    strokes = inverse(platform.geometry, motion).stroke
    forces = actuator_forces(InertialModel.from_platform(platform), motion)
    drives = DriveReport('ENABLED', 'simulated', True, 'all drives are on')
    for index, instant in enumerate(instants):
        yield Snapshot(
            float(instant),
            pose=pose_of(motion, index),
            strokes=strokes[index],
            forces=forces[index],
            drives=drives,
        )


def pose_of(motion: Motion, index: int) -> Pose:
    """Return one pose of many."""
    return Pose(motion.position[index], motion.quaternion_xyzw[index])


@contextmanager
def browser(url: str) -> Iterator[Any]:
    """Open a page and wait until it is drawn."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which('chromium'))
    for flag in FLAGS:
        options.add_argument(flag)
    page = webdriver.Chrome(options=options, service=Service(shutil.which('chromedriver')))
    try:
        page.get(url)
        time.sleep(8.0)
        page.execute_script(DISMISS)
        yield page
    finally:
        page.quit()


def photograph(page: Any, parts: Sequence[Part], snapshot: Snapshot) -> Image.Image:
    """Show an instant and return the page."""
    for part in parts:
        part.show(snapshot)
    return picture_of(page, SETTLED)


def picture_of(page: Any, settled: float) -> Image.Image:
    """Return the page after a time [s]."""
    time.sleep(settled)
    return Image.open(io.BytesIO(screenshot(page))).convert('RGB')


def animate(pictures: Sequence[Image.Image]) -> None:
    """Cut out the platform, with some space around it, and join the pictures."""
    coloured = np.any(
        [np.ptp(np.asarray(picture), axis=-1) > COLOURED for picture in pictures], axis=0
    )
    coloured[:, :AXES] = False
    rows, columns = (np.flatnonzero(coloured.any(axis=axis)) for axis in (1, 0))
    margin = round(MARGIN * (rows[-1] - rows[0]))
    box = (
        max(columns[0] - margin, 0),
        max(rows[0] - margin, 0),
        min(columns[-1] + margin, pictures[0].width),
        min(rows[-1] + margin, pictures[0].height),
    )
    frames = []
    for picture in pictures:
        cut = picture.crop(box)
        size = (WIDTH, round(WIDTH * cut.height / cut.width))
        frames.append(cut.resize(size, Image.Resampling.LANCZOS))
    frames[0].save(
        HERE / 'wave.webp',
        save_all=True,
        append_images=frames[1:],
        duration=round(1000.0 * LENGTH / FRAMES),
        loop=0,
        quality=QUALITY,
        method=6,
    )


if __name__ == '__main__':
    main()
