# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes share that go to a motion, play it, and come home."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

from std_srvs.srv import Trigger
from stewart_kinematics.errors import MotionRefused, StewartError, TrajectoryError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_fade_out, plan_move, plan_stop
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.parameters import ExcursionParameters
from stewart_kinematics.nodes.start_pose import NotReady
from stewart_kinematics.nodes.trajectory_node import TrajectoryNode
from stewart_kinematics.trajectories import Cycloidal, Faded, Sequence, Trajectory
from stewart_node_support.errors import MessageError

APPROACH, WAVE, HOME = range(3)  # parts of an excursion


class ExcursionNode(TrajectoryNode):
    """Serve ``<prefix>/start`` and ``<prefix>/stop``.

    Start: a cycloidal approach from where the platform is to the motion's centre, and the motion
    with its fade-in; a motion with an end then returns to the neutral pose. Stop: fade-out and
    return to the neutral pose; during the approach a stop along its path and the return. The
    answer comes at once, the motion afterwards.
    """

    def __init__(
        self, name: str, prefix: str, parameters: type[ExcursionParameters], **kwargs: Any
    ) -> None:
        super().__init__(name, parameters, **kwargs)
        self._wave: Faded | None = None
        self._impossible: StewartError | None = None
        self._excursion: Any = None
        self._homeward = False
        for service, act in (('start', self._start), ('stop', self._stop)):
            self.create_service(Trigger, f'{prefix}/{service}', partial(self._answer, act))

    @abstractmethod
    def make_motion(self, guard: MotionGuard) -> tuple[Trajectory, Pose]:
        """Make what is played from the parameters: the motion without fades, and its centre."""

    def prepare(self, guard: MotionGuard) -> None:
        """Make the motion, give it its fades and check it.

        A motion that this platform cannot do is refused when it is started, for the default one
        belongs to another platform, or to its limits at full scale; a file that cannot be read is
        an error now.
        """
        self._wave = self._impossible = None
        try:
            self._wave = self.parameters.faded(*self.make_motion(guard), guard)
        except (MotionRefused, TrajectoryError) as refusal:
            self._impossible = refusal
            misfit = f'{self._misfit()}; it is refused if it is started'
            if self.parameters.limit_scale < 1.0:
                # Who narrows the limits for a while need not give every motion another size.
                self.get_logger().info(misfit)
            else:
                self.get_logger().warning(misfit)

    def on_rest(self) -> None:
        """Take note that the platform is home."""
        self._excursion = None
        self.get_logger().info('at the neutral pose, at rest')

    def on_abort(self, reason: str) -> None:
        """Forget the way."""
        self._excursion = None

    def _misfit(self) -> str:
        scale = self.parameters.limit_scale
        within = f' at limit_scale {scale:g}' if scale < 1.0 else ''
        fits_not = f'the motion does not fit the platform {self.parameters.platform}{within}'
        return f'{fits_not}: {self._impossible}'

    def _answer(
        self, act: Callable[[], str], _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        try:
            response.message = act()
            response.success = True
        except (StewartError, MessageError) as error:
            response.message = self.refuse(error)
            response.success = False
        return response

    def _start(self) -> str:
        start, guard = self.require_start()
        if self._impossible is not None:
            raise NotReady(f'{self._misfit()}; choose another motion, or a smaller one')
        assert self._wave is not None
        self._excursion = self.parameters.excursion(start, self._wave, guard)
        self._homeward = False
        self.play(self._excursion)
        return f'approaching for {self._excursion.parts[APPROACH].duration:.2f} s'

    def _stop(self) -> str:
        if self.playback is None or self._excursion is None:
            raise self.nothing_to_stop()
        now, elapsed = self.moment()
        part = self._excursion.part_at(elapsed)
        if self._homeward or part == HOME:
            return 'on the way home already'
        try:
            if part == APPROACH:
                return self._halt(now, elapsed)
            since = elapsed - float(self._excursion.starts[WAVE])
            return self._fade_out(since) or self._halt(now, elapsed)
        except (MotionRefused, TrajectoryError) as refusal:
            self.abort(f'no way home is allowed: {refusal}')
            return 'aborted: the driver stops the platform'

    def _fade_out(self, since: float) -> str:
        """Let the wave shrink from its time `since` on [s]; empty if a limit forbids it."""
        assert self.guard is not None
        assert self.playback is not None
        approach, wave, *_ = self._excursion.parts
        if wave.duration - since > wave.fade_out:
            try:
                wave = plan_fade_out(wave, since, self.parameters.fade_out, self.guard)
            except (MotionRefused, TrajectoryError) as refusal:
                self.get_logger().warning(f'stopping instead of fading out: {refusal}')
                return ''
        self._excursion = Sequence((approach, wave, self._way_home(wave.centre, self.guard)))
        self._homeward = True
        self.play(self._excursion, self.playback.begin)
        return f'fading out for {wave.duration - since:.2f} s, then returning'

    def _halt(self, now: int, elapsed: float) -> str:
        """Come to rest along the way being travelled, and go home."""
        assert self.guard is not None
        stop = plan_stop(self._excursion, elapsed, self.guard)
        home = self._way_home(stop.sample(stop.duration).pose, self.guard)
        self._excursion = Sequence((stop, home))
        self._homeward = True
        self.play(self._excursion, now)
        return f'stopping for {stop.duration:.2f} s, then returning'

    def _way_home(self, start: Pose, guard: MotionGuard) -> Cycloidal:
        neutral = guard.platform.geometry.neutral_pose
        return plan_move(start, neutral, guard, scale=self.parameters.speed_scale)
