# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who stops a wave is told when the platform rests, or that it was cut off on its way home."""

from __future__ import annotations

from functools import partial
import math
from typing import Any

import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from std_srvs.srv import Trigger
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.stop_operator import StopOperator
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.motion import Pose
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.running import spin
from stewart_node_support.stop_signals import StopSignals
from straw_rig import Stepped

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('context')]

PERIOD, DELAY, RATE = 0.01, 0.2, 0.05
CUT = 'nothing is being played; the last motion was aborted 0.5 s ago: no command in time'


class Wave(Node):
    """Sink for a while [s] once it is asked to stop; the platform follows later."""

    def __init__(self, lasts: float, pause: float, cut: bool) -> None:
        super().__init__('ocean_trajectory')
        self._lasts, self._pause, self._cut = lasts, pause, cut
        self.short, self.platform, self.turned = 0.0, '', 0.0
        self.asked: list[float] = []
        self._setpoints = self.create_publisher(PlatformSetpoint, 'setpoint', COMMAND_QOS)
        self._poses = self.create_publisher(PoseStamped, 'platform/pose', SENSOR_QOS)
        self._states = self.create_publisher(DriverState, 'driver/state', STATE_QOS)
        self._states.publish(DriverState(state=DriverState.ENABLED))
        self.create_service(Trigger, 'ocean/stop', self._stop)
        self._reports = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.create_timer(PERIOD, self._tick)
        self.create_timer(0.5, self._report)

    @property
    def now(self) -> float:
        return 1e-9 * float(self.get_clock().now().nanoseconds)

    def height(self, ago: float) -> float:
        since = self.now - self.asked[0] - ago if self.asked else 0.0
        return 2.0 - RATE * min(max(since, 0.0), self._lasts)

    def _stop(self, _: Any, response: Trigger.Response) -> Trigger.Response:
        self.asked.append(self.now)
        over = self.now - self.asked[0] > self._lasts
        response.success = not over
        ended = CUT if self._cut else 'nothing is being played'
        response.message = ended if over else 'on the way home already'
        return response

    def _report(self) -> None:
        if self.platform:
            status = DiagnosticStatus(name=f'{self.get_name()}: motion', hardware_id=self.platform)
            self._reports.publish(DiagnosticArray(status=[status]))

    def _tick(self) -> None:
        pose = PoseStamped()
        pose.header.stamp = self.get_clock().now().to_msg()
        lowest = 2.0 - RATE * self._lasts + self.short
        pose.pose.position.z = max(self.height(DELAY), lowest)
        pose.pose.orientation.z = math.sin(0.5 * self.turned)
        pose.pose.orientation.w = math.cos(0.5 * self.turned)
        self._poses.publish(pose)
        since = self.now - self.asked[0] if self.asked else 0.0
        # In the middle the process gets no processor for a while.
        waits = 0.3 < since < 0.3 + self._pause
        if not self.asked or waits or since > self._lasts + PERIOD:
            return
        moves = self._cut or since < self._lasts
        for source in ('ocean_trajectory', 'somebody_else'):
            setpoint = PlatformSetpoint(source=source)
            setpoint.pose.position.z = self.height(0.0)
            setpoint.twist.linear.z = -RATE if moves or source != self.get_name() else 0.0
            self._setpoints.publish(setpoint)


def stop(wave: Wave) -> Pose:
    """Stop the wave; return where the platform rests."""
    operator = StopOperator(StopSignals())
    task = partial(operator.stop, 'ocean_trajectory', 'ocean/stop', lambda _: None)
    place: Pose = spin([wave, operator], task=task, stop=StopSignals(), pace=Stepped())
    return place


@pytest.mark.parametrize('pause', [0.0, 0.8], ids=['', 'a busy machine'])
def test_a_wave_has_ended_when_the_platform_rests(pause: float) -> None:
    wave = Wave(2.0, pause, cut=False)
    assert stop(wave).position[2] == pytest.approx(1.9, abs=1e-4)
    assert wave.now - wave.asked[0] > 2.0 + DELAY
    # Who waits for setpoints in vain asks what has become of them.
    assert len(wave.asked) == (2 if pause else 1)


def test_a_wave_that_was_cut_off_on_its_way_home_is_told_with_the_reason() -> None:
    with pytest.raises(RequestRefused, match=f'ocean/stop: {CUT}'):
        stop(Wave(1.0, 0.0, cut=True))


@pytest.mark.parametrize(
    ('platform', 'short', 'far'),
    [
        ('', 0.019, False),
        ('', 0.021, True),
        ('vigo', 0.019, False),
        ('sg90_rotary', 0.004, False),
        ('sg90_rotary', 0.006, True),
    ],
)
def test_a_platform_that_rests_elsewhere_is_told_by_its_size(
    platform: str, short: float, far: bool
) -> None:
    wave = Wave(1.0, 0.0, cut=False)
    wave.platform, wave.short = platform, short
    if far:
        with pytest.raises(RequestRefused, match=f'rests {1e3 * short:.3g} mm and 0.0° from'):
            stop(wave)
    else:
        assert stop(wave).position[2] == pytest.approx(1.95 + short, abs=1e-4)


def test_a_platform_that_rests_turned_is_told() -> None:
    wave = Wave(1.0, 0.0, cut=False)
    wave.turned = 0.1
    with pytest.raises(RequestRefused, match=r'and 5\.7° from where it was sent'):
        stop(wave)
