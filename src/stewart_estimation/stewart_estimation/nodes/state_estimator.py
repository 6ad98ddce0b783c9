# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn what IMU, legs and an external pose measure into the motion of the platform."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseWithCovarianceStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from std_srvs.srv import SetBool, Trigger
from stewart_estimation.errors import EstimationError, SampleError
from stewart_estimation.external_pose import estimate_at
from stewart_estimation.live_estimation import Health, LiveEstimation, STRANGE
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.machine import Array, load_machine
from stewart_estimation.nodes.estimate_messages import (
    imu_reader,
    ImuReading,
    stroke_reader,
)
from stewart_estimation.nodes.estimate_publishers import EstimatePublishers
from stewart_estimation.nodes.estimator_parameters import (
    EstimatorParameters,
    PERIODS,
    settings_from,
)
from stewart_estimation.samples import stated_sigmas
from stewart_interfaces.srv import SetPose
from stewart_node_support.conversions import BASE_FRAME, pose_from_msg
from stewart_node_support.diagnostics import Diagnostics, Level, Refusals, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import FOREIGN_QOS, SENSOR_QOS
from stewart_node_support.stamps import from_nanoseconds, NANOSECONDS, to_nanoseconds

PERIOD_TOLERANCE = 0.05
"""An IMU period off by less than this share changes its noise by less than 2.5 %."""

LEVELS = {'ok': Level.OK, 'warn': Level.WARN, 'error': Level.ERROR}

OFF = 'switched off by state_estimator/toggle'


class StateEstimator(Node):
    """Subscribe ``imu/data`` and ``actuator_states``, publish where the platform is.

    ``platform/odometry``, ``platform/acceleration`` and ``estimator/status`` carry the stamp of
    the leg sample, as soon as the IMU has passed it. While the legs are silent they follow the
    IMU for ``coast``; then, and until there is a start, nothing is published and the diagnostics
    say why. ``platform/external_pose`` is a third sensor where it comes. With ``publish_tf`` the
    estimate goes to tf, too, as ``platform_estimate``.

    Services: ``state_estimator/reset`` begins anew from the legs, with noise and rate that the
    IMU says then, ``set_pose`` at a given pose, ``toggle`` switches the estimation off and on.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('state_estimator', **kwargs)
        self._asked = declare(self, EstimatorParameters)
        self._platform = load_machine(
            self._asked.platform, self._asked.imu_position, self._asked.imu_rpy_deg
        )
        self._sigmas: tuple[Array | None, Array | None] = (None, None)
        self._periods: list[int] = []
        self._period: float | None = None
        self._external, self._on = False, True
        settings = settings_from(self._asked, self._platform, None, None)
        self._live = LiveEstimation(self._platform.geometry, settings, coast=self._asked.coast)
        self._imu_reader, self._stroke_reader = imu_reader(), stroke_reader()
        self._origin: int | None = None
        self._stated, self._accepted = False, 0
        self.refusals = Refusals('messages')
        self.published: dict[str, CountedPublisher] = {}
        self._estimates = EstimatePublishers(self, transforms=self._asked.publish_tf)
        self._estimates.use(settings)
        self.diagnostics = Diagnostics(self, self._platform.name)
        self.diagnostics.add('estimate', self._report)
        self.diagnostics.add('input', self.refusals.report)
        self.create_subscription(Imu, 'imu/data', self._on_imu, FOREIGN_QOS, raw=True)
        self.create_subscription(
            JointState, 'actuator_states', self._on_legs, SENSOR_QOS, raw=True
        )
        if self._asked.external_pose:
            kind, topic = PoseWithCovarianceStamped, 'platform/external_pose'
            self.create_subscription(kind, topic, self._on_pose, FOREIGN_QOS)
        self.create_service(Trigger, 'state_estimator/reset', self._reset)
        self.create_service(SetPose, 'state_estimator/set_pose', self._set_pose)
        self.create_service(SetBool, 'state_estimator/toggle', self._toggle)

    @property
    def imu_period(self) -> float:
        """Time between IMU samples for which their noise is taken to hold [s]."""
        return self._live.imu_period

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a message as accepted, or as refused where it cannot be used."""
        try:
            yield
        except (MessageError, EstimationError) as error:
            self.refusals.refuse(self, error)
        else:
            self.refusals.accept()

    def _on_imu(self, data: bytes) -> None:
        if not self._on:
            return
        with self._counted():
            item = self._imu_reader.read(data)
            if not self._stated:
                self._take_stated_noise(item)
            if len(self._periods) <= PERIODS:
                self._measure_period(item.stamp)
            stamp = self._seconds(item.stamp)
            self._publish(self._live.imu(stamp, item.specific_force, item.angular_velocity))

    def _on_legs(self, data: bytes) -> None:
        if not self._on:
            return
        with self._counted():
            item = self._stroke_reader.read(data)
            lengths = item.strokes + self._platform.geometry.retracted_length
            self._publish(self._live.legs(self._seconds(item.stamp), lengths))

    def _take_stated_noise(self, item: ImuReading) -> None:
        """Let the first message say how noisy the IMU is, where it does."""
        self._stated = True
        force, rate = (
            stated_sigmas(covariance[::4])
            for covariance in (item.force_covariance, item.rate_covariance)
        )
        self._sigmas = force, rate
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Begin anew with what is known of the sensors now."""
        settings = settings_from(
            self._asked, self._platform, *self._sigmas, self._period, self._external
        )
        self._live.tell(settings)
        self._estimates.use(settings)

    def _measure_period(self, stamp: int) -> None:
        """Take the median distance of the first samples; begin anew where it differs."""
        self._periods.append(stamp)
        if len(self._periods) <= PERIODS or self._asked.imu_period > 0.0:
            return
        found = float(np.median(np.diff(self._periods))) / NANOSECONDS
        if found > 0.0 and abs(found / self.imu_period - 1.0) > PERIOD_TOLERANCE:
            self._period = found
            self._begin_anew()

    def _on_pose(self, message: PoseWithCovarianceStamped) -> None:
        if not self._on or self._origin is None:
            return
        with self._counted():
            stamp, pose, covariance = self._placed(message)
            if not self._external:
                # The filter gets a state for the delay with the first external pose.
                self._external = True
                self._begin_anew()
            self._publish(self._live.pose(stamp, pose, covariance))

    def _placed(self, message: PoseWithCovarianceStamped) -> tuple[float, Array, Array]:
        """Return stamp [s], pose (7,) and covariance (6, 6) of a pose in ``base_link``."""
        frame = message.header.frame_id
        if frame not in {BASE_FRAME, ''}:
            raise SampleError(f'a pose must be in {BASE_FRAME}, got one in {frame}')
        covariance = np.reshape(message.pose.covariance, (6, 6))
        if not np.all(np.isfinite(covariance)):
            raise SampleError('the covariance of a pose must be finite')
        pose = np.concatenate(pose_from_msg(message.pose.pose))
        return self._seconds(to_nanoseconds(message.header.stamp)), pose, covariance

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        # A sensor that was set up otherwise says its noise and its rate once more.
        self._stated, self._period = False, None
        self._periods.clear()
        self._live.reset()
        response.success, response.message = True, 'begins anew with the next six lengths'
        return response

    def _set_pose(self, request: SetPose.Request, response: SetPose.Response) -> SetPose.Response:
        if not self._on:
            response.message = OFF
            return response
        now, latest = self.get_clock().now().nanoseconds, self._live.latest
        if latest is not None:
            now = (self._origin or 0) + round(latest * NANOSECONDS)
        try:
            if request.pose.header.stamp == Time():
                request.pose.header.stamp = from_nanoseconds(now)
            stamp, pose, covariance = self._placed(request.pose)
            if latest is not None and abs(stamp - latest) > STRANGE:
                raise SampleError(
                    f'a pose must be stamped within {STRANGE:g} s of the latest sample, or 0, '
                    f'got {stamp - latest:.3f} s after it'
                )
            self._live.reset(estimate_at(stamp, pose, covariance))
        except (MessageError, EstimationError) as error:
            response.message = str(error)
        else:
            response.success, response.message = True, 'begins anew there with the next sample'
        return response

    def _toggle(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if request.data and not self._on:
            self._live.reset()
        self._on = request.data
        response.success, response.message = True, 'on' if self._on else 'off'
        return response

    def _seconds(self, stamp: int) -> float:
        """Return a stamp after the first one: small enough to be exact as a float [s]."""
        if self._origin is None:
            self._origin = stamp
        return (stamp - self._origin) / NANOSECONDS

    def _publish(self, rows: LiveRows) -> None:
        if len(rows):
            counts = self._live.accepted, self._live.rejected
            self._estimates.publish(self._origin or 0, rows, counts)

    def _report(self) -> Report:
        if not self._on:
            return Report(Level.WARN, OFF, {})
        health, live = self._live.health(), self._live
        accepted, self._accepted = self._accepted, self.refusals.accepted
        if 0 < accepted == self._accepted:
            said = 'no estimate: nothing has come on imu/data or actuator_states for a second'
            health = Health('error', said)
        counts = {'accepted': live.accepted.tolist(), 'rejected': live.rejected.tolist()}
        values = {'mean_nis': live.mean_nis, 'restarts': live.restarts, **counts}
        values['dropped'] = live.dropped
        if live.external is not None:
            used = live.external.used
            values |= {
                'external_delay': live.external.delay,
                'external_delay_sigma': live.external.delay_sigma,
                'external_refused': f'{np.count_nonzero(~used)} of the last {used.size}',
            }
        return Report(LEVELS[health.level], health.sentence, values)
