# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A bag shows what it holds at any instant, and the strokes stand in for a missing pose."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from stewart_bags.writing import BagWriter
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import leg_lengths, leg_positions
from stewart_viewer.leg_plots import LegPlots, WINDOW
from stewart_viewer.recognition import (
    check,
    COMPARED,
    LiveComparison,
    mismatch,
    recognise,
    WrongPlatform,
)
from stewart_viewer.recording import Recording, Track
from stewart_viewer.replay import NOWHERE, Replay
from stewart_viewer.snapshot import DriveReport, Snapshot
from stewart_viewer.verbs.recorded import read_recording
import viser

NS = 1_000_000_000
STATES = 50


def poses_of(platform: Platform) -> list[Pose]:
    neutral = platform.geometry.neutral_pose
    return [
        Pose.from_rpy(np.add(neutral.position, [0.0, 0.0, 1e-4 * step]), (1e-3 * step, 0.0, 0.0))
        for step in range(STATES)
    ]


@pytest.fixture(scope='module')
def bag_of_strokes(tmp_path_factory: pytest.TempPathFactory, ex800: Platform) -> Path:
    path = tmp_path_factory.mktemp('bags') / 'strokes'
    write_strokes(path, ex800)
    return path


def write_strokes(path: Path, platform: Platform, *, stamped: bool = True) -> None:
    """Write strokes alone, 50 a second."""
    geometry = platform.geometry
    with BagWriter(path) as writer:
        types = writer.typestore.types
        time = types['builtin_interfaces/msg/Time']
        header = types['std_msgs/msg/Header']
        joints = types['sensor_msgs/msg/JointState']
        names = [f'leg_{leg}' for leg in range(1, 7)]
        for step, pose in enumerate(poses_of(platform)):
            now = NS + step * NS // 50
            stamp = now if stamped else 0
            lengths = leg_lengths(geometry, pose.position, pose.quaternion_xyzw)
            message = joints(
                header(time(stamp // NS, stamp % NS), ''),
                names,
                lengths - geometry.retracted_length,
                np.zeros(6),
                np.empty(0),
            )
            writer.write('/actuator_states', now, message)


def test_strokes_give_the_pose(bag_of_strokes: Path, ex800: Platform) -> None:
    recording = read_recording(bag_of_strokes, ex800.geometry)
    assert recording.duration == pytest.approx((STATES - 1) / 50)
    for step in (0, 20, STATES - 1):
        shown = recording.at(step / 50 + 1e-6)
        assert shown.pose is not None
        wanted = poses_of(ex800)[step]
        np.testing.assert_allclose(shown.pose.position, wanted.position, atol=1e-9)
        np.testing.assert_allclose(shown.pose.rotation, wanted.rotation, atol=1e-9)
        assert shown.forces is None
        assert shown.commanded is None


def test_strokes_that_nobody_stamped_are_shown_when_they_were_received(
    tmp_path: Path, ex800: Platform
) -> None:
    write_strokes(tmp_path / 'bag', ex800, stamped=False)
    told: list[str] = []
    recording = read_recording(tmp_path / 'bag', ex800.geometry, tell=told.append)
    assert told == ["/actuator_states: all stamps are zero, the bag's own times are used"]
    assert recording.duration == pytest.approx((STATES - 1) / 50)
    shown = recording.at(0.4 + 1e-6).pose
    assert shown is not None
    np.testing.assert_allclose(shown.position, poses_of(ex800)[20].position, atol=1e-9)


def write_foreign(path: Path, platform: Platform, lost: dict[int, tuple[str, float]]) -> None:
    """Write poses, setpoints and odometry of a machine of others, some with a field that is lost.

    Args:
        lost: By the number of the message, what is written in place of what.
    """
    with BagWriter(path) as writer:
        kinds = writer.typestore.types
        make = {name.rpartition('/')[2]: kind for name, kind in kinds.items()}
        for step, pose in enumerate(poses_of(platform)):
            field, value = lost.get(step, ('', 0.0))
            x, y, z = pose.position
            turn = pose.quaternion_xyzw * (value if field == 'norm' else 1.0)
            place = make['Point'](value if field == 'x' else x, y, z)
            posed = make['Pose'](place, make['Quaternion'](*turn))
            now = NS + step * NS // 50
            header = make['Header'](make['Time'](now // NS, now % NS), 'base_link')
            covariance = np.zeros(36)
            covariance[0] = value if field == 'covariance' else 1e-6
            still = make['Vector3'](0.0, 0.0, 0.0)
            twist = make['Twist'](still, still)
            message = kinds['geometry_msgs/msg/PoseStamped'](header, posed)
            writer.write('/platform/pose', now, message)
            odometry = kinds['nav_msgs/msg/Odometry'](
                header,
                'platform_link',
                make['PoseWithCovariance'](posed, covariance),
                make['TwistWithCovariance'](twist, np.zeros(36)),
            )
            writer.write('/platform/odometry', now, odometry)


def test_messages_without_a_pose_are_left_out_and_told(tmp_path: Path, ex800: Platform) -> None:
    lost = {
        0: ('x', np.nan),
        10: ('x', np.inf),
        20: ('norm', 0.0),
        21: ('norm', 1.01),
        30: ('norm', 1.0005),
        40: ('covariance', np.nan),
    }
    write_foreign(tmp_path / 'bag', ex800, lost)
    told: list[str] = []
    recording = read_recording(tmp_path / 'bag', ex800.geometry, tell=told.append)

    assert [line.partition(' are left out')[0] for line in told] == [
        '/platform/pose: 4 of 50 messages',
        '/platform/odometry: 5 of 50 messages',
    ]
    poses = poses_of(ex800)
    assert recording.duration == pytest.approx((STATES - 2) / 50)
    # The first pose is the second message; what is lost shows the one before.
    for step, latest in ((1, 1), (9, 9), (10, 9), (11, 11), (21, 19), (30, 30), (49, 49)):
        shown = recording.at((step - 1) / 50 + 1e-6)
        assert shown.pose is not None
        assert shown.estimate is not None
        for found in (shown.pose, shown.estimate.pose):
            np.testing.assert_allclose(found.position, poses[latest].position, atol=1e-12)
            np.testing.assert_allclose(found.rotation, poses[latest].rotation, atol=1e-12)
    lost_covariance = recording.at(39 / 50 + 1e-6)
    assert lost_covariance.estimate is not None
    np.testing.assert_allclose(lost_covariance.estimate.pose.position, poses[39].position)


def test_poses_of_which_none_is_one_are_refused(tmp_path: Path, ex800: Platform) -> None:
    lost = {step: ('norm', 0.0) for step in range(STATES)}
    write_foreign(tmp_path / 'bag', ex800, lost)
    with pytest.raises(StewartError, match='holds no pose'):
        read_recording(tmp_path / 'bag', ex800.geometry)


def test_the_legs_tell_whose_recording_it_is(bag_of_strokes: Path, ex800: Platform) -> None:
    recording = read_recording(bag_of_strokes, ex800.geometry)
    others = {name: Platform.from_yaml(name).geometry for name in ('vigo', 'srs')}

    assert recognise(recording, {**others, 'ex800': ex800.geometry}) == 'ex800'
    with pytest.raises(WrongPlatform, match='fits none of the platforms vigo, srs'):
        recognise(recording, others)
    check(recording, ex800.geometry, 'ex800')
    with pytest.raises(WrongPlatform, match=r'not of vigo: .* by \d+ mm, .*; they fit ex800$'):
        check(recording, others['vigo'], 'vigo')


def test_strokes_alone_need_the_name_of_their_platform(bag_of_strokes: Path) -> None:
    with pytest.raises(WrongPlatform, match='--platform'):
        read_recording(bag_of_strokes, None)


def track(count: int) -> Track:
    times = np.arange(count, dtype=np.float64)
    turn = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    return Track(times, (np.outer(times, [1.0, 0.0, 0.0]), turn))


def test_an_instant_shows_the_latest_values() -> None:
    reports = ((0.5, DriveReport('ENABLED')), (1.5, DriveReport('FAULT', reason='a leg')))
    recording = Recording(track(4), reports=reports)
    early, late = recording.at(0.2), recording.at(2.9)
    assert early.drives is None
    assert late.drives == reports[1][1]
    assert late.pose is not None
    assert late.pose.position[0] == 2.0


def test_what_is_not_heard_any_more_is_not_shown() -> None:
    def track(times: np.ndarray) -> Track:
        return Track(
            times, (np.zeros((len(times), 3)), np.tile([0.0, 0.0, 0.0, 1.0], (len(times), 1)))
        )

    around = np.concatenate([np.arange(0.0, 10.0, 0.02), np.arange(70.0, 80.0, 0.02)])
    reports = (0.0, DriveReport('ENABLED')), (75.0, DriveReport('FAULT', reason='leg 3'))
    recording = Recording(track(around), track(np.arange(0.0, 5.0, 0.02)), reports=reports)
    assert recording.at(10.5).pose is not None
    silent = recording.at(60.0)
    assert silent.pose is None
    assert silent.drives.reason.endswith('no pose for 50 s')
    # What was commanded last holds, but not in a fault.
    assert silent.commanded is not None
    assert recording.at(74.0).pose is not None
    assert recording.at(76.0).commanded is None


def test_the_time_slider_shows_its_instant(server: viser.ViserServer) -> None:
    shown: list[Snapshot] = []
    replay = Replay(server, [SimpleNamespace(show=shown.append)], Recording(track(4)))
    replay._playing.value = False
    for instant in (2.0, 0.0, 3.0):
        replay._slider.value = instant
        over = iter([False, True])
        replay.run(partial(next, over))
    assert [item.pose.position[0] for item in shown if item.pose is not None] == [2.0, 0.0, 3.0]


def test_thirty_pictures_a_second_are_made(
    server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    watch = SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep)
    monkeypatch.setattr('stewart_viewer.replay.time', watch)
    shown: list[Snapshot] = []
    replay = Replay(server, [SimpleNamespace(show=shown.append)], Recording(track(4)))
    replay.run(lambda: clock[0] >= 2.0)
    assert len(shown) == pytest.approx(60, abs=1)
    assert shown[-1].time == pytest.approx(2.0, abs=0.05)


def test_a_hand_on_the_slider_pauses_and_an_event_is_gone_to(server: viser.ViserServer) -> None:
    reports = ((0.5, DriveReport('ENABLED')), (1.5, DriveReport('FAULT', reason='a leg')))
    replay = Replay(server, [], Recording(track(4), reports=reports))
    replay._on_scrub(SimpleNamespace(client_id=None))
    assert replay._playing.value
    replay._on_scrub(SimpleNamespace(client_id=7))
    assert not replay._playing.value

    assert [mark.value for mark in replay._slider._marks] == [0.5, 1.5]
    replay._playing.value = True
    chosen = SimpleNamespace(value='1.50 s: FAULT, a leg')
    replay._go_to(chosen, 1.5)
    assert chosen.value == NOWHERE
    assert replay._slider.value == pytest.approx(1.51)
    assert not replay._playing.value


def test_a_recording_without_a_pose_is_refused() -> None:
    with pytest.raises(StewartError, match='holds no pose'):
        Recording(track(0))


def test_plots_keep_their_window_and_begin_anew(
    server: viser.ViserServer, ex800: Platform
) -> None:
    plots = LegPlots(server, ex800)
    strokes = np.linspace(0.01, 0.06, 6)
    for time in np.arange(0.0, WINDOW + 5.0, 0.25):
        plots.show(Snapshot(float(time), strokes=strokes, forces=10.0 * strokes))
    times, *curves = plots._strokes.data
    assert -WINDOW <= times[0] < -WINDOW + 0.5
    assert times[-1] == 0.0
    np.testing.assert_allclose([curve[-1] for curve in curves[:6]], 1e3 * strokes)
    assert plots._forces.visible
    plots.show(Snapshot(1.0, strokes=strokes))
    plots.show(Snapshot(1.5, strokes=strokes))
    assert len(plots._strokes.data[0]) == 2
    assert not plots._forces.visible


def test_running_rig_of_another_platform_is_noticed(ex800: Platform) -> None:
    right = LiveComparison(ex800.geometry, 'ex800')
    wrong = LiveComparison(Platform.from_yaml('vigo').geometry, 'vigo')
    geometry = ex800.geometry
    for count, pose in enumerate(poses_of(ex800)[: COMPARED + 1]):
        strokes = leg_lengths(geometry, pose.position, pose.quaternion_xyzw)
        for comparison in (right, wrong):
            # Nothing is said before enough was compared.
            assert count >= COMPARED or not comparison.verdict
            comparison.take_strokes(strokes - geometry.retracted_length)
            comparison.take_pose(pose)
    assert right.verdict == ''
    assert wrong.verdict.startswith('this rig is no vigo: ')


def test_cranks_are_compared_along_their_arcs() -> None:
    """A hundredth of a radian is 0.15 mm for a crank of 15 mm."""
    geometry = Platform.from_yaml('sg90_rotary').geometry
    neutral = geometry.neutral_pose
    angles = leg_positions(geometry, neutral.position, neutral.quaternion_xyzw)
    times, turn = np.arange(3.0), np.tile(neutral.quaternion_xyzw, (3, 1))
    poses = Track(times, (np.tile(neutral.position, (3, 1)), turn))
    for off, arc in ((0.01, 0.15e-3), (0.4, 6e-3)):
        legs = np.tile(angles + off, (3, 1))
        recording = Recording(poses, legs=Track(times, (legs, legs)))
        assert mismatch(recording, geometry) == pytest.approx(arc)
        live = LiveComparison(geometry, 'sg90_rotary')
        for _ in range(COMPARED):
            live.take_strokes(angles + off)
            live.take_pose(neutral)
        assert bool(live.verdict) is (arc > 5e-3)
