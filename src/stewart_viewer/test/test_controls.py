# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Controls ask only for what the guard allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_bags.reading import Bag
from stewart_description import platform_path
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.waypoints import WaypointList
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import rpy_from_quaternion
from stewart_viewer import controls as viewer_controls
from stewart_viewer.bag_recorder import BagRecorder
from stewart_viewer.controls import Controls, WAVES
from stewart_viewer.hand import Hand
from stewart_viewer.live import LiveView
from stewart_viewer.mailbox import Mailbox
from stewart_viewer.resting import Resting
from stewart_viewer.snapshot import DriveReport, Snapshot
import viser
import yaml


class Asked:
    """Take down what was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.obstacle = ''
        self.sources = ('ocean', 'excitation')

    def move(self, position: Any, quaternion_xyzw: Any, speed: float) -> None:
        self.calls.append(('move', position, quaternion_xyzw, speed))

    def cancel(self) -> None:
        self.calls.append(('cancel',))

    def call(self, service: str) -> None:
        self.calls.append(('call', service))

    def steer(self, twist: Any) -> None:
        self.calls.append(('steer', twist))

    def jog(self, rates: Any, leg: int | None) -> None:
        self.calls.append(('jog', rates.tolist(), leg))


HAND = SimpleNamespace(client_id=1)


@pytest.fixture(scope='module', autouse=True)
def searched_once() -> Iterator[None]:
    """Search once for each platform where its sliders end: that takes longer than most tests."""
    search = viewer_controls._reaches
    ends = cache(lambda platform: search(MotionGuard(platform)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewer_controls, '_reaches', lambda guard: list(ends(guard.platform)))
        yield


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let time stand still for the page, however slow the machine is; return its instant [s]."""
    instant = [100.0]
    told = SimpleNamespace(monotonic=lambda: instant[0])
    monkeypatch.setattr('stewart_viewer.controls.time', told)
    return instant


@pytest.fixture
def controls(server: viser.ViserServer, ex800: Platform, tmp_path: Path) -> Controls:
    made = Controls(server, ex800, Asked(), tmp_path / 'taught.yaml')
    assert not can_move(made)
    made.look()
    made.show(Snapshot(0.0, drives=DriveReport('ENABLED')))
    return made


def held(controls: Controls, press: Callable[..., None], *sign: float) -> None:
    """Hold a button for a moment: the first time alone moves nothing."""
    clock = iter((0.0, 0.05))
    controls._hand = Hand(lambda: next(clock))
    for _ in range(2):
        press(*sign, HAND)


def can_move(controls: Controls) -> bool:
    """Tell whether what moves the platform may be pressed: all of it, or nothing."""
    buttons = (controls._move, controls._follow, controls._start, *controls._jogs)
    (grey,) = {bool(button.disabled) for button in buttons}
    return not grey


def test_the_target_counts_from_the_neutral_pose(controls: Controls, ex800: Platform) -> None:
    neutral = ex800.geometry.neutral_pose
    np.testing.assert_allclose(controls.target.position, neutral.position)
    for slider, value in zip(controls._sliders, [5.0, -4.0, 3.0, 2.0, -1.0, 4.0], strict=True):
        slider.value = value
    away = controls.target.position - neutral.position
    np.testing.assert_allclose(away, [5e-3, -4e-3, 3e-3], atol=1e-12)
    turned = np.degrees(
        rpy_from_quaternion(controls.target.quaternion_xyzw)
        - rpy_from_quaternion(neutral.quaternion_xyzw)
    )
    np.testing.assert_allclose(turned, [2.0, -1.0, 4.0], atol=1e-9)


def test_the_gizmo_follows_the_sliders(controls: Controls) -> None:
    controls._sliders[0].value = 10.0
    np.testing.assert_allclose(controls._gizmo.position, controls.target.position, atol=1e-9)


def test_the_sliders_follow_the_gizmo(controls: Controls, ex800: Platform) -> None:
    away = np.array([0.004, 0.0, 0.012])
    controls._gizmo.position = ex800.geometry.neutral_pose.position + away
    controls._from_gizmo(HAND)
    shown = [slider.value for slider in controls._sliders]
    np.testing.assert_allclose(shown, [4.0, 0.0, 12.0, 0.0, 0.0, 0.0], atol=1e-9)


def test_the_gizmo_stays_where_a_move_would_end(controls: Controls) -> None:
    controls._gizmo.position = controls._neutral.position + np.array([10.0, 0.0, 0.0])
    controls._from_gizmo(HAND)
    np.testing.assert_allclose(controls._gizmo.position, controls.target.position, atol=1e-9)


def test_a_target_that_another_browser_has_just_changed_is_not_moved_to(
    controls: Controls,
) -> None:
    controls._note_who(HAND)
    controls._on_move(SimpleNamespace(client_id=2))
    assert 'another browser has changed it just now' in controls._answer.content
    assert controls._operator.calls == []
    controls._on_move(HAND)
    assert controls._operator.calls[0][0] == 'move'


def test_nobody_steers_towards_a_half_of_a_target(controls: Controls, ex800: Platform) -> None:
    neutral = ex800.geometry.neutral_pose
    controls.show(Snapshot(0.0, pose=neutral))
    hand = threading.Thread(target=held, args=(controls, controls._on_steer))

    def steer(_: Any) -> None:
        hand.start()
        # It ends now, or once the target is whole.
        hand.join(0.1)

    controls._sliders[0].on_update(steer)
    controls._gizmo.position = neutral.position + np.array([0.001, 0.0, 0.001])
    controls._from_gizmo(HAND)
    hand.join()
    ((_, twist),) = controls._operator.calls
    np.testing.assert_allclose(twist[0], twist[2])


@pytest.mark.parametrize('operator', [None, Asked()])
def test_a_view_without_an_operator_has_no_buttons(
    operator: Asked | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    added: list[str] = []
    add_button = viser.GuiApi.add_button

    def add(gui: viser.GuiApi, label: str, *words: Any, **options: Any) -> Any:
        added.append(label)
        return add_button(gui, label, *words, **options)

    monkeypatch.setattr(viser.GuiApi, 'add_button', add)
    view = LiveView('ex800', Mailbox(), operator, host='127.0.0.1', port=0, rate=5.0)
    view.close()
    commands = {'Quick stop', 'Move there'}
    assert commands & {*added} == (commands if operator else set())


def test_a_target_out_of_reach_cannot_be_asked_for(controls: Controls) -> None:
    assert not controls._move.disabled
    controls._sliders[2].value = controls._sliders[2].max
    controls._sliders[0].value = controls._sliders[0].max
    assert controls._move.disabled
    assert controls._verdict.content.startswith('**Refused:** ')
    assert ' m' in controls._verdict.content


@pytest.mark.parametrize('name', ['vigo', 'sg90_rotary'])
def test_sliders_go_as_far_as_the_platform_does(server: viser.ViserServer, name: str) -> None:
    controls = Controls(server, Platform.from_yaml(name), Asked())

    def refused(axis: int, part: float) -> bool:
        controls._reset(HAND)
        controls._sliders[axis].value = part * controls._sliders[axis].max
        return controls._verdict.content.startswith('**Refused:** ')

    for axis in range(3):
        # One of both ways is the longer one.
        assert not (refused(axis, 0.99) and refused(axis, -0.99))


def test_the_wave_is_asked_of_the_node_that_was_chosen(controls: Controls) -> None:
    controls._on_wave('start')
    controls._wave.value = 'excitation'
    controls._on_wave('stop')
    assert controls._operator.calls == [('call', 'ocean/start'), ('call', 'excitation/stop')]


def test_what_the_rig_has_can_be_started_and_stopped(controls: Controls) -> None:
    controls._wave.value = 'stabilisation'
    for sources, can_start in (
        (('ocean', 'cueing'), False),
        (('ocean', 'stabilisation'), True),
        ((), False),
    ):
        controls._operator.sources = sources
        controls.look()
        assert controls._wave.options == WAVES
        assert controls._start.disabled is not can_start
        controls._on_wave('stop')
    # Who has chosen keeps it, also while a rig starts anew and nobody offers it yet.
    assert controls._operator.calls == 3 * [('call', 'stabilisation/stop')]


def test_a_held_button_jogs_what_was_chosen(controls: Controls) -> None:
    controls._jogged.value = 'leg 3 [mm]'
    held(controls, controls._on_jog, -1.0)
    controls._jogged.value = 'yaw [°]'
    controls._pace.value = 2.0
    held(controls, controls._on_jog, 1.0)
    assert controls._operator.calls == [
        ('jog', pytest.approx([-5e-3, 0.0, 0.0, 0.0, 0.0, 0.0]), 2),
        ('jog', pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, np.radians(2.0)]), None),
    ]


def test_an_answer_is_shown(controls: Controls) -> None:
    controls.tell('driver/enable: done')
    assert controls._answer.content == 'driver/enable: done'


def test_nothing_can_be_moved_unless_the_drives_are_enabled(controls: Controls) -> None:
    found = []
    for state in ('DISABLED', 'ENABLED', 'STOPPING', 'ENABLED', 'FAULT'):
        controls.show(Snapshot(0.0, drives=DriveReport(state)))
        found.append(can_move(controls))
    assert found == [False, True, False, True, False]


def test_following_asks_for_the_way_to_the_target(controls: Controls, ex800: Platform) -> None:
    held(controls, controls._on_steer)
    assert controls._operator.calls == []
    neutral = ex800.geometry.neutral_pose
    controls.show(Snapshot(0.0, pose=neutral))
    controls._sliders[2].value = 1.0
    controls._speed.value = 100
    held(controls, controls._on_steer)
    (_, twist), *_ = controls._operator.calls
    np.testing.assert_allclose(twist, [0.0, 0.0, 2e-3, 0.0, 0.0, 0.0], atol=1e-9)

    # Far away it is as fast as was chosen, in the same direction.
    controls._sliders[2].value, controls._sliders[5].value = 20.0, 2.0
    controls._speed.value = 1
    held(controls, controls._on_steer)
    _, twist = controls._operator.calls[-1]
    limits = ex800.limits
    shares = np.array([twist[2] / limits.linear_velocity, twist[5] / limits.angular_velocity])
    assert shares.max() == pytest.approx(0.01)
    assert twist[2] / twist[5] == pytest.approx(0.02 / np.radians(2.0), rel=1e-6)


def test_nobody_steers_from_an_old_pose(
    controls: Controls, ex800: Platform, clock: list[float]
) -> None:
    controls.show(Snapshot(0.0, pose=ex800.geometry.neutral_pose))
    controls._sliders[2].value = 1.0
    clock[0] += 1.0
    held(controls, controls._on_steer)
    assert controls._operator.calls == []
    assert controls._answer.content == '**Follow**: no pose comes'


def test_a_target_that_another_browser_moves_is_not_followed(
    controls: Controls, ex800: Platform
) -> None:
    controls.show(Snapshot(0.0, pose=ex800.geometry.neutral_pose))
    clock = iter((0.0, 0.05, 0.1, 0.15))
    controls._hand = Hand(lambda: next(clock))
    # What the page itself sets is nobody's hand.
    controls._sliders[2].value = 1.0
    for _ in range(2):
        controls._on_steer(HAND)
    for browser in (1, 2):
        controls._from_sliders(SimpleNamespace(client_id=browser))
        controls._on_steer(HAND)
    assert len(controls._operator.calls) == 2
    assert controls._answer.content.startswith('**Follow**: what it moves was changed')


def test_what_a_held_button_moves_stays_until_it_was_let_go(controls: Controls) -> None:
    controls._hand = Hand(lambda: next(clock))
    clock = iter((0.0, 0.05, 0.1, 0.15))
    for what, browser in (
        ('leg 1 [mm]', 1),
        ('leg 1 [mm]', 1),
        ('leg 1 [mm]', 2),
        ('roll [°]', 1),
    ):
        controls._jogged.value = what
        controls._on_jog(1.0, SimpleNamespace(client_id=browser))
    assert controls._operator.calls == [('jog', pytest.approx([5e-3, 0, 0, 0, 0, 0]), 0)]
    assert controls._answer.content == (
        '**Jog**: what it moves was changed: let the button go first'
    )


def test_a_waypoint_is_recorded_where_the_platform_is(
    controls: Controls, ex800: Platform, tmp_path: Path, clock: list[float]
) -> None:
    controls._on_teach()
    assert 'no pose comes' in controls._answer.content
    neutral = ex800.geometry.neutral_pose
    high = Pose(neutral.position + np.array([0.0, 0.0, 0.02]), neutral.quaternion_xyzw)
    controls.show(Snapshot(0.0, pose=high))
    controls._on_teach()
    assert controls._answer.content == '**Record waypoint**: the platform does not rest'
    controls._resting = Resting()
    for ago in (0.6, 0.0):
        controls._resting.see(high, clock[0] - ago)
    controls._operator.obstacle = 'the rig is another platform'
    controls._on_teach()
    assert controls._answer.content == '**Record waypoint**: the rig is another platform'
    controls._operator.obstacle = ''
    controls._on_teach()
    (waypoint,) = WaypointList.from_yaml(tmp_path / 'taught.yaml', ex800).waypoints
    np.testing.assert_allclose(waypoint.pose.position, high.position, atol=1e-9)
    assert controls._answer.content.startswith('waypoint 1 is in ')


class Recorded:
    """Take down how often a recording was started and stopped."""

    running = False
    end = ''

    def ended(self) -> str:
        end, self.end = self.end, ''
        self.running = self.running and not end
        return end

    def start(self) -> str:
        self.running = True
        return 'running: True'

    def stop(self) -> str:
        self.running = False
        return 'running: False'


def test_a_button_starts_and_stops_a_recording(
    server: viser.ViserServer, ex800: Platform, tmp_path: Path
) -> None:
    page = Controls(server, ex800, Asked(), tmp_path / 'taught.yaml', Recorded())
    for running, label in ((True, 'Stop recording'), (False, 'Record')):
        page._on_record()
        assert page._answer.content == f'running: {running}'
        assert page._record.label == label


def test_a_recording_that_ends_by_itself_is_told(
    server: viser.ViserServer, ex800: Platform, tmp_path: Path
) -> None:
    recorder = Recorded()
    page = Controls(server, ex800, Asked(), tmp_path / 'taught.yaml', recorder)
    page._on_record()
    page.look()
    assert page._record.label == 'Stop recording'
    recorder.end = '**Record**: No space left on device'
    page.look()
    assert page._answer.content == '**Record**: No space left on device'
    assert page._record.label == 'Record'


@pytest.mark.ros
def test_a_recording_is_a_bag_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('rclpy')
    # A busy machine may take longer to close a bag than a person waits.
    monkeypatch.setattr('stewart_viewer.bag_recorder.PATIENCE', 90.0)
    recorder = BagRecorder(tmp_path)
    said = recorder.start()
    assert recorder.start() == said
    assert recorder.running
    (path,) = _until_there(tmp_path)
    assert said == f'recording into {path} on the machine of the viewer'
    assert recorder.stop() == f'recorded: {path}'
    # Pressed a second time while the first was closing the bag.
    assert recorder.stop() == 'nothing is recorded'
    assert not recorder.running
    with Bag(path):
        pass


@pytest.mark.ros
def test_a_recording_that_fails_says_why(tmp_path: Path) -> None:
    pytest.importorskip('rclpy')
    (tmp_path / 'file').write_text('')
    with pytest.raises(FileExistsError):
        BagRecorder(tmp_path / 'file').start()
    recorder = BagRecorder(tmp_path / 'new')
    recorder.start()
    recorder._process.kill()
    assert recorder.stop() == '**Record**: exit code -9'
    first = recorder._path
    recorder.start()
    assert recorder._path != first
    assert recorder.ended() == ''
    recorder._process.kill()
    recorder._process.wait()
    assert recorder.ended() == '**Record**: exit code -9'
    recorder.close()


def _until_there(folder: Path) -> list[Path]:
    """Return the bags in a folder once the storage of one is open."""
    end = time.monotonic() + 60.0
    while not (found := list(folder.glob('bag_*/*.mcap'))):
        assert time.monotonic() < end
        time.sleep(0.1)
    return [path.parent for path in found]


@pytest.mark.parametrize('value', [float('nan'), float('inf')])
def test_a_number_that_no_slider_shows_moves_nothing(controls: Controls, value: float) -> None:
    controls._pace._impl.value = value
    with pytest.raises(ConfigurationError, match='per second'):
        held(controls, controls._on_jog, 1.0)
    assert controls._operator.calls == []


def test_sliders_of_a_platform_that_stands_turned_count_from_there(
    server: viser.ViserServer, tmp_path: Path
) -> None:
    content = yaml.safe_load(platform_path('vigo').read_text())
    content['base_joints']['ring']['offset_deg'] = 180.0
    for key in ('zero_pose', 'neutral_pose'):
        content[key]['rpy_deg'] = [0.0, 0.0, 180.0]
    content['limits']['yaw_deg'] = [170.0, 195.0]
    file = tmp_path / 'turned.yaml'
    file.write_text(yaml.safe_dump(content))
    controls = Controls(server, Platform.from_yaml(file), Asked())
    yaw = controls._sliders[5]
    assert (yaw.min, yaw.max) == (-15.0, 15.0)
    turn = Rotation.from_rotvec([0.0, 0.0, np.radians(-174.0)])
    controls._gizmo.wxyz = np.roll(turn.as_quat(), 1)
    controls._from_gizmo(HAND)
    assert yaw.value == pytest.approx(6.0)
    assert controls._verdict.content.startswith('Inside every limit')


def test_a_crank_is_jogged_in_degrees(server: viser.ViserServer) -> None:
    controls = Controls(server, Platform.from_yaml('sg90_rotary'), Asked())
    assert controls._jogged.options[2] == 'leg 3 [°]'
    controls._jogged.value, controls._pace.value = 'leg 3 [°]', 2.0
    held(controls, controls._on_jog, -1.0)
    controls._jogged.value = 'z [mm]'
    held(controls, controls._on_jog, 1.0)
    assert controls._operator.calls == [
        ('jog', pytest.approx([-np.radians(2.0), 0.0, 0.0, 0.0, 0.0, 0.0]), 2),
        ('jog', pytest.approx([0.0, 0.0, 2e-3, 0.0, 0.0, 0.0]), None),
    ]


def test_a_jog_beyond_the_slider_is_held_to_its_end(controls: Controls) -> None:
    controls._jogged.value, controls._pace._impl.value = 'leg 3 [mm]', 1e9
    held(controls, controls._on_jog, 1.0)
    assert controls._operator.calls == [('jog', [0.02, 0.0, 0.0, 0.0, 0.0, 0.0], 2)]


def test_a_choice_that_is_not_offered_calls_nothing(controls: Controls) -> None:
    controls._wave._impl.value = 'driver'
    with pytest.raises(ConfigurationError, match='ocean'):
        controls._on_wave('stop')
    assert controls._operator.calls == []


def test_the_target_comes_back_to_neutral_from_anything(controls: Controls) -> None:
    for slider in controls._sliders:
        slider._impl.value = float('nan')
    controls._reset(HAND)
    assert [slider.value for slider in controls._sliders] == [0.0] * 6
