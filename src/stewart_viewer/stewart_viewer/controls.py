# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How a person moves the platform: six sliders or a gizmo for the target, and buttons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from math import isfinite
from pathlib import Path
from threading import RLock
import time
from typing import Any

import numpy as np
from stewart_kinematics.errors import ConfigurationError, StewartError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.waypoints import append_waypoint
from stewart_kinematics.limits.workspace import reach
from stewart_kinematics.model.leg_kinds import ROTARY
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.spatial import rpy_from_quaternion
from stewart_kinematics.trajectories.cycloidal import relative_displacement
from stewart_viewer.bag_recorder import BagRecorder
from stewart_viewer.hand import Hand, HELD_RATE
from stewart_viewer.resting import Resting
from stewart_viewer.snapshot import Snapshot
import viser

AXES = ('x [mm]', 'y [mm]', 'z [mm]', 'roll [°]', 'pitch [°]', 'yaw [°]')
WAVES: tuple[str, ...] = ('ocean', 'excitation', 'cueing', 'stabilisation')
# Of the velocity towards a target that is followed, per distance [1/s].
STEER_GAIN = 2.0
# From an older pose nobody steers: the platform has gone on since [s].
LATELY = 0.5
# So long nobody has seen what another browser has changed [s].
LOOKED_AT = 2.0
DRIVES = {
    'Enable': 'driver/enable',
    'Disable': 'driver/disable',
    'Reset fault': 'driver/reset_fault',
}
RECORD, STOP_RECORDING = 'Record', 'Stop recording'
ASKED = 'asked for; the answer comes here'


class Controls:
    """Target and buttons; nothing moves before a button is pressed.

    The target counts from the neutral pose. Whether the platform may stand there is said at once,
    by the guard that refuses setpoints, too; the nodes check again. The operator, such as
    `GraphOperator`, carries out what is asked for in a thread of its own.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        platform: Platform,
        operator: Any,
        taught_to: Path = Path('taught.yaml'),
        recorder: BagRecorder | None = None,
    ) -> None:
        self._guard, self._operator = MotionGuard(platform), operator
        self._neutral = platform.geometry.neutral_pose
        self._neutral_rpy = platform.limits.nearest_turn(
            rpy_from_quaternion(self._neutral.quaternion_xyzw)
        )
        # Each hand on the page has a thread of its own, and none sees a half of a target.
        self._whole, self._setting = RLock(), False
        size = float(platform.geometry.length_scale)
        self._platform, self._taught_to, self._recorder = platform, taught_to, recorder
        self._gizmo = server.scene.add_transform_controls(
            '/target', scale=0.7 * size, depth_test=False, opacity=0.6
        )
        self._gizmo.on_update(self._from_gizmo)
        gui = server.gui
        self._fastest = np.repeat(
            [platform.limits.linear_velocity, platform.limits.angular_velocity], 3
        )
        self._pose: Pose | None = None
        self._posed_at = -LATELY
        self._hand, self._resting = Hand(), Resting()
        # Browser that changed the target or the speed last, and when.
        self._changed: tuple[Hashable, float] = None, -LOOKED_AT
        self._off, self._allowed, self._sources = True, False, WAVES
        self._answer = gui.add_markdown('')
        quick = gui.add_button('Quick stop', color='red')
        quick.on_click(lambda _: self._call('Quick stop', 'driver/quick_stop'))
        drives = gui.add_button_group('drives', tuple(DRIVES))
        drives.on_click(lambda event: self._on_drives(_choice(event.target)))
        with gui.add_folder('Move to a target, counted from neutral'):
            self._add_target(gui)
        with gui.add_folder('Jog while a button is held', expand_by_default=False):
            self._add_jog(gui)
        with gui.add_folder('Wave and waypoints', expand_by_default=False):
            self._wave = gui.add_dropdown('played by', WAVES)
            self._wave.on_update(lambda _: self._grey())
            self._start = gui.add_button('Start wave', color='blue')
            self._start.on_click(partial(self._on_wave, 'start'))
            gui.add_button('Stop wave', color='gray').on_click(partial(self._on_wave, 'stop'))
            teach = gui.add_button('Record waypoint', color='gray')
            teach.on_click(lambda _: self._on_teach())
        if recorder is not None:
            self._record = gui.add_button(RECORD, color='gray')
            self._record.on_click(lambda _: self._on_record())
        self._set([0.0] * len(self._sliders))
        self._aim()
        self._grey()

    def _add_target(self, gui: Any) -> None:
        self._sliders = [
            self._slider(gui, label, half)
            for label, half in zip(AXES, _reaches(self._guard), strict=True)
        ]
        self._speed = gui.add_slider('speed [%]', 1, 100, 1, 10)
        self._speed.on_update(self._note_who)
        self._verdict = gui.add_markdown('')
        self._move = gui.add_button('Move there', color='blue')
        self._move.on_click(self._on_move)
        self._follow = gui.add_button('Follow the target while held', color='blue')
        self._follow.on_hold(self._on_steer, callback_hz=HELD_RATE)
        gui.add_button('Stop moving', color='gray').on_click(lambda _: self._operator.cancel())
        gui.add_button('Target to neutral', color='gray').on_click(self._reset)

    def _add_jog(self, gui: Any) -> None:
        unit = '°' if self._platform.kind is ROTARY else 'mm'
        self._legs = tuple(f'leg {leg} [{unit}]' for leg in range(1, 7))
        self._jogged = gui.add_dropdown('what', (*self._legs, *AXES))
        self._pace = gui.add_slider('per second [mm], [°]', 0.5, 20.0, 0.5, 5.0)
        self._jogs = [gui.add_button(label, color='blue') for label in ('−', '+')]
        for button, sign in zip(self._jogs, (-1.0, 1.0), strict=True):
            button.on_hold(partial(self._on_jog, sign), callback_hz=HELD_RATE)

    @property
    def target(self) -> Pose:
        """Pose that the sliders show."""
        with self._whole:
            values = np.array([_number(slider) for slider in self._sliders])
        rpy = self._neutral_rpy + np.radians(values[3:])
        return Pose.from_rpy(self._neutral.position + 1e-3 * values[:3], rpy.tolist())

    def tell(self, sentence: str) -> None:
        """Show what has come of the last request."""
        self._answer.content = sentence

    def show(self, snapshot: Snapshot) -> None:
        """Take note of where the platform is, and whether anything can move it."""
        if snapshot.pose is not self._pose:
            self._pose, self._posed_at = snapshot.pose, time.monotonic()
            self._resting.see(self._pose, self._posed_at)
        off = snapshot.drives is None or snapshot.drives.state != 'ENABLED'
        if off != self._off:
            self._off = off
            self._grey()

    def _grey(self) -> None:
        """Let only those buttons be pressed that can move the platform now."""
        for button in (self._follow, *self._jogs):
            button.disabled = self._off
        self._start.disabled = self._off or self._wave.value not in self._sources
        self._move.disabled = self._off or not self._allowed

    def _call(self, label: str, service: str) -> None:
        self._ask(label, lambda: self._operator.call(service))

    def _on_drives(self, label: str) -> None:
        self._call(label, DRIVES[label])

    def _on_teach(self) -> None:
        """Append the measured pose to the file of waypoints on the viewer's machine."""
        pose, trouble = self._pose, self._operator.obstacle
        if not trouble and (pose is None or not self._resting.rests(time.monotonic())):
            trouble = 'no pose comes' if pose is None else 'the platform does not rest'
        if trouble or pose is None:
            self.tell(f'**Record waypoint**: {trouble}')
            return
        try:
            with self._whole:
                number = append_waypoint(self._taught_to, pose, self._platform)
        except (StewartError, OSError) as error:
            self.tell(f'**Record waypoint**: {error}')
        else:
            self.tell(f'waypoint {number} is in {self._taught_to}')

    def _on_record(self) -> None:
        """Start or stop a recording of all topics, as the button says, and say where it is."""
        assert self._recorder is not None
        if self._record.label == STOP_RECORDING:
            # It may take long, and whoever presses again wants no other recording.
            self._record.disabled = True
            self.tell('closing the bag …')
            said = self._recorder.stop()
            self._record.disabled = False
        else:
            try:
                said = self._recorder.start()
            except OSError as error:
                said = f'**Record**: {error}'
        self._tell_of_recording(said)

    def look(self) -> None:
        """Offer what the rig has to play, and say when a recording has ended by itself."""
        if (sources := self._operator.sources) != self._sources:
            self._sources = sources
            self._grey()
        if self._recorder is not None and (said := self._recorder.ended()):
            self._tell_of_recording(said)

    def _tell_of_recording(self, said: str) -> None:
        running = self._recorder is not None and self._recorder.running
        self._record.label = STOP_RECORDING if running else RECORD
        self._record.color = 'red' if running else 'gray'
        self.tell(said)

    def _held(self, label: str, what: Hashable, event: Any) -> bool:
        """Tell whether a button that is held moves something now."""
        moves, why = self._hand.moves(event.client_id, what)
        if why:
            self.tell(f'**{label}**: {why}')
        return moves

    def _on_steer(self, event: Any) -> None:
        """Ask for a velocity towards the target; teleop keeps the limits, and its dead man."""
        if not self._held('Follow', self._follow, event):
            return
        if self._pose is None or time.monotonic() - self._posed_at > LATELY:
            self.tell('**Follow**: no pose comes')
            return
        way, turn = relative_displacement(self._pose, self.target)
        asked = STEER_GAIN * np.concatenate([way, turn])
        largest = 0.01 * _number(self._speed) * self._fastest
        share = float(np.max(np.abs(asked) / largest))
        self._operator.steer(asked / max(share, 1.0))

    def _on_wave(self, action: str, _: Any = None) -> None:
        service = f'{_choice(self._wave)}/{action}'
        self._call(service, service)

    def _on_jog(self, sign: float, event: Any) -> None:
        what, pace = _choice(self._jogged), sign * _number(self._pace)
        if not self._held('Jog', (what, pace), event):
            return
        rates, leg = np.zeros(len(AXES)), None
        place = AXES.index(what) if what in AXES else 0
        rates[place] = 1e-3 * pace if 'mm' in what else np.radians(pace)
        if what in self._legs:
            leg = self._legs.index(what)
        self._operator.jog(rates, leg)

    def _ask(self, label: str, request: Callable[[], None]) -> None:
        self.tell(f'{label}: {ASKED}')
        request()

    def _slider(self, gui: Any, label: str, reach: float) -> Any:
        slider = gui.add_slider(label, -reach, reach, reach / 200.0, 0.0)
        slider.on_update(self._from_sliders)
        return slider

    def _note_who(self, event: Any) -> None:
        """Take note of who has changed the target or the speed."""
        self._hand.changes(event.client_id)
        self._changed = event.client_id, time.monotonic()

    def _reset(self, event: Any) -> None:
        self._note_who(event)
        with self._whole:
            self._set([0.0] * len(self._sliders))
            self._aim()

    def _set(self, values: Iterable[float]) -> None:
        self._setting = True
        try:
            for slider, value in zip(self._sliders, values, strict=True):
                slider.value = float(np.clip(value, slider.min, slider.max))
        finally:
            self._setting = False

    def _from_sliders(self, event: Any) -> None:
        with self._whole:
            if not self._setting:
                self._note_who(event)
                self._aim()

    def _aim(self) -> None:
        """Show the target of the sliders."""
        with self._whole:
            target = self.target
            self._gizmo.position = target.position
            self._gizmo.wxyz = np.roll(target.quaternion_xyzw, 1)
            self._judge()

    def _from_gizmo(self, event: Any) -> None:
        self._note_who(event)
        pose = Pose(self._gizmo.position, np.roll(self._gizmo.wxyz, -1))
        away = 1e3 * (pose.position - self._neutral.position)
        rpy = self._platform.limits.nearest_turn(rpy_from_quaternion(pose.quaternion_xyzw))
        turned = np.degrees(rpy - self._neutral_rpy)
        with self._whole:
            self._set([*away, *turned])
            shown = [slider.value for slider in self._sliders]
            # What a click moves to is what is seen.
            if np.allclose(shown, [*away, *turned], atol=1e-6):
                self._judge()
            else:
                self._aim()

    def _judge(self) -> None:
        """Say whether the platform may stand at the target, and which that is."""
        self._allowed = False
        try:
            self._guard.check(Motion.at_rest(self.target))
        except StewartError as error:
            self._verdict.content = f'**Refused:** {error}'
        else:
            # The sliders run ahead of what has arrived here, and this is what a click moves to.
            values = [_number(slider) for slider in self._sliders]
            away, turned = (
                ', '.join(f'{value:.1f}' for value in part) for part in (values[:3], values[3:])
            )
            self._verdict.content = f'Inside every limit: {away} mm, {turned}°.'
            self._allowed = True
        self._move.disabled = self._off or not self._allowed

    def _on_move(self, event: Any) -> None:
        browser, when = self._changed
        if browser not in {None, event.client_id} and time.monotonic() - when < LOOKED_AT:
            self.tell('**Move**: another browser has changed it just now: look, and press again')
            return
        speed = 0.01 * _number(self._speed)
        target = self.target
        self._ask(
            'Move', lambda: self._operator.move(target.position, target.quaternion_xyzw, speed)
        )


def _number(slider: Any) -> float:
    """Return what a slider shows, within its range: a page may send anything."""
    value = float(slider.value)
    if not isfinite(value):
        raise ConfigurationError(slider.label, value, f'{slider.min:g} to {slider.max:g}')
    return min(max(value, float(slider.min)), float(slider.max))


def _choice(handle: Any) -> str:
    """Return what is chosen, one of what is offered: a page may send anything."""
    value = str(handle.value)
    if value not in handle.options:
        raise ConfigurationError('choice', value, f'one of {", ".join(handle.options)}')
    return value


def _reaches(guard: MotionGuard) -> list[float]:
    """Return half the range of each slider [mm], [°]: as far as it goes from neutral alone."""
    limits, neutral = guard.platform.limits, guard.platform.geometry.neutral_pose
    ways = [1e3 * max(-one.lower, one.upper) for one in reach(guard, neutral)[:3]]
    rpy = limits.nearest_turn(rpy_from_quaternion(neutral.quaternion_xyzw))
    angles = np.degrees(np.abs(limits.angles - rpy[:, None]).max(axis=1)).tolist()
    return [round(way, 1) for way in (*ways, *angles)]
