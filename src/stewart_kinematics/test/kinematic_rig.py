# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""For tests: the nodes of the kinematics around a driver whose drives follow at once."""

from __future__ import annotations

from functools import cache
from typing import Any

from geometry_msgs.msg import PoseStamped
from node_harness import Harness, Heard, motion_from_msg, SETPOINTS
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, PlatformSetpoint, TrackingError
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.nodes.forward_kinematics import ForwardKinematics
from stewart_kinematics.nodes.inverse_kinematics import InverseKinematics
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_node_support.conversions import header_msg
from stewart_node_support.hot_messages import SetpointWriter
from stewart_node_support.legs import leg_reader, LegWriter
from stewart_node_support.lifecycle import bring_up
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import to_nanoseconds

VIGO = load_platform('vigo')
NEUTRAL = VIGO.geometry.neutral_pose
DELAY = 0.03
"""How long after its stamp the driver that is played executes a setpoint [s]."""


def neutral_plus(
    x: float = 0.0, y: float = 0.0, z: float = 0.0, rpy: ArrayLike = (0.0, 0.0, 0.0)
) -> Pose:
    """Return the neutral pose, moved [m] and turned [rad]."""
    return Pose.from_rpy(NEUTRAL.position + np.array([x, y, z]), np.asarray(rpy).tolist())


def strokes_at(pose: Pose) -> np.ndarray:
    """Return the strokes of a pose [m]."""
    geometry = VIGO.geometry
    return leg_lengths(geometry, pose.position, pose.quaternion_xyzw) - geometry.retracted_length


class Rig(Harness):
    """Inverse and forward kinematics, and a driver that does what it is told.

    Attributes:
        strokes (6,): Where the drives are [m].
        follow: Whether the drives follow; a driver that does not is like one with its power off.
    """

    def __init__(
        self,
        pose: Pose = NEUTRAL,
        *,
        inverse: bool = True,
        measured: float = 0.05,
        **parameters: Any,
    ) -> None:
        """Start the nodes and the driver at `pose`; parameters are those of the inverse node.

        Where nothing moves, the drives are measured so often [s], which costs most of such a time.
        """
        super().__init__()
        self.strokes = strokes_at(pose)
        self.follow = True
        self.setpoints = self.listen(PlatformSetpoint, 'setpoint')
        self.poses = self.listen(PoseStamped, 'platform/pose', SENSOR_QOS)
        self.errors = self.listen(TrackingError, 'platform/tracking_error', SENSOR_QOS)
        self.commands = Heard(JointState)
        self._measured_ns = 0
        self._legs, self._reader, self._writer = LegWriter(), leg_reader(), cache(SetpointWriter)
        self._driver = self.probe.create_publisher(DriverState, 'driver/state', STATE_QOS)
        self._states = self.probe.create_publisher(JointState, 'actuator_states', SENSOR_QOS)
        self._sources = self.probe.create_publisher(PlatformSetpoint, 'setpoint', COMMAND_QOS)
        self.probe.create_subscription(
            JointState, 'joint_commands', self._on_command, COMMAND_QOS, raw=True
        )
        self.probe.create_timer(measured, self.measure)
        self.forward: Any = self.add(ForwardKinematics)
        self.inverse: Any = self.add(InverseKinematics, **parameters) if inverse else None
        self.discover(lambda: self._sources.get_subscription_count() >= 1 + inverse)
        self.until(lambda: self.poses)

    def active(self, cls: Any, **parameters: Any) -> Any:
        """Add a lifecycle node and bring it up."""
        node = self.add(cls, **parameters)
        bring_up(node)
        # Until it has heard of the driver and of a pose, it rightly refuses to start.
        self.spin(0.2)
        return node

    def drive(
        self, state: int, reason: str = 'the test says so', *, speed_scaling: float = 1.0
    ) -> None:
        """Let the driver go to a state, and everyone hear of it."""
        stamp = self.probe.get_clock().now().to_msg()
        self._driver.publish(
            DriverState(
                header=header_msg(stamp, ''),
                state=state,
                speed_scaling=speed_scaling,
                playout_delay=DELAY,
                reason=reason,
            )
        )
        self.spin(0.1)

    def measure(self, strokes: ArrayLike | None = None, stamp: int | None = None) -> int:
        """Publish an actuator state, as of now by default; return its stamp [ns]."""
        if stamp is None:
            # Within one instant of simulated time a driver measures once, a test more often.
            now = self.probe.get_clock().now().nanoseconds
            stamp = self._measured_ns = max(now, self._measured_ns + 1)
        values = self.strokes if strokes is None else np.asarray(strokes)
        self._states.publish(self._legs.write(stamp, values, np.zeros(6)))
        return int(stamp)

    def say(self, source: str, motion: Motion, stamp: int | None = None) -> int:
        """Publish a setpoint, let it be executed or refused, and return its stamp [ns]."""
        moment = self.probe.get_clock().now().nanoseconds if stamp is None else stamp
        tally = self.inverse.refusals
        before = tally.accepted + tally.refused
        self._sources.publish(self._writer(source).write(moment, motion))
        self.until(lambda: tally.accepted + tally.refused > before)
        return int(moment)

    def commanded_stamps(self) -> set[int]:
        """Return the stamps of all joint commands [ns]."""
        return {to_nanoseconds(message.header.stamp) for message in self.commands}

    def _on_command(self, data: bytes) -> None:
        self.commands.append(data)
        strokes = self._reader.read(data).position
        if self.follow and strokes is not None:
            self.strokes = strokes
            self.measure()


def motions(setpoints: Heard) -> tuple[np.ndarray, Motion]:
    """Return the stamps since the first [s], shape (n,), and the samples of setpoints."""
    read = [SETPOINTS.read(data) for data in setpoints.data]
    time = np.array([item.stamp - read[0].stamp for item in read]) * 1e-9
    columns = zip(*(item.motion for item in read), strict=True)
    return time, Motion(*(np.stack(column) for column in columns))


def require_continuous(setpoints: Heard) -> None:
    """Check that pose, velocity and acceleration of a stream belong together and never jump.

    While the jerk stays below j, the trapezoidal rule over a step h is off by at most j h³/12 for
    the way and j h²/4 for the velocity, with j the platform's jerk limit.

    Args:
        setpoints: As recorded, of Vigo.

    Raises:
        AssertionError: If a stamp does not increase or a value jumps.
    """
    time, motion = motions(setpoints)
    step = np.diff(time)[:, None]
    if not step.min() > 0.0:
        raise AssertionError(f'a step of {step.min()} s')
    attitude = Rotation.from_quat(motion.quaternion_xyzw)
    turn = (attitude[1:] * attitude[:-1].inv()).as_rotvec()
    for kind, way, jerk in (
        ('linear', np.diff(motion.position, axis=0), VIGO.limits.linear_jerk),
        ('angular', turn, VIGO.limits.angular_jerk),
    ):
        velocity = getattr(motion, f'{kind}_velocity')
        acceleration = getattr(motion, f'{kind}_acceleration')
        gain = np.diff(velocity, axis=0)
        _require(f'{kind} way', way - _mean(velocity) * step, jerk * step**3 / 12.0)
        _require(f'{kind} velocity', gain - _mean(acceleration) * step, jerk * step**2 / 4.0)


def require_at_rest(setpoint: Any) -> None:
    """Check that a setpoint neither moves nor is about to."""
    motion = Motion(*motion_from_msg(setpoint))
    _require('velocity', motion.twist, 1e-9)
    _require('acceleration', motion.acceleration, 1e-6)


def _mean(values: np.ndarray) -> np.ndarray:
    return 0.5 * (values[1:] + values[:-1])


def _require(name: str, values: np.ndarray, bound: Any) -> None:
    excess = np.abs(values) - bound
    if not excess.max() <= 1e-8:
        raise AssertionError(f'{name} jumps by {excess.max():.3g} more than allowed')
