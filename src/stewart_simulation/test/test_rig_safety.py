# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What protects the platform, shown on a whole rig: kinematics, driver and simulated drives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from node_harness import Harness
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.nodes.driver import Driver
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.nodes.forward_kinematics import ForwardKinematics
from stewart_kinematics.nodes.inverse_kinematics import InverseKinematics
from stewart_kinematics.trajectories import Cycloidal
from stewart_node_support.hot_messages import SetpointWriter
from stewart_node_support.lifecycle import bring_up
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import to_nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.installed]

VIGO = load_platform('vigo')
NEUTRAL = VIGO.geometry.neutral_pose
PERIOD_NS = 20_000_000
# None of the rules depends on these times.
PATIENCE = {
    'playout_delay': 0.1,
    'extrapolation_time': 0.1,
    'command_timeout': 0.5,
    'simulated.cycle_time': 0.005,
    'publish_rate': 100.0,
}
# Sideways, up and turning, so that every leg has a rate of its own; fastest after 1.2 s.
TARGET = Pose.from_rpy(NEUTRAL.position + np.array([0.05, 0.03, 0.15]), (0.05, -0.03, 0.1))
MOVE = Cycloidal(NEUTRAL, TARGET, 2.4)
FASTEST_NS = 1_200_000_000
# The motors have none: for a test that is about something else than how legs sink without power.
BRAKES = {
    'simulated.brake': True,
    'simulated.brake_apply_s': 0.0,
    'simulated.brake_release_s': 0.0,
}


class SafeRig(Harness):
    """A whole rig, enabled, with the test in the place of its trajectory nodes.

    Attributes:
        commands, legs, poses, states: What was said on ``joint_commands``, ``actuator_states``,
            ``platform/pose`` and ``driver/state``.
    """

    def __init__(self, **options: Any) -> None:
        """Start the nodes, the driver with more parameters, and enable it."""
        super().__init__()
        self.commands: list[Any] = self.listen(JointState, 'joint_commands')
        self.legs: list[Any] = self.listen(JointState, 'actuator_states', SENSOR_QOS)
        self.poses: list[Any] = self.listen(PoseStamped, 'platform/pose', SENSOR_QOS)
        self.states: list[Any] = self.listen(DriverState, 'driver/state', STATE_QOS)
        self.inverse: Any = self.add(InverseKinematics)
        self.add(ForwardKinematics)
        bring_up(self.add(Driver, **PATIENCE, **options))
        self._writer = cache(SetpointWriter)
        self._setpoints = self.talk(PlatformSetpoint, 'setpoint', COMMAND_QOS)
        self.discover(lambda: self._setpoints.get_subscription_count() == 1)
        assert self.call(Trigger, 'driver/enable').success
        self.until(lambda: self.states and self.states[-1].state == DriverState.ENABLED)
        self.states.clear()

    def now(self) -> int:
        """Return the time [ns]."""
        return int(self.probe.get_clock().now().nanoseconds)

    def say(self, source: str, motion: Motion, stamp: int) -> None:
        """Publish a setpoint and let it be executed or refused."""
        tally = self.inverse.refusals
        before = tally.accepted + tally.refused
        self._setpoints.publish(self._writer(source).write(stamp, motion))
        self.until(lambda: tally.accepted + tally.refused > before)

    def play(
        self,
        begin: int,
        first_ns: int,
        last_ns: int,
        also: Callable[[int], None] | None = None,
        move: Cycloidal = MOVE,
    ) -> None:
        """Play a part of a move in its time, and let `also` act beside every setpoint."""
        for elapsed in range(first_ns, last_ns, PERIOD_NS):
            self.until(lambda due=begin + elapsed: self.now() >= due)
            self.say('mine', move.sample(elapsed * 1e-9), begin + elapsed)
            if also is not None:
                also(begin + elapsed)

    def strokes(self) -> np.ndarray:
        """Return the measured strokes, shape (n, 6) [m]."""
        return np.array([list(message.position) for message in self.legs])

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return stamps [s] and measured rates, shape (n, 6) [m/s]."""
        stamps = np.array([to_nanoseconds(message.header.stamp) for message in self.legs])
        rates = np.array([list(message.velocity) for message in self.legs])
        return (stamps - stamps[0]) * 1e-9, rates

    def state_names(self) -> list[int]:
        """Return the states since enabling, each once where it is told again with news."""
        return [state for state, _ in groupby(message.state for message in self.states)]


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[SafeRig]:
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    with SafeRig() as made:
        yield made


@pytest.fixture
def braked_rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[SafeRig]:
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    with SafeRig(**BRAKES) as made:
        yield made


def require_common_stop_without_a_step(rig: SafeRig) -> None:
    """Check that all legs slowed down on one path, at no more than their acceleration limit."""
    time, rates = rig.rates()
    speed = np.linalg.norm(rates, axis=1)
    fast = np.flatnonzero(speed > 0.9 * speed.max())[-1]
    slow = fast + np.flatnonzero(speed[fast:] < 0.1 * speed.max())[0]
    quickest = 0.8 * np.abs(rates).max() / VIGO.limits.acceleration

    assert time[slow] - time[fast] > quickest
    stopping = rates[fast:slow] / speed[fast:slow, None]
    assert stopping == pytest.approx(np.tile(stopping[0], (len(stopping), 1)), abs=0.1)


def require_rest(rig: SafeRig, seconds: float = 0.3) -> None:
    """Check that no leg has moved for some time."""
    time, _ = rig.rates()
    late = rig.strokes()[time > time[-1] - seconds]

    assert len(late) > 10
    assert np.ptp(late, axis=0).max() < 5e-5


def test_second_source_gets_no_word_in_and_changes_nothing(rig: SafeRig) -> None:
    mine = rig.now()
    theirs: list[int] = []
    said: list[int] = []

    def interrupt(stamp: int) -> None:
        said.append(stamp)
        theirs.append(stamp + 1_000_000)
        rig.say('theirs', Motion.at_rest(NEUTRAL), theirs[-1])

    rig.play(mine, 0, round(MOVE.duration * 1e9) + PERIOD_NS, interrupt)
    rig.spin(0.5)

    executed = {to_nanoseconds(message.header.stamp) for message in rig.commands}
    assert executed == set(said)
    assert not executed & set(theirs)
    assert 'theirs must wait: mine' in rig.inverse.refusals.reason
    assert rig.state_names() == []
    pose = rig.poses[-1].pose.position
    assert [pose.x, pose.y, pose.z] == pytest.approx(TARGET.position, abs=1e-3)


def nothing(motion: Motion, stamp: int) -> None:
    """Say nothing more."""


def no_number(motion: Motion, stamp: int) -> tuple[Motion, int]:
    """Say a position that is none."""
    return replace(motion, position=np.array([np.nan, 0.0, 0.0])), stamp


def out_of_reach(motion: Motion, stamp: int) -> tuple[Motion, int]:
    """Say a position beyond the strokes."""
    return replace(motion, position=motion.position + np.array([0.0, 0.0, 1.0])), stamp


def jump(motion: Motion, stamp: int) -> tuple[Motion, int]:
    """Say a position that could be reached, but not from here."""
    return replace(motion, position=motion.position - np.array([0.1, 0.0, 0.0])), stamp


def stale(motion: Motion, stamp: int) -> tuple[Motion, int]:
    """Say what would have been right two seconds ago."""
    return motion, stamp - 2_000_000_000


@pytest.mark.parametrize(
    'fault', [nothing, no_number, pytest.param(out_of_reach, marks=pytest.mark.slow), jump, stale]
)
def test_refused_stale_or_missing_setpoints_bring_all_legs_to_rest_without_a_step(
    rig: SafeRig, fault: Callable[[Motion, int], tuple[Motion, int] | None]
) -> None:
    begin = rig.now()
    rig.play(begin, 0, FASTEST_NS)
    rig.until(lambda: len(rig.commands) == FASTEST_NS // PERIOD_NS)
    for elapsed in range(FASTEST_NS, FASTEST_NS + 900_000_000, PERIOD_NS):
        rig.until(lambda due=begin + elapsed: rig.now() >= due)
        wrong = fault(MOVE.sample(elapsed * 1e-9), begin + elapsed)
        if wrong is not None:
            rig.say('mine', *wrong)

    assert rig.state_names() == [DriverState.STOPPING, DriverState.ENABLED]
    assert 'no command' in rig.states[-1].reason
    require_common_stop_without_a_step(rig)
    require_rest(rig)


def test_after_a_stop_a_path_in_motion_moves_nothing(rig: SafeRig) -> None:
    begin = rig.now()
    rig.play(begin, 0, FASTEST_NS)
    rig.until(lambda: rig.state_names() == [DriverState.STOPPING, DriverState.ENABLED])
    held = rig.strokes()[-1]
    resumed = rig.now() - begin
    rig.play(begin, resumed, resumed + 600_000_000)

    assert rig.state_names() == [DriverState.STOPPING, DriverState.ENABLED]
    assert len(rig.commands) > FASTEST_NS // PERIOD_NS
    assert rig.strokes()[-1] == pytest.approx(held, abs=2e-4)
    require_rest(rig)


def test_nothing_moves_after_a_quick_stop_though_setpoints_go_on(braked_rig: SafeRig) -> None:
    rig = braked_rig
    client = rig.probe.create_client(Trigger, 'driver/quick_stop')
    rig.discover(client.service_is_ready)
    begin = rig.now()
    rig.play(begin, 0, FASTEST_NS)
    answer = client.call_async(Trigger.Request())
    rig.play(begin, FASTEST_NS, 2 * FASTEST_NS)

    assert answer.result().success
    assert rig.state_names() == [DriverState.STOPPING, DriverState.DISABLED]
    require_rest(rig)

    held = rig.strokes()[-1]
    assert rig.call(Trigger, 'driver/enable').success
    rig.until(lambda: rig.state_names()[-1] == DriverState.ENABLED)
    # Still the same path, which did not begin here, nor at rest.
    rig.play(rig.now() - FASTEST_NS, FASTEST_NS, 2 * FASTEST_NS)
    assert rig.strokes()[-1] == pytest.approx(held, abs=2e-4)
    require_rest(rig)


def test_motion_at_the_limits_of_the_platform_is_no_tracking_error(rig: SafeRig) -> None:
    away = np.array([0.0, 0.0, 0.25])
    low, high = (Pose(NEUTRAL.position + way, NEUTRAL.quaternion_xyzw) for way in (-away, away))
    for start, target in ((NEUTRAL, low), (low, high)):
        move = Cycloidal.fastest(start, target, VIGO.limits)
        rig.play(rig.now(), 0, round(move.duration * 1e9) + PERIOD_NS, move=move)
        rig.spin(0.5)

    assert rig.state_names() == []
    assert rig.poses[-1].pose.position.z == pytest.approx(high.position[2], abs=1e-3)
