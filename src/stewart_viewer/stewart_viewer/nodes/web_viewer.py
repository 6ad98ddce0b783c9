# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform in a browser, live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TYPE_CHECKING

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_node_support.codec import finite, Layout, Reader
from stewart_node_support.conversions import STATE_NAMES, unit_quaternion
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import pose_reader, setpoint_reader
from stewart_node_support.legs import leg_reader
from stewart_node_support.parameters import declare
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_tables.progress import tell
from stewart_tables.settings import param
from stewart_viewer.bag_recorder import BagRecorder
from stewart_viewer.mailbox import Mailbox
from stewart_viewer.nodes.operator import GraphOperator
from stewart_viewer.nodes.platform_question import PlatformQuestion
from stewart_viewer.recognition import LiveComparison
from stewart_viewer.server import asked_token, check_address
from stewart_viewer.snapshot import DriveReport, Estimate, pose_at
from stewart_viewer.status import NOT_HEARD, UNKNOWN

if TYPE_CHECKING:
    from stewart_viewer.live import LiveView

WRONG = 'WRONG PLATFORM'
LOOK = 1.0
"""Time from one look for a driver to the next [s]."""


@dataclass(frozen=True)
class WebViewerParameters:
    """Parameters of the web viewer."""

    platform: str = param(
        '', "platform by name, or path of its YAML file; empty: forward_kinematics' own"
    )
    host: str = param('127.0.0.1', 'address; others than this machine need STEWART_TOKEN')
    port: int = param(8080, 'port to listen at; 0: any that is free', min=0, max=65535)
    taught_to: str = param('taught.yaml', 'file of waypoints that the page appends to')
    record_to: str = param('.', 'folder in which the page records bags')
    rate: float = param(30.0, 'pictures per second at most [Hz]', min=0.5, max=60.0)
    allow_commands: bool = param(default=True, description='show controls that move the platform')


class WebViewer(Node):
    """Show ``platform/pose``, command, legs, driver and estimate; hand on what a person asks for.

    Pictures are drawn in a thread of their own from the latest messages; commands go through
    ``move_platform`` and the services of driver and wave, so that every limit holds.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('web_viewer', **kwargs)
        chosen = declare(self, WebViewerParameters)
        # Said now, not when a rig is there.
        check_address(chosen.host, chosen.port, asked_token())
        self._chosen = chosen
        self._mailbox, self._heard = Mailbox(), 0
        self._operator = GraphOperator(self, self._tell) if chosen.allow_commands else None
        self._drives = UNKNOWN
        self._comparison: LiveComparison | None = None
        self.view: LiveView | None = None
        self._poses, self._setpoints, self._legs = pose_reader(), setpoint_reader(), leg_reader()
        self._estimates = Reader(Odometry, _estimate)
        for kind, topic, show, qos in (
            (PoseStamped, 'platform/pose', self._show_pose, SENSOR_QOS),
            (PlatformSetpoint, 'platform/commanded', self._show_commanded, COMMAND_QOS),
            (JointState, 'actuator_states', self._show_legs, SENSOR_QOS),
            (Odometry, 'platform/odometry', self._show_estimate, SENSOR_QOS),
        ):
            self.create_subscription(kind, topic, partial(self._take, show), qos, raw=True)
        state = partial(self._take, self._show_state)
        self._states = self.create_subscription(DriverState, 'driver/state', state, STATE_QOS)
        self.create_timer(LOOK, self._look)
        diagnostics = Diagnostics(self, chosen.platform)
        diagnostics.add('page', self._report)
        if chosen.platform:
            self._open(chosen.platform)
        else:
            PlatformQuestion(self, self._open)

    def _open(self, source: str) -> None:
        """Show a platform; what draws it takes 0.4 s to load."""
        from stewart_viewer.live import LiveView

        simulated = str(bool(self.get_parameter('use_sim_time').value)).lower()
        record_to, clock = Path(self._chosen.record_to), ['-p', f'use_sim_time:={simulated}']
        self.view = LiveView(
            source,
            self._mailbox,
            self._operator,
            host=self._chosen.host,
            port=self._chosen.port,
            rate=self._chosen.rate,
            token=asked_token(),
            taught_to=Path(self._chosen.taught_to),
            recorder=BagRecorder(record_to, clock),
            complain=self.get_logger().error,
        )
        self._comparison = self.view.comparison
        # The log is on the graph, and the address may have the token.
        tell(f'open {self.view.url} in a browser, it shows {source}')

    def destroy_node(self) -> None:
        """Close the page, too."""
        if self.view is not None:
            self.view.close()
        super().destroy_node()

    def _report(self) -> Report:
        values = {'messages heard': self._heard}
        if self.view is None:
            return Report(Level.WARN, 'waiting for a rig that says which platform it is', values)
        if wrong := self._wrong():
            return Report(Level.ERROR, wrong, values)
        if not self.view.drawing:
            return Report(Level.ERROR, 'the page stands still: nothing draws it any more', values)
        if self.view.failure:
            return Report(Level.WARN, self.view.failure, values)
        if not self._heard:
            return Report(Level.OK, 'nothing of the rig was heard yet', values)
        return Report(Level.OK, f'showing {self.view.url.partition("?")[0]}', values)

    def _wrong(self) -> str:
        return '' if self._comparison is None else self._comparison.verdict

    def _tell(self, sentence: str) -> None:
        if self.view is not None:
            self.view.tell(sentence)

    def _take(self, read: Any, message: Any) -> None:
        """Put what a message says into the mailbox; what cannot be read is not shown."""
        self._heard += 1
        try:
            values = read(message)
        except MessageError as error:
            self.get_logger().warning(f'{error}', throttle_duration_sec=5.0)
            return
        self._put(values)

    def _put(self, values: dict[str, Any]) -> None:
        self._mailbox.put(1e-9 * self.get_clock().now().nanoseconds, **values)

    def _show_pose(self, data: bytes) -> dict[str, Any]:
        _, *numbers = self._poses.read(data)
        pose = pose_at(*numbers)
        if self._comparison is not None:
            self._comparison.take_pose(pose)
        wrong = self._wrong()
        if self._operator is not None:
            self._operator.obstacle = wrong
        if not wrong:
            return {'pose': pose, 'drives': self._drives}
        self.get_logger().error(wrong, throttle_duration_sec=30.0)
        return {'pose': pose, 'drives': replace(self._drives, state=WRONG, reason=wrong)}

    def _show_commanded(self, data: bytes) -> dict[str, Any]:
        position, quaternion, *_ = self._setpoints.read(data).motion
        return {'commanded': pose_at(position, quaternion)}

    def _show_legs(self, data: bytes) -> dict[str, Any]:
        legs = self._legs.read(data)
        if self._comparison is not None and legs.position is not None:
            self._comparison.take_strokes(legs.position)
        return {'strokes': legs.position, 'forces': legs.effort}

    def _show_estimate(self, data: bytes) -> dict[str, Any]:
        return {'estimate': self._estimates.read(data)}

    def _show_state(self, message: DriverState) -> dict[str, Any]:
        state = STATE_NAMES.get(message.state, f'{message.state}')
        self._drives = DriveReport(state, message.backend, message.simulated, message.reason)
        if message.state == DriverState.ENABLED:
            return {'drives': self._drives}
        # Nothing is commanded any more.
        return {'drives': self._drives, 'commanded': None}

    def _look(self) -> None:
        """Take back what a driver has said that is gone; what it says is not repeated."""
        said = self._drives
        if said is UNKNOWN or said.state == NOT_HEARD:
            return
        if self.count_publishers(self._states.topic_name):
            return
        reason = f'driver/state: nobody publishes it any more; before that: {said.state}'
        self._drives = replace(said, state=NOT_HEARD, reason=reason)
        self._put({'drives': self._drives, 'commanded': None})


def _estimate(layout: Layout) -> Callable[[bytes], Estimate]:
    """Prepare to read pose and covariance of an Odometry."""
    numbers = layout.numbers('pose.pose', 'pose.covariance')

    def decode(data: bytes) -> Estimate:
        values = numbers(data)
        pose = pose_at(values[:3], unit_quaternion(values[:3], values[3:7]))
        covariance = values[7:].reshape(6, 6)[:3, :3]
        if not finite(covariance.ravel().tolist()):
            raise MessageError(f'the covariance of a position must be finite, got {covariance}')
        return Estimate(pose, covariance)

    return decode
