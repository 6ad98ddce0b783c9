# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Trail and section are what they say."""

from __future__ import annotations

from contextlib import nullcontext
import io
from types import SimpleNamespace
from typing import Any

from matplotlib.image import imread
import numpy as np
import pytest
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.workspace import section
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
from stewart_viewer.force_scale import size_of
from stewart_viewer.looks import LIFT, Looks, png
from stewart_viewer.snapshot import Snapshot
import viser


def above(platform: Platform, way: float) -> Pose:
    neutral = platform.geometry.neutral_pose
    return Pose(neutral.position + np.array([0.0, 0.0, way]), neutral.quaternion_xyzw)


@pytest.mark.parametrize('name', ['vigo', 'ex800', 'sg90_rotary'])
def test_the_section_is_the_border_of_what_is_allowed(name: str) -> None:
    platform = Platform.from_yaml(name)
    guard, centre = MotionGuard(platform), platform.geometry.neutral_pose
    border = section(guard, centre)
    assert border is not None
    np.testing.assert_array_equal(border[0], border[-1])
    away = border[:-1] - centre.position
    np.testing.assert_array_equal(away[:, 2], 0.0)
    far = np.linalg.norm(away, axis=1).max()
    for way in away:
        step = way / np.linalg.norm(way) * 0.01 * far
        inside, outside = (
            Pose(centre.position + end, centre.quaternion_xyzw) for end in (way - step, way + step)
        )
        assert guard.allowed(Motion.at_rest(inside))
        assert not guard.allowed(Motion.at_rest(outside))
    assert section(guard, above(platform, 5.0)) is None


def test_a_leg_margin_is_the_least_of_its_own(ex800: Platform) -> None:
    guard = MotionGuard(ex800)
    high = Pose.from_rpy(above(ex800, 0.03).position, (0.05, -0.03, 0.1))
    found, margins = guard.leg_margins(Motion.at_rest(high)), guard.margins(Motion.at_rest(high))
    own = ('stroke', 'base joint angle', 'platform joint angle')
    assert found.shape == (6,)
    assert found.min() == pytest.approx(min(float(margins[name]) for name in own))


def test_trail_and_section_come_and_go(server: viser.ViserServer, ex800: Platform) -> None:
    looks = Looks(server, ex800)
    looks.show(Snapshot(0.0, pose=above(ex800, 0.0)))
    assert not looks._lines

    looks._trail.value = looks._section.value = True
    for step in range(1, 300):
        looks.show(Snapshot(0.05 * step, pose=above(ex800, 1e-4 * step)))
    trail = looks._lines['trail'].points
    assert len(trail) == pytest.approx(200, abs=2)
    lifted = above(ex800, 0.0299 + LIFT * size_of(ex800))
    np.testing.assert_allclose(trail[-1, 1], lifted.position, atol=1e-6)
    assert looks._lines['section'].visible
    # Beyond the limits there is no section; what was recorded earlier begins a trail anew.
    looks.show(Snapshot(16.5, pose=above(ex800, 5.0)))
    assert not looks._lines['section'].visible
    looks.show(Snapshot(1.0, pose=above(ex800, 0.0)))
    assert not looks._lines['trail'].visible


def test_a_photograph_is_a_png_of_the_pixels() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (7, 11, 3), dtype=np.uint8)
    np.testing.assert_array_equal(
        np.rint(255.0 * imread(io.BytesIO(png(pixels)), format='png')).astype(np.uint8), pixels
    )


class Tab:
    """A page in a browser, which draws or, frozen, does not; it takes down what it is sent."""

    def __init__(self, pixels: Any) -> None:
        self.pixels, self.sent = pixels, []

    def get_render(self, height: int, width: int, transport_format: str, timeout: float) -> Any:
        if self.pixels is None:
            raise TimeoutError(f'no picture within {timeout:g} s')
        return self.pixels

    def send_file_download(self, name: str, content: bytes, *, save_immediately: bool) -> None:
        self.sent.append((name, content))

    def add_notification(self, title: str, body: str, color: str) -> None:
        self.sent.append((title, body))


def test_a_photograph_has_a_white_background(server: viser.ViserServer, ex800: Platform) -> None:
    clear, red, half = (9, 9, 9, 0), (200, 0, 0, 255), (0, 100, 0, 51)
    tab = Tab(np.array([[clear, red, half]], dtype=np.uint8))
    looks = Looks(server, ex800)
    looks._photograph(tab)
    white = np.array([[(255, 255, 255), (200, 0, 0), (204, 224, 204)]], dtype=np.uint8)
    assert tab.sent == [('platform.png', png(white))]
    frozen = Tab(None)
    looks._photograph(frozen)
    assert frozen.sent == [('No photograph', 'no picture within 10 s')]


def test_a_camera_looks_at_the_platform(server: viser.ViserServer, ex800: Platform) -> None:
    camera = SimpleNamespace(position=None, look_at=None)
    client = SimpleNamespace(camera=camera, atomic=nullcontext)
    looks = Looks(server, ex800)
    looks._look(client, 'Top')
    assert camera.position[2] > 10.0 * abs(camera.position[0])
    looks._look(client, 'Side')
    assert camera.position[1] < 0.0 == camera.position[0]
    assert 0.0 < camera.look_at[2] < 2.0 * ex800.geometry.neutral_pose.position[2]
