# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``control_msgs/FollowJointTrajectory`` for the six legs: what tools for robot arms send.

As ros2_control's joint_trajectory_controller understands it, but for this: every setpoint passes
the guard, so a goal that breaks a limit is refused before it begins; between points without
velocities there are splines, not straight lines, whose corners no platform can follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from math import inf, isnan
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.time import Time
from sensor_msgs.msg import JointState
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.leg_path import leg_path, LegPath, LegPoints
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.nodes.goals import Ending, Planning
from stewart_kinematics.nodes.start_pose import LONG_AFTER, NotReady, StartPose
from stewart_node_support.conversions import header_msg
from stewart_node_support.errors import MessageError
from stewart_node_support.inbox import Inbox
from stewart_node_support.legs import LEG_NAMES, leg_reader
from stewart_node_support.qos import newest, SENSOR_QOS
from stewart_node_support.stamps import NANOSECONDS, to_nanoseconds

NAME = 'legs/follow_joint_trajectory'

LATEST, FARTHEST = 1.0, 60.0
"""A goal may be stamped that long ago, and begin that much later [s]."""


def leg_goals(node: Any, start_pose: StartPose) -> list[LegGoals]:
    """Return the action for a node, if this machine has control_msgs: it comes with ROS only."""
    return [LegGoals(node, start_pose)] if find_spec('control_msgs') else []


class LegGoals:
    """``legs/follow_joint_trajectory``: the legs through points."""

    name = NAME

    def __init__(self, node: Any, start_pose: StartPose) -> None:
        from control_msgs.action import FollowJointTrajectory
        from trajectory_msgs.msg import JointTrajectoryPoint

        self.action: Any = FollowJointTrajectory
        self._point: Any = JointTrajectoryPoint
        self._node, self._start_pose = node, start_pose
        self._legs = Inbox(node, JointState, 'actuator_states', newest(SENSOR_QOS))
        self._reader = leg_reader()
        self._on_the_way = self._at_the_end = np.full(6, inf)
        self._patience = LONG_AFTER
        self._code = 0

    def plan(self, goal: Any, start: Pose, guard: MotionGuard) -> Planning:
        """Plan the way through the points."""
        for name in ('component_path_tolerance', 'component_goal_tolerance'):
            _require_none(name, getattr(goal, name, []))
        _require_none('multi_dof_trajectory', goal.multi_dof_trajectory.points)
        on_the_way = _tolerance('path_tolerance', goal.path_tolerance)
        at_the_end = _tolerance('goal_tolerance', goal.goal_tolerance)
        if (patience := _seconds(goal.goal_time_tolerance)) < 0.0:
            raise ConfigurationError('goal_time_tolerance', patience, 'a time of at least 0 s')
        begin = to_nanoseconds(goal.trajectory.header.stamp)
        self._wait(begin)
        way: LegPath = yield from leg_path(_points(goal.trajectory), start, guard)
        self._on_the_way, self._at_the_end = on_the_way, at_the_end
        self._patience = patience or LONG_AFTER
        self._code = self.action.Result.INVALID_GOAL
        return way.after(self._wait(begin))

    def _wait(self, stamp: int) -> float:
        """Return how long after now a goal begins that is stamped so [ns]; 0: at once."""
        if not stamp:
            return 0.0
        wait = (stamp - self._node.get_clock().now().nanoseconds) / NANOSECONDS
        if not -LATEST <= wait <= FARTHEST:
            expected = f'0 or a time from {LATEST:g} s ago to {FARTHEST:g} s from now'
            raise ConfigurationError('header.stamp', f'{wait:+.3f} s from now', expected)
        return max(wait, 0.0)

    def feedback(self, way: LegPath, elapsed: float, motion: Motion) -> Any:
        """Return where the legs are and should be at the instant of the last measurement."""
        measured = self._measured()
        if measured is None:
            return None
        stamp, actual = measured
        time = self._time_of(stamp, way)
        desired = list(way.at(way.wait + time))
        error = [wanted - there for wanted, there in zip(desired, actual, strict=False)]
        header = header_msg(Time(nanoseconds=stamp).to_msg(), '')
        feedback = self.action.Feedback(header=header, joint_names=list(LEG_NAMES))
        feedback.desired = self._said(desired, time)
        feedback.actual, feedback.error = self._said(actual, time), self._said(error, time)
        return feedback

    def _said(self, parts: Sequence[Array], time: float) -> Any:
        point = self._point(time_from_start=Duration(seconds=time).to_msg())
        for name, part in zip(('positions', 'velocities', 'accelerations'), parts, strict=False):
            setattr(point, name, part.tolist())
        return point

    def _measured(self) -> tuple[int, list[Array]] | None:
        """Return stamp [ns] and positions (6,), maybe velocities, too, as measured last."""
        data = self._legs.newest()
        try:
            legs = None if data is None else self._reader.read(data)
        except MessageError:
            # Forward kinematics complains of the same message.
            return None
        if legs is None or legs.position is None:
            return None
        # What is not measured stays empty.
        return legs.stamp, [part for part in legs[1:3] if part is not None]

    def _time_of(self, stamp: int, way: LegPath) -> float:
        """Return the time after the wait [s] that the driver plays at an instant [ns]."""
        playback = self._node.playback
        played = stamp - round(self._start_pose.playout_delay * NANOSECONDS)
        elapsed = way.sequence.duration if playback is None else playback.elapsed(played)
        return max(elapsed - way.wait, 0.0)

    def supervise(self, way: LegPath) -> None:
        """Raise `NotReady` if a leg is farther from its way than the goal allows."""
        if np.isinf(self._on_the_way).all() or (measured := self._measured()) is None:
            return
        # At a lower speed scaling the path is behind what was said, and that is no error.
        if self._start_pose.may_be_behind:
            return
        stamp, (there, *_) = measured
        wanted = way.at(way.wait + self._time_of(stamp, way))[0]
        self._require_near(there, wanted, self._on_the_way, 'PATH')

    def arrived(self, way: LegPath, late: float) -> bool:
        """Tell whether every leg is as near to its end as the goal asks for."""
        measured = self._measured()
        try:
            if measured is not None:
                end = way.at(way.sequence.duration)[0]
                self._require_near(measured[1][0], end, self._at_the_end, 'GOAL')
        except NotReady:
            if late > self._patience:
                raise
            return False
        return True

    def _require_near(self, there: Array, wanted: Array, allowed: Array, which: str) -> None:
        away = np.abs(there - wanted)
        if (away > allowed).any():
            leg = int((away - allowed).argmax())
            self._code = getattr(self.action.Result, f'{which}_TOLERANCE_VIOLATED')
            raise NotReady(
                f'{LEG_NAMES[leg]} is {away[leg]:.3g} from where it should be, '
                f'allowed are {allowed[leg]:g}'
            )

    def result(
        self, way: LegPath, elapsed: float, motion: Motion, ending: Ending, message: str
    ) -> Any:
        """Return how it ended."""
        codes = self.action.Result
        if ending != Ending.ABORTED:
            code = codes.SUCCESSFUL
        elif elapsed >= way.sequence.duration:
            code = codes.GOAL_TOLERANCE_VIOLATED
        else:
            code = self._code
        return codes(error_code=code, error_string=message)


def _points(trajectory: Any) -> LegPoints:
    """Return the points of a message, with the legs in order."""
    names = list(trajectory.joint_names)
    if sorted(names) != list(LEG_NAMES):
        raise ConfigurationError('joint_names', names, f'{", ".join(LEG_NAMES)}, once each')
    order = [names.index(name) for name in LEG_NAMES]
    _require_none('effort of points', [p for p in trajectory.points if len(p.effort)])

    def values(name: str) -> Array | None:
        rows = [list(getattr(point, name)) for point in trajectory.points]
        if name != 'positions' and not any(rows):
            return None
        if any(len(row) != 6 for row in rows):
            sizes = sorted({len(row) for row in rows})
            raise ConfigurationError(name, f'{sizes} numbers', 'six in every point')
        return np.array(rows, dtype=float).reshape(-1, 6)[:, order]

    time = np.array([_seconds(point.time_from_start) for point in trajectory.points])
    positions = values('positions')
    assert positions is not None
    return LegPoints(time, positions, values('velocities'), values('accelerations'))


def _tolerance(name: str, items: Sequence[Any]) -> Array:
    """Return how far each leg may be from where it should be; infinite where nothing is asked."""
    allowed = np.full(6, inf)
    for item in items:
        if item.name not in LEG_NAMES:
            raise ConfigurationError(name, item.name, 'leg_1 to leg_6')
        if item.velocity > 0.0 or item.acceleration > 0.0:
            raise ConfigurationError(name, item.name, 'positions alone: of rates none is kept')
        if isnan(item.position):
            raise ConfigurationError(name, item.position, f'a number for {item.name}')
        if item.position > 0.0:
            allowed[LEG_NAMES.index(item.name)] = item.position
    return allowed


def _require_none(name: str, items: Sequence[Any]) -> None:
    if len(items):
        raise ConfigurationError(name, f'{len(items)} of them', 'none: it is not followed')


def _seconds(duration: Any) -> float:
    return float(duration.sec + 1e-9 * duration.nanosec)
