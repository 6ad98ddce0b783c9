# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Node ``force_arrows``: the measured forces of the legs as arrows, for RViz."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA
from stewart_node_support.errors import MessageError
from stewart_node_support.legs import leg_reader
from stewart_node_support.parameters import declare
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import from_nanoseconds
from stewart_tables.settings import param
from stewart_viewer.force_scale import colour_of_force, ForceScale
from visualization_msgs.msg import Marker, MarkerArray


@dataclass(frozen=True)
class ForceArrowsParameters:
    """Parameters of the arrows."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    rate: float = param(20.0, 'pictures per second at most [Hz]', min=0.5, max=100.0)


class ForceArrows(Node):
    """Subscribe ``actuator_states``, publish ``leg_forces``: an arrow along every rod."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('force_arrows', **kwargs)
        chosen = declare(self, ForceArrowsParameters)
        self._scale = ForceScale.of_platform(chosen.platform)
        self._period, self._next = int(1e9 / chosen.rate), 0
        self._arrows = self.create_publisher(MarkerArray, 'leg_forces', SENSOR_QOS)
        self._reader = leg_reader()
        self.create_subscription(JointState, 'actuator_states', self._hear, SENSOR_QOS, raw=True)

    def _hear(self, data: bytes) -> None:
        now = self.get_clock().now().nanoseconds
        if self._next - self._period <= now < self._next:
            return
        self._next = now + self._period
        try:
            legs = self._reader.read(data)
        except MessageError as error:
            self.get_logger().warning(str(error), throttle_duration_sec=5.0)
            return
        if legs.effort is None:
            return
        lengths, stamp = self._scale.lengths(legs.effort).tolist(), from_nanoseconds(legs.stamp)
        arrows = [self._arrow(stamp, leg, length) for leg, length in enumerate(lengths, 1)]
        self._arrows.publish(MarkerArray(markers=arrows))

    def _arrow(self, stamp: Time, leg: int, length: float) -> Marker:
        """Begin at the platform joint, where the frame of the rod is, and go along its z axis."""
        red, green, blue = (part / 255.0 for part in colour_of_force(length))
        marker = Marker(ns='leg_forces', id=leg, type=Marker.ARROW)
        marker.header.stamp, marker.header.frame_id = stamp, f'leg_{leg}_rod'
        marker.points = [Point(), Point(z=length)]
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=1.0)
        marker.scale.x, marker.scale.y = 0.04 * self._scale.longest, 0.1 * self._scale.longest
        return marker
