# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The chain of a rig's nodes in simulated time, from the trajectory to the state estimate.

At each instant the control loop comes first, then what it measured, then the next setpoint. All
that the nodes do is done by the same objects; what they would publish goes into `Series`.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import ceil

import numpy as np
from stewart_bringup.simulation.machines import Machine, machine_of
from stewart_bringup.simulation.motions import Motion, motion_of
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_bringup.simulation.schedule import NANOSECONDS, Schedule
from stewart_bringup.simulation.sensing import Estimation, ImuOutput
from stewart_bringup.simulation.series import estimate_topics, Series, topics
from stewart_driver.control.inline_cycle import InlineCycle
from stewart_driver.control.request import Request
from stewart_driver.control.state_machine import State
from stewart_driver.nodes.driver_parameters import DriverParameters
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_driver.path.motion import LegMotion
from stewart_dynamics.feed_forward import FeedForward
from stewart_dynamics.nodes.feed_forward_parameters import FeedForwardParameters
from stewart_kinematics.admission import Admission
from stewart_kinematics.errors import StewartError
from stewart_kinematics.joint_states import joint_positions
from stewart_kinematics.motion import Pose
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.nodes.kinematics_parameters import (
    ForwardKinematicsParameters,
    InverseKinematicsParameters,
)
from stewart_kinematics.playback import Playback
from stewart_kinematics.pose_tracking import PoseTracking
from stewart_kinematics.shared_platform import load_platform
from stewart_kinematics.spatial.rotations import matrix_from_quaternion
from stewart_kinematics.warming import warm_up
from stewart_simulation.nodes.virtual_rig_parameters import VirtualRigParameters
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.inline_sensor import attend, InlineReader

# Stamps of 0 are taken for none.
BEGIN = NANOSECONDS
SENSOR, CYCLE, PUBLISH, TRUTH, TRAJECTORY = range(5)
# A motion begins where the platform is after enabling: so many poses are waited for.
FIRST_POSES = 20
# Between the last setpoint and switching off [ns].
SILENCE = NANOSECONDS // 2
NO_COVARIANCE = np.zeros(36)
AT_REST = (State.DISABLED, State.FAULT)


class Phase(Enum):
    """What is being done."""

    ENABLING = 'enabling'
    WAITING = 'waiting for poses'
    PLAYING = 'playing'
    SETTLING = 'settling'
    DISABLING = 'switching off'
    DONE = 'done'


@dataclass(frozen=True)
class Outcome:
    """
    How a run ended.

    Attributes
    ----------
    duration : float
        Simulated time [s].
    reason : str
        Why the motion was not played to its end; empty if it was.
    path_position, path_rotation : float
        Largest tracking error from the first to the last setpoint [m], [rad]; NaN if there was
        none.
    messages : dict of str to int
        How many the nodes would have published, by topic.
    last_refusal : str
        Why the last refused setpoint was refused; empty if none was.

    """

    duration: float
    reason: str
    path_position: float
    path_rotation: float
    messages: dict[str, int]
    last_refusal: str


class Pipeline:
    """
    A rig from power-on to power-off.

    Parameters
    ----------
    parameters : RigParameters
        Of all nodes.
    source : str
        Trajectory node that plays.
    duration : float, optional
        How long the motion is played before it fades out, or how long a move takes [s].
    target : Pose, optional
        Where a move goes.
    estimate : bool, optional
        Whether there are an IMU and a state estimator; by default as the rig has them.

    Attributes
    ----------
    series : Series
        What was published so far.
    phase : Phase
        What is being done.

    Raises
    ------
    MotionRefused
        If the platform may not do the motion.
    ParameterError, ConfigurationError
        If a parameter cannot be used.

    """

    def __init__(
        self,
        parameters: RigParameters,
        source: str,
        *,
        duration: float | None = None,
        target: Pose | None = None,
        estimate: bool | None = None,
    ) -> None:
        """Make all parts; no time passes yet."""
        inverse = parameters.of('inverse_kinematics', InverseKinematicsParameters)
        forward = parameters.of('forward_kinematics', ForwardKinematicsParameters)
        driver = parameters.of('driver', DriverParameters)
        self._playout_delay = driver.playout_delay
        platform = load_platform(inverse.platform)
        self._platform = load_platform(forward.platform)
        self._geometry = self._platform.geometry
        warm_up(self._geometry)
        self._motion: Motion = motion_of(
            source, parameters, MotionGuard(platform), duration=duration, target=target
        )
        self._admission = Admission(platform, scale=inverse.limit_scale, silence=inverse.silence)
        self._tracking = PoseTracking(self._geometry)
        feed = parameters.of('feed_forward', FeedForwardParameters)
        self._feed = FeedForward(feed.platform) if feed.enabled else None
        self.schedule = schedule = Schedule(BEGIN)
        self.machine: Machine = machine_of(parameters, lambda: schedule.now)
        backend = self.machine.backend
        self.loop = InlineCycle(backend, driver.configuration(backend), BEGIN)
        self._has_truth = self.machine.truth() is not None
        wanted = parameters.has('state_estimator') if estimate is None else estimate
        imu = parameters.of('imu', ImuParameters)
        described = topics(source, forces=backend.measures_forces)
        self.series = Series({**described, **(estimate_topics(imu) if wanted else {})})
        self._rows = self.series.rows
        self.phase = Phase.ENABLING
        self._state, self._reason, self._refusal = State.DISABLED, '', ''
        self._poses, self._silent_since, self._executed = 0, 0, 0
        self._playback: Playback | None = None
        neutral = self._geometry.neutral_pose
        self._at = neutral.position, neutral.quaternion_xyzw
        self._joints_period = round(0.9 * NANOSECONDS / forward.joint_states_rate)
        self._joints_stamp = 0
        self._worst = np.full(2, np.nan)
        self._counts = dict.fromkeys(self._rows, 0)
        self._plan(driver, parameters)
        self._estimation: Estimation | None = None
        if wanted:
            self._plug(imu, parameters)

    def _plan(self, driver: DriverParameters, parameters: RigParameters) -> None:
        """Set the timers of the nodes."""
        schedule = self.schedule
        schedule.every(1.0 / self.machine.backend.cycle_time, CYCLE, self._cycle)
        schedule.every(driver.publish_rate, PUBLISH, self._publish)
        if self._has_truth:
            rate = parameters.of('virtual_rig', VirtualRigParameters, RigSettings).truth_rate
            schedule.every(rate, TRUTH, self._tell_truth)

    def _plug(self, imu: ImuParameters, parameters: RigParameters) -> None:
        """Put the sensor on the platform, its reader on its port, and the estimator behind it."""
        self._estimation = Estimation(parameters, imu, self._rows)
        self._imu = ImuOutput(imu, self._rows)
        self._sensor = self.machine.plug_sensor(self._seconds)
        port = self._sensor.port
        assert isinstance(port, InlinePort)
        self._reader = InlineReader(port, imu.reader_settings(), self._seconds)
        self._attend()

    def _seconds(self) -> float:
        return self.schedule.now / NANOSECONDS

    def _attend(self) -> None:
        """Let the sensor measure and send, and do what the nodes do with its samples."""
        now = self.schedule.now
        self.machine.go(now / NANOSECONDS)
        assert self._estimation is not None
        for item in attend(self._sensor, self._reader, now / NANOSECONDS):
            measured = self._imu.publish(item, now)
            if measured is not None:
                self._estimation.imu(now, *measured)
        due = min(self._sensor.due, self._reader.due)
        self.schedule.at(max(now + 1, ceil(due * NANOSECONDS)), SENSOR, self._attend)

    @property
    def elapsed(self) -> float:
        """Simulated time so far [s]."""
        return (self.schedule.now - BEGIN) / NANOSECONDS

    @property
    def part(self) -> float:
        """Part of the motion that was played, 0 to 1."""
        if self._playback is None:
            return 0.0 if self.phase in {Phase.ENABLING, Phase.WAITING} else 1.0
        played = self._playback.elapsed(self.schedule.now)
        return min(played / max(self._playback.trajectory.duration, 1e-9), 1.0)

    def run(self, on_second: Callable[[], object] = lambda: None) -> Outcome:
        """
        Enable the drives, play the motion, and switch them off.

        Parameters
        ----------
        on_second : callable
            Called after every second of simulated time; may clear `series`.

        Returns
        -------
        Outcome
            How it ended.

        """
        schedule = self.schedule
        second = BEGIN + NANOSECONDS
        while self.phase is not Phase.DONE:
            schedule.step()
            if schedule.now >= second:
                second += NANOSECONDS
                self._count()
                on_second()
        self.loop.end()
        self._publish()
        self._count()
        on_second()
        return Outcome(
            self.elapsed,
            self._reason,
            float(self._worst[0]),
            float(self._worst[1]),
            {name: total for name, total in self._counts.items() if total},
            self._refusal,
        )

    def _count(self) -> None:
        """Count what was not counted yet; called before `series` may be cleared."""
        for name, rows in self._rows.items():
            self._counts[name] += rows.new()
        for note in self.series.new_notes():
            self._counts[note.topic] = self._counts.get(note.topic, 0) + 1

    def _cycle(self) -> None:
        self.loop.advance(self.schedule.now)

    def _publish(self) -> None:
        """Publish what the control loop has to tell, and what follows from it."""
        self._take_states()
        for sample in self.loop.samples():
            stamp = round(sample.stamp * NANOSECONDS)
            parts = [sample.strokes, sample.rates]
            if sample.forces is not None:
                parts.append(sample.forces)
            self._rows['actuator_states'].add(self.schedule.now, stamp, *parts)
            self._measured(sample.stamp, stamp, sample.strokes)
            if self._estimation is not None:
                self._estimation.legs(self.schedule.now, stamp, sample.strokes)
        self._operate()

    def _take_states(self) -> None:
        backend = self.machine.backend
        for change in self.loop.state_changes():
            entered = change.state is State.ENABLED is not self._state
            left = self._state is State.ENABLED is not change.state
            self._state = change.state
            self.series.note(
                'driver/state',
                'stewart_interfaces/msg/DriverState',
                self.schedule.now,
                round(change.stamp * NANOSECONDS),
                {
                    'state': int(change.state),
                    'homed': change.homed,
                    'backend': backend.name,
                    'simulated': backend.simulated,
                    'playout_delay': self._playout_delay,
                    'reason': change.reason,
                },
            )
            self._tracking.begin_anew(self._playout_delay)
            if entered:
                self._admission.begin_anew()
            if left and self._playback is not None:
                self._abort(f'the driver went to {change.state.name}: {change.reason}')

    def _measured(self, seconds: float, stamp: int, strokes: np.ndarray) -> None:
        """Do what forward kinematics does with an actuator state."""
        try:
            result = self._tracking.solve(strokes)
        except StewartError as error:
            self._refusal = str(error)
            return
        now = self.schedule.now
        position, quaternion = result.position, result.quaternion_xyzw
        self._rows['platform/pose'].add(now, stamp, position, quaternion)
        self._at = position, quaternion
        self._poses += self._state is State.ENABLED
        off = self._tracking.error(seconds, result, strokes)
        if off is not None:
            self._rows['platform/tracking_error'].add(
                now, stamp, off.position, off.rotation, off.strokes
            )
            away = np.array([np.linalg.norm(off.position), np.linalg.norm(off.rotation)])
            self.loop.report_tracking_error(away[0], away[1])
            self._worst = np.fmax(self._worst, away)
        if stamp - self._joints_stamp >= self._joints_period:
            self._joints_stamp = stamp
            joints = joint_positions(self._platform, position, quaternion)
            self._rows['joint_states'].add(now, stamp, joints)

    def _operate(self) -> None:
        """Do what a person at the rig does."""
        if self._state is State.FAULT and self.phase is not Phase.DISABLING:
            self._reason = self._reason or 'the driver is in FAULT'
            self.phase = Phase.DISABLING
        if self.phase is Phase.ENABLING:
            if self._state is State.ENABLED:
                self.phase = Phase.WAITING
            elif self._state is State.DISABLED and self.loop.cycles:
                self.loop.request(Request.ENABLE)
        elif self.phase is Phase.WAITING and self._ready():
            self._start()
        elif self.phase is Phase.SETTLING and self.schedule.now - self._silent_since > SILENCE:
            self.loop.request(Request.DISABLE)
            self.phase = Phase.DISABLING
        elif self.phase is Phase.DISABLING and self._state in AT_REST:
            self.phase = Phase.DONE

    def _ready(self) -> bool:
        """Tell whether there are poses, and estimates where they are wanted."""
        estimation = self._estimation
        return self._poses > FIRST_POSES and (
            estimation is None or estimation.published > FIRST_POSES
        )

    def _start(self) -> None:
        """Play the motion from where the platform is."""
        self._playback = Playback(self._motion.make(Pose(*self._at)), self.schedule.now)
        self.phase = Phase.PLAYING
        self.schedule.every(self._motion.parameters.rate, TRAJECTORY, self._sample)

    def _sample(self) -> None:
        """Do what trajectory node, feed-forward and inverse kinematics do with a setpoint."""
        playback, now = self._playback, self.schedule.now
        if playback is None:
            return
        motion = playback.sample(now)
        parts = (
            motion.position,
            motion.quaternion_xyzw,
            motion.linear_velocity,
            motion.angular_velocity,
            motion.linear_acceleration,
            motion.angular_acceleration,
        )
        self._rows['setpoint'].add(now, now, *parts)
        forces = None
        if self._feed is not None:
            try:
                forces = self._feed.forces(*parts)
            except StewartError as error:
                self._refusal = str(error)
            else:
                self._rows['joint_efforts'].add(now, now, forces)
        try:
            legs = self._admission.admit(self._motion.source, motion, now / NANOSECONDS)
        except StewartError as error:
            self._refusal = str(error)
        else:
            self._executed = now
            self._rows['platform/commanded'].add(now, now, *parts)
            self._rows['joint_commands'].add(now, now, legs.stroke, legs.rate)
            self._tracking.commanded(now / NANOSECONDS, motion)
            given = np.zeros(6) if forces is None else forces
            self.loop.offer(LegMotion(now / NANOSECONDS, legs.stroke, legs.rate, given))
        if playback.over(now, self._executed):
            self._fall_silent()
        elif playback.unheard(now, self._executed, self._motion.parameters.patience):
            self._abort(f'inverse kinematics executes nothing: {self._refusal}')

    def _abort(self, reason: str) -> None:
        self._reason = reason
        self._fall_silent()

    def _fall_silent(self) -> None:
        self._playback = None
        self.schedule.drop(TRAJECTORY)
        self._silent_since, self.phase = self.schedule.now, Phase.SETTLING

    def _tell_truth(self) -> None:
        """Publish where the platform really is."""
        state = self.machine.truth()
        assert state is not None
        turn = matrix_from_quaternion(state[3:7]).T
        self._rows['simulation/truth'].add(
            self.schedule.now,
            self.schedule.now,
            state[:7],
            NO_COVARIANCE,
            turn @ state[7:10],
            turn @ state[10:13],
            NO_COVARIANCE,
        )
