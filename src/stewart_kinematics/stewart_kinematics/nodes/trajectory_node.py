# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the trajectory nodes share: a stream of setpoints sampled from the clock."""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleState
from stewart_interfaces.msg import PlatformSetpoint
from stewart_kinematics.control.playback import Hearing, Playback
from stewart_kinematics.errors import StewartError
from stewart_kinematics.limits.continuity import LONGEST_STEP
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.nodes.following import Following
from stewart_kinematics.nodes.parameters import TrajectoryParameters
from stewart_kinematics.nodes.start_pose import NOTHING_PLAYED, NotReady, NotYet, StartPose
from stewart_kinematics.trajectories import Trajectory
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import SetpointWriter
from stewart_node_support.lifecycle import ManagedNode, state_of, transition
from stewart_node_support.parameters import declare, read
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS

# Setpoints that are further apart, inverse kinematics does not believe while the platform moves;
# of many at once it hears ten. After a longer silence the driver has stopped the legs [ns].
WIDEST_GAP, LONGEST_GAP = round(LONGEST_STEP * 1e9), 1_000_000_000


class TrajectoryNode(ManagedNode):
    """Publish ``setpoint`` while a trajectory is played; silent before, and after it came to rest.

    Each setpoint is sampled at the node's clock, so a late timer skips samples and never slows
    the motion down; a gap that nobody would bridge is filled. When the driver leaves ENABLED, the
    node is deactivated, or its clock leaps by more than a second, it falls silent at once: the
    driver then brings the legs to rest along one common path.

    The node's name is the source of its setpoints. A subclass starts and swaps trajectories with
    `play` and overrides the hooks `prepare`, `before_sample`, `on_sample`, `on_rest` and
    `on_abort`.
    """

    def __init__(self, name: str, parameters: type[TrajectoryParameters], **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._cls = parameters
        self.parameters: Any = declare(self, parameters)
        self.guard: MotionGuard | None = None
        self.playback: Playback | None = None
        self.refusal = self.aborted = ''
        # Why what was asked last is refused; empty once a motion is played.
        self._aborted_ns, self._why_refused = 0, ''
        self._timer: Any = None
        self._hearing = Hearing(self.parameters.patience)
        self._following: Following | None = None
        # When the last setpoint was said [ns], and whether another trajectory is played since.
        self.said_ns, self._is_new = 0, False
        self.published: dict[str, CountedPublisher] = {}
        self._setpoints = CountedPublisher(self, PlatformSetpoint, 'setpoint', COMMAND_QOS)
        self._writer = SetpointWriter(self.get_name())
        self.start_pose = StartPose(
            self, self.abort, silence=self.parameters.silence, pose_age=self.parameters.pose_age
        )
        self.diagnostics = Diagnostics(self, self.parameters.platform)
        self.diagnostics.add('motion', self._report)

    @transition
    def on_configure(self, _: LifecycleState) -> None:
        """Read the platform and everything that `prepare` needs."""
        self.parameters = read(self, self._cls)
        # What inverse_kinematics refuses, a stop above all, must not be planned.
        self.guard = MotionGuard(
            load_platform(self.parameters.platform), scale=self.parameters.limit_scale
        )
        self.start_pose.travel = self.guard.platform.travel
        self.prepare(self.guard)

    @transition
    def on_activate(self, _: LifecycleState) -> None:
        """Be ready to play."""
        self._timer = self.create_timer(1.0 / self.parameters.rate, self._tick)
        self._timer.cancel()

    @transition
    def on_deactivate(self, _: LifecycleState) -> None:
        """Fall silent at once."""
        self.abort('the node was deactivated')
        self.destroy_timer(self._timer)

    @transition
    def on_cleanup(self, _: LifecycleState) -> None:
        """Forget the platform."""
        self.guard = None

    @transition
    def on_shutdown(self, _: LifecycleState) -> None:
        """Fall silent at once, for nobody can deactivate the node any more."""
        self.abort('the node was shut down')
        if self._timer is not None:
            self.destroy_timer(self._timer)
        self.guard = None

    on_error = on_shutdown

    def prepare(self, guard: MotionGuard) -> None:
        """Make what is played from the parameters; called when the node is configured."""

    def before_sample(self, now: int) -> None:
        """Choose what is played from an instant [ns] on, with `continue_with`."""

    def on_sample(self, elapsed: float, motion: Motion) -> None:
        """Take note of a setpoint that was published, at the playback's time [s]."""

    def on_rest(self) -> None:
        """Take note that the trajectory has ended."""

    def on_abort(self, reason: str) -> None:
        """Take note that the trajectory was cut off."""

    def require_start(self) -> tuple[Pose, MotionGuard]:
        """Return where a motion has to start, and its judge.

        Raises:
            NotReady: If no motion can start now; the message says why. NotYet where that may pass.
        """
        if self.guard is None or state_of(self) != 'active':
            raise NotYet(f'{self.get_name()} is {state_of(self)}, not active')
        if self.playback is not None:
            raise NotReady('another motion is being played')
        return self.start_pose.require(), self.guard

    def play(self, trajectory: Trajectory, begin: int | None = None) -> None:
        """Play a trajectory from now on, in place of the one being played, if any.

        Args:
            trajectory: It ends at rest, or never.
            begin: Instant of its time 0 on the node's clock [ns]; now by default. The trajectory
                being played must agree with it at this moment.
        """
        now = self.get_clock().now().nanoseconds
        if self.said_ns >= now:
            self.said_ns = now  # the clock may have been set back since
        elif self.playback is None:
            self.said_ns = 0  # what was said last belongs to another motion
        if self.playback is None:
            self._following = Following(self.start_pose)
        self.playback = Playback(trajectory, now if begin is None else begin)
        self.aborted = self._why_refused = ''
        self._hearing.begin_anew()
        self._timer.reset()
        # Simulated time stands still within an instant, and a stream has one sample for each.
        if now > self.said_ns:
            self._publish(now)

    def continue_with(self, trajectory: Trajectory) -> None:
        """Play a trajectory on the time of the one being played, with which it agrees now."""
        assert self.playback is not None
        self.playback = Playback(trajectory, self.playback.begin)
        self._is_new = True

    def moment(self) -> tuple[int, float]:
        """Return the present instant [ns] and the time of the trajectory being played [s]."""
        assert self.playback is not None
        now = self.get_clock().now().nanoseconds
        return now, self.playback.elapsed(now)

    def abort(self, reason: str) -> None:
        """Fall silent at once, if anything is being played."""
        if self.playback is None:
            return
        self._stop_playing()
        self.aborted, self._aborted_ns = reason, self.get_clock().now().nanoseconds
        self.get_logger().warning(f'aborted: {reason}')
        self.on_abort(reason)

    def nothing_to_stop(self) -> NotReady:
        """Return the refusal of a stop: it tells if the last motion was cut off, when and why."""
        if not self.aborted:
            return NotReady(NOTHING_PLAYED)
        ago = 1e-9 * (self.get_clock().now().nanoseconds - self._aborted_ns)
        said = f'the last motion was aborted {ago:.1f} s ago: {self.aborted}'
        return NotReady(f'{NOTHING_PLAYED}; {said}')

    def refuse(self, error: StewartError | ValueError) -> str:
        """Note and log why a request was refused; return the reason."""
        self.refusal = self._why_refused = str(error)
        self.get_logger().warning(f'refused: {self.refusal}')
        return self.refusal

    def _tick(self) -> None:
        now = self.get_clock().now().nanoseconds
        for instant in self._missed(now):
            # What came to its end may have been followed by another.
            if self.playback is not None and instant > self.said_ns:
                self._publish(instant)
                now = self.get_clock().now().nanoseconds
        if self.playback is not None:
            self._publish(now)
        playback, executed = self.playback, self.start_pose.own_executed
        if playback is not None and self._hearing.lost(playback.elapsed(now), executed):
            self.abort('inverse_kinematics executes nothing: its diagnostics tell why')
        elif playback is not None and self._following is not None:
            self._look_who_follows(self._following)

    def _look_who_follows(self, following: Following) -> None:
        try:
            following.require()
        except NotReady as error:
            self.abort(str(error))
        except MessageError as error:
            self.refusal = str(error)

    def _missed(self, now: int) -> range:
        """Return the instants [ns] to be made up for: this process may have got no processor."""
        gap = now - self.said_ns
        if self._is_new or not max(WIDEST_GAP, 2e9 / self.parameters.rate) < gap <= LONGEST_GAP:
            return range(0)
        return range(self.said_ns + WIDEST_GAP, now, WIDEST_GAP)

    def _publish(self, now: int) -> None:
        """Publish the setpoint of an instant [ns]."""
        if now < self.said_ns:
            self.abort(f'the clock was set back by {1e-9 * (self.said_ns - now):.3g} s')
            return
        silent = now - self.said_ns
        # Nobody follows any more, and what is sampled step by step would catch up for long.
        if self.said_ns and silent > max(LONGEST_GAP, 2e9 / self.parameters.rate):
            self.abort(
                f'no setpoint for {1e-9 * silent:.3g} s: the clock leapt ahead, or this process '
                'stood still'
            )
            return
        self.before_sample(now)
        playback = self.playback
        assert playback is not None
        elapsed, motion = playback.elapsed(now), playback.sample(now)
        self._setpoints.publish(self._writer.write(now, motion))
        self.said_ns, self._is_new = now, False
        if self._following is not None:
            self._following.say(now, motion.pose)
        self.on_sample(elapsed, motion)
        ended, executed = elapsed >= playback.trajectory.duration, self.start_pose.own_executed
        # Whoever took note may have aborted it.
        if self.playback is playback and ended and playback.over(now, executed()):
            self._stop_playing()
            self.on_rest()

    def _stop_playing(self) -> None:
        self.playback = None
        self._timer.cancel()

    def _report(self) -> Report:
        values = {
            'state': state_of(self),
            'setpoints': self._setpoints.count,
            'last_refusal': self.refusal or 'none',
        }
        if self.playback is not None:
            return Report(Level.OK, f'playing for {self.moment()[1]:.1f} s', values)
        if self.aborted:
            return Report(Level.WARN, f'aborted: {self.aborted}', values)
        why = self._why_refused
        refused = f'; what was asked last is refused: {why}' if why else ''
        return Report(Level.OK, f'silent{refused}', values)
