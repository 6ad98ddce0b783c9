# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Own a rig that is not there, say what really happens to it, and break it on request."""

from __future__ import annotations

from functools import partial
import json
from pathlib import Path
from typing import Any

from nav_msgs.msg import Odometry
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import Imu
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from stewart_interfaces.srv import InjectFault
from stewart_node_support.codec import Reader, Writer
from stewart_node_support.conversions import BASE_FRAME
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.hot_messages import odometry_reader, OdometryWriter, StampedMotion
from stewart_node_support.lock_step import START_NS
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import NANOSECONDS
from stewart_simulation.carried_base import CarriedBase, Sample
from stewart_simulation.errors import RigError
from stewart_simulation.loop import json_of
from stewart_simulation.rig.base_imu import ATTITUDE_NOISE, BaseImu
from stewart_simulation.rig.directory import READY, wiring
from stewart_simulation.rig.inline_rig import InlineRig
from stewart_simulation.rig.launcher import RigProcess
from stewart_simulation.rig.settings import ETHERCAT, RigSettings, VirtualRigParameters
from stewart_simulation.ship import MovingBase
from stewart_tables.errors import StewartError

PLATFORM_FRAME, WORLD_FRAME = 'platform_link', 'world'


class VirtualRig(Node):
    """Own the rig, from the constructor to the node's end.

    Publishes ``simulation/truth``, which nothing that controls or estimates may listen to, and,
    where the base moves, ``base/imu`` and ``simulation/base_truth``; serves
    ``simulation/inject_fault`` and ``simulation/observe``.

    Args:
        inline: The rig is in this process and lives in simulated time, which somebody lets pass
            for the node's clock (`LockStep`); otherwise it is a process of its own, in real time.
    """

    def __init__(self, *, inline: bool = False, **kwargs: Any) -> None:
        super().__init__('virtual_rig', **kwargs)
        self._rig: InlineRig | RigProcess | None = None
        self.published: dict[str, CountedPublisher] = {}
        try:
            self._begin(inline=inline)
        except Exception:
            self.destroy_node()
            raise

    def _begin(self, *, inline: bool) -> None:
        chosen = declare(self, VirtualRigParameters)
        self._settings = declare(self, RigSettings)
        carrier = self._carrier(chosen.base_on, inline=inline)
        if inline:
            self._rig = InlineRig(self._settings, self._simulated_ns, carrier)
        else:
            directory = Path(chosen.directory) if chosen.directory else None
            self._rig = process = RigProcess(self._settings, directory)
            if process.refused:
                self.get_logger().info(process.refused)
        self._reader = self._rig.truth()
        self._last, self._failure = 0.0, ''
        self._truth = CountedPublisher(self, Odometry, 'simulation/truth', SENSOR_QOS)
        self._truth_writer = OdometryWriter(BASE_FRAME, PLATFORM_FRAME)
        self._base = carrier or self._settings.ship()
        if self._base is not None:
            self._base_imu = BaseImu(self._base, self._settings)
            self._felt = CountedPublisher(self, Imu, 'base/imu', SENSOR_QOS)
            self._felt_writer = imu_writer(self._base_imu)
            self._base_truth = CountedPublisher(
                self, Odometry, 'simulation/base_truth', SENSOR_QOS
            )
            self._base_writer = OdometryWriter(WORLD_FRAME, BASE_FRAME)
        self.create_service(InjectFault, 'simulation/inject_fault', self._inject)
        self.create_service(Trigger, 'simulation/observe', self._observe)
        self._diagnostics = Diagnostics(self, self._settings.platform)
        self._diagnostics.add('rig', self._report)
        self.create_timer(1.0 / chosen.truth_rate, self._tell)
        for name, place in self._rig.ends.items():
            self.get_logger().info(f'{name}: {place}')
        self.get_logger().info(READY)

    def _carrier(self, topic: str, *, inline: bool) -> CarriedBase | None:
        """Return the base that the truth of another rig moves; None if there is none."""
        if not topic:
            return None
        self._settings.check_carrier(topic, inline=inline)
        carrier, reader = CarriedBase(), odometry_reader()
        carry = partial(self._carry, carrier, reader)
        self.create_subscription(Odometry, topic, carry, SENSOR_QOS, raw=True)
        return carrier

    def _carry(self, carrier: CarriedBase, reader: Reader[StampedMotion], data: bytes) -> None:
        if not isinstance(self._rig, InlineRig):
            return
        mechanics, (stamp, *motion) = self._rig.mechanics, reader.read(data)
        time = stamp / NANOSECONDS - mechanics.time + mechanics.drives.time
        carrier.put(Sample.told(time, *motion))

    def _simulated_ns(self) -> int:
        """Return simulated time; it begins when somebody takes over the clock [ns]."""
        clock = self.get_clock()
        return int(clock.now().nanoseconds) if clock.ros_time_is_active else START_NS

    def wiring(self) -> dict[str, dict[str, Any]]:
        """Return the parameters with which driver, position_sensors and imu find their wires."""
        assert self._rig is not None
        return wiring(self._rig.ends, self._settings.amplifiers)

    def destroy_node(self) -> None:
        """End the rig with the node."""
        rig, self._rig = self._rig, None
        if rig is not None:
            rig.end()
        super().destroy_node()

    def _tell(self) -> None:
        if self._rig is None:
            return
        try:
            truth = self._reader.read()
        except RigError as error:
            self._failure = str(error)
            return
        self._failure = ''
        if truth.stamp > self._last:
            self._last = truth.stamp
            stamp = round((truth.stamp + truth.wall_offset) * NANOSECONDS)
            pose = truth.position, truth.quaternion_xyzw
            motion = self._truth_writer.write(stamp, *pose, *truth.twist_in_platform)
            self._truth.publish(motion)
            if self._base is not None:
                self._tell_of_base(self._base, stamp, truth.base_time)

    def _tell_of_base(self, base: MovingBase, stamp: int, time: float) -> None:
        """Publish what its IMU measures, and its motion with the velocities in base_link axes."""
        force, rate, attitude = self._base_imu.sample(time)
        self._felt.publish(self._felt_writer.write(stamp, attitude, rate, force))
        motion = base.at(time)
        twist = motion.rotation.T @ motion.velocity, motion.turn
        pose = motion.position, motion.quaternion_xyzw
        self._base_truth.publish(self._base_writer.write(stamp, *pose, *twist))

    def _inject(
        self, request: InjectFault.Request, response: InjectFault.Response
    ) -> InjectFault.Response:
        try:
            arguments = json_of(request.arguments_json or '{}')
            if not isinstance(arguments, dict):
                raise RigError(f'arguments_json must be an object, not {request.arguments_json}')
            self._call(request.fault, arguments)
        except StewartError as error:
            response.message = str(error)
        except (ValueError, RecursionError) as error:
            response.message = f'arguments_json is no JSON: {error}'
        else:
            response.success = True
            self.get_logger().warn(f'fault {request.fault} {arguments}')
        return response

    def _observe(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = json.dumps(self._call('observe', {}))
            response.success = True
        except StewartError as error:
            response.message = str(error)
        return response

    def _call(self, fault: str, arguments: dict[str, Any]) -> Any:
        if self._rig is None or not self._rig.alive:
            raise RigError(self._rig.exit_reason() if self._rig else 'the virtual rig has ended')
        return self._rig.call(fault, **arguments)

    def _report(self) -> Report:
        rig, settings = self._rig, self._settings
        if rig is None or not rig.alive:
            return Report(Level.ERROR, rig.exit_reason() if rig else 'the virtual rig has ended')
        age = rig.now() - self._last
        values = {
            'simulated': True,
            'moved by': settings.moved_by,
            'age of the truth (s)': f'{age:.3f}',
            **rig.facts,
        }
        if self._failure or age > 1.0:
            return Report(Level.ERROR, self._failure or 'the plant stands still in time', values)
        how = 'EtherCAT frames' if settings.moved_by == ETHERCAT else 'a simulated card'
        return Report(Level.OK, f'simulated: no metal moves; moved by {how}', values)


def imu_writer(imu: BaseImu) -> Writer:
    """Return a writer of what the IMU on the base measures (REP-145): attitude, rate, force."""
    sigmas = ATTITUDE_NOISE, imu.gyroscope_noise, imu.accelerometer_noise
    attitude, rate, force = (np.diag(np.full(3, sigma**2)).ravel() for sigma in sigmas)
    message = Imu(
        header=Header(frame_id=BASE_FRAME),
        orientation_covariance=attitude,
        angular_velocity_covariance=rate,
        linear_acceleration_covariance=force,
    )
    return Writer(message, 'orientation', 'angular_velocity', 'linear_acceleration')
