# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Waypoints from a file to a motion that keeps every limit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stewart_kinematics.errors import ConfigurationError, MotionRefused, TrajectoryError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_stop
from stewart_kinematics.limits.waypoints import (
    append_waypoint,
    named_poses,
    plan_route,
    Waypoint,
    WaypointList,
)
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose

PLATFORMS = ('vigo', 'ex800', 'srs', 'sg90_rotary')
VIGO = Platform.from_yaml('vigo')
NEUTRAL = VIGO.geometry.neutral_pose
FILE = """# by hand
relative_to: neutral
speed: 0.4
dwell_s: 0.5
repeat: 3
poses:
  high: {position_m: [0.0, 0.0, 0.1], rpy_deg: [0, 0, 0]}
waypoints:
  - {pose: high, dwell_s: 0}
  - {name: side, position_m: [0.05, 0, 0], rpy_deg: [0, 5, 0], speed: 0.2}
  - {pose: park}
"""


def read(tmp_path: Path, text: str = FILE) -> WaypointList:
    path = tmp_path / 'sequence.yaml'
    path.write_text(text)
    return WaypointList.from_yaml(path, VIGO)


def test_a_file_is_read_and_planned_within_every_limit(tmp_path: Path) -> None:
    found, guard = read(tmp_path), MotionGuard(VIGO)
    route = plan_route(NEUTRAL, found.waypoints, guard, found.repeat)
    time = np.arange(0.0, route.duration, 2e-3)
    motion = route.sample(time)

    guard.check(motion)
    guard.check_jerk(motion, time)
    assert [w.dwell for w in found.waypoints] == [0.0, 0.5, 0.5]
    assert [w.speed for w in found.waypoints] == [0.4, 0.2, 0.4]
    # Every visit is at rest for the time asked for.
    still = np.abs(motion.twist).max(axis=1) < 1e-12
    assert 2e-3 * still.sum() == pytest.approx(3 * (0.5 + 0.5), rel=0.02)
    for waypoint in found.waypoints:
        away = np.abs(motion.position - waypoint.pose.position).max(axis=1)
        near = np.flatnonzero(away < 1e-7)
        assert near.size
        # Three visits, and the last sample before the end is a moment short of the third.
        assert np.sum(np.diff(near) > 10) == 2


def test_place_and_visits_count_over_the_rounds() -> None:
    up = Pose(NEUTRAL.position + np.array([0.0, 0.0, 0.05]), NEUTRAL.quaternion_xyzw)
    guard = MotionGuard(VIGO)
    route = plan_route(NEUTRAL, [Waypoint(up, dwell=1.0), Waypoint(NEUTRAL)], guard, 2)
    first = route.sequence.starts[1]

    assert [route.place(time) for time in (0.0, first + 0.5, route.duration)] == [
        (1, 1),
        (1, 1),
        (2, 2),
    ]
    times = (0.0, first + 0.5, first + 1.1, route.duration - 0.1, route.duration)
    assert [route.visited(time) for time in times] == [0, 1, 1, 3, 4]


@pytest.mark.parametrize('dwell', [1e-12, 0.2])
def test_a_dwell_is_at_rest_however_short_it_is(dwell: float) -> None:
    tilted = Pose.from_rpy(NEUTRAL.position, (0.0, 0.02, 0.01))
    guard = MotionGuard(VIGO)
    route = plan_route(NEUTRAL, [Waypoint(tilted, dwell=dwell)], guard)
    begin = route.sequence.starts[1]
    for time in (begin, begin + dwell / 3.0, route.duration):
        motion = route.sample(time)
        assert not motion.twist.any()
        assert not motion.acceleration.any()
    rest, begun = route.sequence.part(begin + dwell / 3.0)
    assert not plan_stop(rest, begin + dwell / 3.0 - begun, guard).sample(1.0).twist.any()


@pytest.mark.parametrize('name', PLATFORMS)
def test_park_is_allowed_and_close_to_the_lowest_pose(name: str) -> None:
    platform = Platform.from_yaml(name)
    guard, neutral = MotionGuard(platform), platform.geometry.neutral_pose
    park = named_poses(platform)['park']
    down = neutral.position[2] - park.position[2]

    guard.check(Motion.at_rest(park))
    lower = neutral.position - np.array([0.0, 0.0, down / 0.98 * 1.001])
    with pytest.raises(MotionRefused):
        guard.check(Motion.at_rest(Pose(lower, neutral.quaternion_xyzw)))
    plan_route(neutral, [Waypoint(park)], guard)


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('repeat: 3', 'repaet: 3', r'repaet.*did you mean repeat\?'),
        ('dwell_s: 0}', 'dwel_s: 0}', r'waypoints\[1\]\.dwel_s.*did you mean dwell_s\?'),
        ('pose: park', 'pose: prak', r'waypoints\[3\]\.pose.*did you mean park\?'),
        ('speed: 0.2', 'speed: 20', r'waypoints\[2\]\.speed.*0\.001 to 1'),
        ('repeat: 3', 'repeat: 1.5', 'repeat: expected a whole number'),
        ('pose: park', 'position_m: [0, 0, 0]', r'waypoints\[3\]\.rpy_deg.*missing'),
        ('to: neutral', 'to: netral', r'relative_to.*did you mean neutral\?'),
        ('pose: high,', 'pose: high, rpy_deg: [0, 0, 0],', 'not both'),
        ('  high:', '  zero:', "poses: expected .*zero is the platform's"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in FILE
    with pytest.raises(ConfigurationError, match=words):
        read(tmp_path, FILE.replace(old, new))


def test_an_unreachable_waypoint_is_named_with_its_limit() -> None:
    far = Pose(NEUTRAL.position + np.array([0.0, 0.0, 2.0]), NEUTRAL.quaternion_xyzw)
    words = r'waypoint 2 \(moon\) is out of reach: stroke of leg 1 is .*, allowed are 0 to 0\.6 m'

    with pytest.raises(MotionRefused, match=words):
        plan_route(NEUTRAL, [Waypoint(NEUTRAL), Waypoint(far, 'moon')], MotionGuard(VIGO))
    with pytest.raises(TrajectoryError, match='1 to 2000 times, asked are 2001'):
        plan_route(NEUTRAL, [Waypoint(NEUTRAL)], MotionGuard(VIGO), 2001)


@pytest.mark.parametrize('name', ['no', '1: 2', '3', 'a, b}', '# c', '"', 'Süd\u2028', 'a\nb'])
def test_any_name_of_a_waypoint_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / 'new.yaml'

    assert append_waypoint(path, NEUTRAL, VIGO, name) == 1
    assert append_waypoint(path, NEUTRAL, VIGO, 'next') == 2
    assert [item.name for item in WaypointList.from_yaml(path, VIGO).waypoints] == [name, 'next']


def test_nothing_is_taught_to_a_file_that_is_full(tmp_path: Path) -> None:
    path = tmp_path / 'full.yaml'
    path.write_text('waypoints:\n' + '  - {pose: neutral}\n' * 200)
    with pytest.raises(ConfigurationError, match='expected fewer than 200 waypoints'):
        append_waypoint(path, NEUTRAL, VIGO)


def test_what_is_taught_is_appended_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / 'sequence.yaml'
    path.write_text(FILE)
    pose = Pose.from_rpy(NEUTRAL.position + np.array([3e-6, -0.02, 0.03]), [0.01, -0.02, 0.03])

    assert append_waypoint(path, pose, VIGO, 'taught') == 4
    assert path.read_text().startswith(FILE)
    last = WaypointList.from_yaml(path, VIGO).waypoints[-1]
    np.testing.assert_allclose(last.pose.position, pose.position, atol=1e-6)
    np.testing.assert_allclose(last.pose.quaternion_xyzw, pose.quaternion_xyzw, atol=1e-7)
    assert last.name == 'taught'
    new = tmp_path / 'new.yaml'
    assert append_waypoint(new, pose, VIGO) == 1
    assert append_waypoint(new, pose, VIGO) == 2

    path.write_text('waypoints: [{pose: park}]\nspeed: 0.5\n')
    with pytest.raises(ConfigurationError, match='as the last key'):
        append_waypoint(path, pose, VIGO)
    assert path.read_text().endswith('speed: 0.5\n')
