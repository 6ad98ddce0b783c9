# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A platform that stands turned by half a turn may do what it does unturned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_description import platform_path
from stewart_kinematics.errors import ConfigurationError, MotionRefused
from stewart_kinematics.limits.design import half_out
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_move
from stewart_kinematics.limits.workspace import reach
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.ring_dimensions import assumed_limits
from stewart_kinematics.motion import Motion, Pose
import yaml

PLAIN = Platform.from_yaml('vigo')


def turned(folder: Path, yaw: float, limits: list[float], **more: list[float]) -> Platform:
    """Return Vigo in another base frame, from where its neutral yaw is that [deg]."""
    content: dict[str, Any] = yaml.safe_load(platform_path('vigo').read_text())
    content['base_joints']['ring']['offset_deg'] = yaw
    for key in ('zero_pose', 'neutral_pose'):
        content[key]['rpy_deg'] = [0.0, 0.0, yaw]
    content['limits'] |= {'yaw_deg': limits, **more}
    file = folder / 'turned.yaml'
    file.write_text(yaml.safe_dump(content))
    return Platform.from_yaml(file)


def yawed(platform: Platform, angles_deg: list[float]) -> Motion:
    """Return rests at the neutral position with these yaws."""
    rest = Motion.at_rest(platform.geometry.neutral_pose, (len(angles_deg),))
    turns = Rotation.from_rotvec(np.outer(np.radians(angles_deg), [0.0, 0.0, 1.0]))
    return rest.replaced(quaternion_xyzw=turns.as_quat())


@pytest.mark.parametrize(
    ('yaw', 'ends'), [(180.0, [170.0, 190.0]), (-180.0, [-190.0, -170.0]), (172.0, [162.0, 182.0])]
)
def test_both_halves_of_the_yaw_are_allowed(tmp_path: Path, yaw: float, ends: list[float]) -> None:
    guard = MotionGuard(turned(tmp_path, yaw, ends))
    inside = [ends[0] + 0.1, yaw, 0.5 * sum(ends), ends[1] - 0.1]
    outside = [ends[0] - 0.1, ends[1] + 0.1, 0.0]
    assert guard.allowed(yawed(guard.platform, inside)).all()
    assert not guard.allowed(yawed(guard.platform, outside)).any()
    with pytest.raises(MotionRefused, match=f'yaw is {ends[1] + 0.1:g} deg'):
        guard.check(yawed(guard.platform, [ends[1] + 0.1])[0])


def test_it_has_the_reach_and_the_margins_of_the_one_that_is_not_turned(tmp_path: Path) -> None:
    platform = turned(tmp_path, 180.0, [170.0, 190.0])
    limits = dict(zip(('lower', 'upper'), np.radians([-10.0, 10.0]), strict=True))
    plain = MotionGuard(turned(tmp_path, 0.0, [-10.0, 10.0]))
    guard = MotionGuard(platform)
    yaw = reach(guard, platform.geometry.neutral_pose)[5]
    expected = reach(plain, plain.platform.geometry.neutral_pose)[5]
    for key, value in limits.items():
        assert getattr(yaw, key) == pytest.approx(value, abs=1e-6)
        assert getattr(expected, key) == pytest.approx(value, abs=1e-6)
    found = guard.margins(yawed(platform, [175.0, 180.0, -175.0]))
    for key, values in plain.margins(yawed(plain.platform, [-5.0, 0.0, 5.0])).items():
        np.testing.assert_allclose(found[key], values, atol=1e-6, err_msg=key)


def test_a_move_goes_through_half_a_turn(tmp_path: Path) -> None:
    platform = turned(tmp_path, 180.0, [170.0, 190.0])
    position = platform.geometry.neutral_pose.position
    begin, end = (Pose.from_rpy(position, [0.0, 0.0, np.radians(a)]) for a in (175.0, -175.0))
    move = plan_move(begin, end, MotionGuard(platform))
    turns = Rotation.from_quat(move.sample(np.linspace(0.0, move.duration, 9)).quaternion_xyzw)
    away = (turns * Rotation.from_rotvec([0.0, 0.0, -np.pi])).as_rotvec(degrees=True)[:, 2]
    assert away[0] == pytest.approx(-5.0)
    assert away[-1] == pytest.approx(5.0)
    assert np.all(np.diff(away) > 0.0)


@pytest.mark.parametrize('ends', [[-370.0, 0.0], [0.0, 361.0], [-200.0, 170.0]])
def test_more_than_a_turn_is_no_interval(tmp_path: Path, ends: list[float]) -> None:
    with pytest.raises(ConfigurationError, match='within ±360, at most 360 apart') as caught:
        turned(tmp_path, 0.0, ends)
    assert caught.value.key == 'limits.yaw_deg'


def test_a_whole_turn_may_be_allowed(tmp_path: Path) -> None:
    for yaw, ends in ((0.0, [-180.0, 180.0]), (180.0, [0.0, 360.0]), (180.0, [-90.0, 270.0])):
        guard = MotionGuard(turned(tmp_path, yaw, ends))
        assert guard.allowed(yawed(guard.platform, [yaw - 5.0, yaw, yaw + 5.0])).all()


def test_assumed_angles_of_a_platform_that_hangs_reach_to_both_sides() -> None:
    neutral = Pose.from_rpy([0.0, 0.0, 1.0], (np.pi, 0.0, -3.0))
    limits = assumed_limits(0.2, 2.0, 1.0, 10.0, neutral)
    assert limits['roll_deg'] in ([150.0, 210.0], [-210.0, -150.0])
    assert limits['yaw_deg'] == pytest.approx([-211.9, -131.9])
    about = PLAIN.limits.nearest_turn(np.array([3.5, 0.1, -0.2]))
    assert about == pytest.approx([3.5 - 2.0 * np.pi, 0.1, -0.2])


@pytest.mark.parametrize('floor', [0.0, 3.0])
def test_a_hanging_platform_is_half_way_out_where_it_hangs(tmp_path: Path, floor: float) -> None:
    """Vigo turned about x, so far above the origin; a study had judged its mirror image."""
    content: dict[str, Any] = yaml.safe_load(platform_path('vigo').read_text())
    hung = PLAIN.geometry.base_joints * [1.0, -1.0, -1.0] + [0.0, 0.0, floor]
    content['base_joints'] = {'points_m': hung.tolist()}
    for key in ('zero_pose', 'neutral_pose'):
        height = content[key]['position_m'][2]
        content[key] = {'position_m': [0.0, 0.0, floor - height], 'rpy_deg': [180.0, 0.0, 0.0]}
    content['limits']['roll_deg'] = [155.0, 205.0]
    file = tmp_path / 'hanging.yaml'
    file.write_text(yaml.safe_dump(content))

    assert half_out(Platform.from_yaml(file)) == pytest.approx(floor - half_out(PLAIN), abs=1e-9)
