# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a move begins, on a machine that delivers poses late and many at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from node_harness import Harness
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.move_operator import MoveOperator, STATUS
from stewart_bringup.nodes.sequence_operator import SequenceOperator
from stewart_interfaces.action import MovePlatform
from stewart_kinematics.errors import MotionRefused
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_node_support import rig_time
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS
from stewart_node_support.stamps import from_nanoseconds
from stewart_node_support.stop_signals import StopSignals

pytestmark = pytest.mark.ros


def test_rest_is_judged_by_the_stamps_of_the_poses() -> None:
    with Harness() as harness:
        operator = harness.add(partial(MoveOperator, StopSignals()))
        poses = harness.talk(PoseStamped, 'platform/pose', SENSOR_QOS)
        here = harness.probe.executor.create_task(operator.reference, 'here')

        # The first two were measured one after the other, before the platform moved.
        for milliseconds, height in ((0, 1.0), (10, 1.0), (900, 1.1), (1300, 1.1)):
            assert not here.done()
            message = PoseStamped()
            message.header.stamp = from_nanoseconds(milliseconds * 1_000_000)
            message.pose.position.z = height
            poses.publish(message)
            harness.spin(0.4)

        assert here.result().position[2] == 1.1


def test_why_a_move_was_refused_is_told_by_a_rig_that_stands_still_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rig_time, 'time', SimpleNamespace(monotonic=lambda: 0.0))
    with Harness() as harness:
        operator = harness.add(partial(MoveOperator, StopSignals()))
        clock = harness.talk(Clock, '/clock', COMMAND_QOS)
        reports = harness.talk(DiagnosticArray, '/diagnostics', COMMAND_QOS)
        why = harness.probe.executor.create_task(operator._refusal)
        # Its time has not come for long; the operator's own is later.
        harness.spin(0.1)
        clock.publish(Clock(clock=from_nanoseconds(5_000_000_000)))
        harness.spin(0.1)
        reason = KeyValue(key='last_refusal', value='the stroke of leg 3')
        message = DiagnosticArray(status=[DiagnosticStatus(name=STATUS, values=[reason])])
        message.header.stamp = from_nanoseconds(6_000_000_000)
        reports.publish(message)
        harness.until(why.done)
        assert why.result() == 'the stroke of leg 3'


def test_a_pose_where_the_platform_may_not_be_sent_is_not_taught(tmp_path: Path) -> None:
    with Harness() as harness:
        operator = harness.add(partial(SequenceOperator, StopSignals()))
        platform, path = load_platform('srs'), tmp_path / 'taught.yaml'
        place = platform.geometry.neutral_pose

        async def here(_: str) -> Pose:
            return place

        async def of_the_rig() -> Any:
            return platform

        operator.reference, operator.platform = here, of_the_rig
        create_task = harness.probe.executor.create_task
        home = create_task(operator.teach, path, 'home')
        harness.until(home.done)
        assert home.result()[0] == 1
        taught = path.read_text()
        # As it lies there without drives.
        place = Pose(place.position - [0.0, 0.0, 0.75], place.quaternion_xyzw)
        fallen = create_task(operator.teach, path, 'fallen')
        with pytest.raises(MotionRefused, match='no waypoint may be: stroke of leg 1 is '):
            harness.until(fallen.done)
        assert path.read_text() == taught


class Planner:
    """Stand in for the client of a node that plans, and then moves until it is cancelled."""

    def __init__(self) -> None:
        self.accepted, self.cancelled, self.over = Future(), False, Future()

    def server_is_ready(self) -> bool:
        return True

    def send_goal_async(self, *_: Any) -> Future:
        return self.accepted

    def get_result_async(self) -> Future:
        return self.over

    def cancel_goal_async(self) -> Future:
        self.cancelled = True
        result = MovePlatform.Result(code=MovePlatform.Result.CANCELED)
        self.over.set_result(SimpleNamespace(result=result))
        return self.over

    def destroy(self) -> None:
        """Do as a client does."""


@pytest.fixture
def planned() -> Iterator[tuple[Harness, StopSignals, Planner, Any]]:
    """Yield a graph, a request to stop, the planner, and a goal that was sent to it."""
    with Harness() as harness:
        stop, planner = StopSignals(), Planner()
        operator = harness.add(partial(MoveOperator, stop))
        operator._client.destroy()
        operator._client = planner
        goes = harness.probe.executor.create_task(operator.go, MovePlatform.Goal(), print)
        yield harness, stop, planner, goes


@pytest.mark.parametrize('stopped', ['before', 'after'])
def test_a_goal_is_waited_for_however_long_it_is_planned(
    planned: tuple[Harness, StopSignals, Planner, Any], stopped: str
) -> None:
    harness, stop, planner, goes = planned
    harness.spin(30.0)
    if stopped == 'before':
        stop.request()
        harness.spin(20.0)
    assert not goes.done()
    planner.accepted.set_result(
        SimpleNamespace(
            accepted=True,
            get_result_async=planner.get_result_async,
            cancel_goal_async=planner.cancel_goal_async,
        )
    )
    if stopped == 'after':
        harness.spin(1.0)
        assert not planner.cancelled
        stop.request()
    harness.until(goes.done)
    assert planner.cancelled
    assert goes.result()[0] is False


def test_a_goal_that_is_never_answered_may_still_be_accepted(
    planned: tuple[Harness, StopSignals, Planner, Any],
) -> None:
    harness, stop, _, goes = planned
    stop.request()
    with pytest.raises(RequestRefused, match='may still be accepted'):
        harness.until(goes.done, timeout=65.0)
