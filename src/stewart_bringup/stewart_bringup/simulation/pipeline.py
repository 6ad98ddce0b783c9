# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The chain of a rig's nodes in simulated time, from the trajectory to the state estimate.

At each instant the control loop comes first, then what it measured, then the next setpoint. All
that the nodes do is done by the same objects; what they would publish goes into `Series`. Only the
control loop and the plant need each other from cycle to cycle, and the supervision the tracking
error: the stages before and after them work through blocks of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stewart_bringup.simulation.machines import Machine, machine_of
from stewart_bringup.simulation.motions import Motion, motion_of
from stewart_bringup.simulation.operator import Operator, Phase
from stewart_bringup.simulation.poses import PoseStream, Truth
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_bringup.simulation.schedule import NANOSECONDS, Schedule
from stewart_bringup.simulation.sensing import Sensing
from stewart_bringup.simulation.series import estimate_topics, Note, Series, topics
from stewart_bringup.simulation.setpoints import SetpointStream
from stewart_driver.control.inline_cycle import InlineCycle
from stewart_driver.control.state_machine import State
from stewart_driver.nodes.driver_parameters import DriverParameters
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_dynamics.feed_forward import FeedForward
from stewart_dynamics.nodes.feed_forward_parameters import FeedForwardParameters
from stewart_kinematics.control.admission import Admission
from stewart_kinematics.control.playback import Hearing, Playback
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.parameters import (
    ForwardKinematicsParameters,
    InverseKinematicsParameters,
)
from stewart_kinematics.solvers.warming import warm_up
from stewart_simulation.rig.settings import RigSettings, VirtualRigParameters
from stewart_tables.short_collections import short_collections

# Stamps of 0 are taken for none.
BEGIN = NANOSECONDS
SENSOR, CYCLE, PUBLISH, TRUTH, TRAJECTORY = range(5)
# A motion begins where the platform is after enabling: so many poses are waited for.
FIRST_POSES = 20


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        duration: Simulated time [s].
        reason: Why the motion was not played to its end; empty if it was.
        path_position, path_rotation: Largest tracking error from the first to the last setpoint
            [m], [rad]; NaN if there was none.
        messages: How many the nodes would have published, by topic.
        last_refusal: Why the last refused setpoint was refused, or else legs had no pose, or else
            the estimator could not go on; empty if nothing was.
    """

    duration: float
    reason: str
    path_position: float
    path_rotation: float
    messages: dict[str, int]
    last_refusal: str


class Pipeline:
    """A rig from power-on to power-off.

    Args:
        source: Trajectory node that plays.
        duration: How long the motion is played before it fades out, or how long a move takes [s].
        target: Where a move goes, or a file of waypoints.
        estimate: Whether there are an IMU and a state estimator; by default as the rig has them.

    Attributes:
        series: What was published so far; complete at every call of `run`'s `on_second`.
        operator: Who does it.

    Raises:
        MotionRefused: If the platform may not do the motion.
        ParameterError, ConfigurationError: If a parameter cannot be used.
    """

    def __init__(
        self,
        parameters: RigParameters,
        source: str,
        *,
        duration: float | None = None,
        target: Pose | Path | None = None,
        estimate: bool | None = None,
    ) -> None:
        inverse = parameters.of('inverse_kinematics', InverseKinematicsParameters)
        forward = parameters.of('forward_kinematics', ForwardKinematicsParameters)
        driver = parameters.of('driver', DriverParameters)
        imu = parameters.of('imu', ImuParameters)
        feed = parameters.of('feed_forward', FeedForwardParameters)
        platform = load_platform(inverse.platform)
        measured = load_platform(forward.platform)
        warm_up(measured.geometry)
        self._motion: Motion = motion_of(
            source, parameters, platform, duration=duration, target=target
        )
        self._admission = Admission(platform, scale=inverse.limit_scale, silence=inverse.silence)
        self.schedule = schedule = Schedule(BEGIN)
        self.machine: Machine = machine_of(parameters, lambda: schedule.now)
        backend = self.machine.backend
        self.loop = InlineCycle(backend, driver.configuration(backend), BEGIN)
        wanted = parameters.has('state_estimator') if estimate is None else estimate
        described = topics(source, forces=backend.measures_forces)
        self.series = Series({**described, **(estimate_topics(imu) if wanted else {})})
        rows = self.series.rows
        self._setpoints = SetpointStream(
            self._motion,
            self._admission,
            FeedForward(feed.platform) if feed.enabled else None,
            rows,
        )
        self._poses = PoseStream(measured, forward.joint_states_rate, rows)
        self._truth = Truth(rows['simulation/truth'])
        self._sensing: Sensing | None = None
        if wanted:
            self._sensing = Sensing(parameters, imu, self.machine, schedule, rows)
        self.operator = Operator(self.loop, self._missing, self._start)
        self._state, self._live, self._awaited = State.DISABLED, 0, 0
        self._why = ''
        self._playout_delay = driver.playout_delay
        self._playback: Playback | None = None
        self._hearing = Hearing(self._motion.parameters.patience)
        self._plan(driver, parameters)

    def _plan(self, driver: DriverParameters, parameters: RigParameters) -> None:
        """Set the timers of the nodes."""
        schedule = self.schedule
        schedule.every(1.0 / self.machine.backend.cycle_time, CYCLE, self._cycle)
        schedule.every(driver.publish_rate, PUBLISH, self._publish)
        if self.machine.truth() is not None:
            rate = parameters.of('virtual_rig', VirtualRigParameters, RigSettings).truth_rate
            schedule.every(rate, TRUTH, self._tell_truth)
        if self._sensing is not None:
            schedule.at(schedule.now, SENSOR, self._attend)

    @property
    def remark(self) -> str:
        """What is odd about how the motion is played, in a sentence; empty without anything."""
        return self._motion.remark

    @property
    def elapsed(self) -> float:
        """Simulated time so far [s]."""
        return (self.schedule.now - BEGIN) / NANOSECONDS

    @property
    def part(self) -> float:
        """Part of the motion that was played, 0 to 1."""
        if self._playback is None:
            return 0.0 if self.operator.phase in {Phase.ENABLING, Phase.WAITING} else 1.0
        played = self._playback.elapsed(self.schedule.now)
        return min(played / max(self._playback.trajectory.duration, 1e-9), 1.0)

    def run(self, on_second: Callable[[], object] = lambda: None) -> Outcome:
        """Enable the drives, play the motion, and switch them off.

        Args:
            on_second: Called after every second of simulated time; may clear `series`.

        Returns:
            How it ended.
        """
        try:
            with short_collections():
                return self._run(on_second)
        finally:
            self.machine.end()

    def _run(self, on_second: Callable[[], object]) -> Outcome:
        schedule, operator, done = self.schedule, self.operator, Phase.DONE
        second = BEGIN + NANOSECONDS
        while operator.phase is not done:
            schedule.step()
            if schedule.now >= second:
                second += NANOSECONDS
                self._fill_series()
                on_second()
        self.loop.end()
        self._publish()
        self._fill_series()
        on_second()
        worst, sensing = self._poses.worst.tolist(), self._sensing
        return Outcome(
            self.elapsed,
            self.operator.reason,
            worst[0],
            worst[1],
            self.series.counts(),
            self._setpoints.refusal or self._poses.refusal or (sensing.refusal if sensing else ''),
        )

    def _fill_series(self) -> None:
        """Let every stage publish; called before `series` may be cleared."""
        for stage in (self._setpoints, self._poses, self._truth, self._sensing):
            if stage is not None:
                stage.publish()

    def _cycle(self) -> None:
        self.loop.advance(self.schedule.now)

    def _publish(self) -> None:
        """Do what follows from what the control loop has to tell."""
        now = self.schedule.now
        self._take_states()
        for sample in self.loop.samples():
            stamp = round(sample.stamp * NANOSECONDS)
            away = self._poses.measure(now, stamp, sample)
            if away is not None:
                self.loop.report_tracking_error(*away)
            if self._sensing is not None:
                self._sensing.legs(stamp, sample.strokes)
        self.operator.look(now, self._state, self._live, self._why)

    def _take_states(self) -> None:
        backend = self.machine.backend
        for change in self.loop.state_changes():
            entered = change.state is State.ENABLED is not self._state
            left = self._state is State.ENABLED is not change.state
            before, self._state, self._live = self._state, change.state, change.live
            self._why = change.reason
            fields = {
                'backend': backend.name,
                'simulated': backend.simulated,
                'playout_delay': self._playout_delay,
                **change.told(),
            }
            kind, stamp = 'stewart_interfaces/msg/DriverState', round(change.stamp * NANOSECONDS)
            self.series.note(Note('driver/state', kind, self.schedule.now, stamp, fields))
            if change.state is not before:
                self._poses.tracking.begin_anew(self._playout_delay)
            if entered:
                self._admission.begin_anew()
                self._awaited = self._poses.found + FIRST_POSES
            if left and self._playback is not None:
                self._end(f'the driver went to {change.state.name}: {change.reason}')

    def _missing(self) -> str:
        """Tell whether poses, or estimates where they are wanted, are missing, and why."""
        if self._poses.found <= self._awaited:
            return f'no pose of the platform{_because(self._poses.refusal)}'
        if self._sensing is not None and not self._sensing.ready:
            return f'no estimate{_because(self._sensing.refusal)}'
        return ''

    def _start(self) -> None:
        """Play the motion from where the platform is."""
        self._playback = Playback(self._motion.make(self._poses.pose), self.schedule.now)
        self.schedule.every(self._motion.parameters.rate, TRAJECTORY, self._sample)

    def _sample(self) -> None:
        """Give the next setpoint to the driver."""
        playback, now, stream = self._playback, self.schedule.now, self._setpoints
        if playback is None:
            return
        given = stream.give(playback, now)
        if given is not None:
            setpoint, motion = given
            self._poses.tracking.commanded(setpoint.stamp, *motion)
            self.loop.offer(setpoint)
        if playback.over(now, stream.executed):
            self._end()
        elif self._hearing.lost(playback.elapsed(now), lambda: stream.executed):
            self._end(f'inverse kinematics executes nothing: {stream.refusal}')

    def _end(self, reason: str = '') -> None:
        """Give no further setpoint."""
        self._playback = None
        self._setpoints.fall_silent()
        self.schedule.drop(TRAJECTORY)
        self.operator.settle(self.schedule.now, reason)

    def _attend(self) -> None:
        """Let sensor, reader and estimator do what is due."""
        assert self._sensing is not None
        due = self._sensing.attend()
        self.schedule.at(due, SENSOR, self._attend)

    def _tell_truth(self) -> None:
        state = self.machine.truth()
        assert state is not None
        stamp = round(self.machine.mechanics.time * NANOSECONDS)
        self._truth.look(self.schedule.now, stamp, state)


def _because(refusal: str) -> str:
    return f', {refusal}' if refusal else ''
