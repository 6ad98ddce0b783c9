# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep a platform level on a base that moves, such as a ship."""

from __future__ import annotations

from typing import Any

import numpy as np
from sensor_msgs.msg import Imu
from stewart_cueing.errors import BaseInputError
from stewart_cueing.nodes.following_node import FollowingNode, Phase
from stewart_cueing.nodes.parameters import StabilisationParameters
from stewart_cueing.ship.live import LiveBase, LiveLevelling, LOST
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, Pose
from stewart_node_support.conversions import BASE_FRAME
from stewart_node_support.diagnostics import Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import inertial_reader
from stewart_node_support.qos import FOREIGN_QOS
from stewart_node_support.stamps import NANOSECONDS

LEFT = 0.005
"""A larger part of a list that stays on the platform is told [rad]."""


class Stabilisation(FollowingNode):
    """Make up for what ``base/imu`` tells, within every limit; see docs/heave_compensation.md.

    The IMU is heard as soon as the node is configured: the observer of waves takes some periods
    to settle. A sample counts for the instant of its stamp.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._base: LiveBase | None = None
        super().__init__('stabilisation', 'stabilisation', StabilisationParameters, **kwargs)
        self._taken = self._refused = 0
        self._why, self._is_refused = '', False
        self._reader = inertial_reader()
        self.create_subscription(Imu, 'base/imu', self._on_imu, FOREIGN_QOS, raw=True)
        self.diagnostics.add('base', self._report_base)

    def prepare(self, guard: MotionGuard) -> None:
        """Begin to observe."""
        chosen = self.parameters
        place, angles = chosen.imu_position, np.radians(chosen.imu_rpy_deg).tolist()
        # Where nothing else is stated, its axes are those of the base.
        self._frames = {BASE_FRAME, ''} if not any((*place, *angles)) else None
        self._base = LiveBase(
            chosen.peak_period,
            1.0 / chosen.rate,
            chosen.input_silence,
            Pose.from_rpy(place, angles),
            chosen.accelerometer_bias,
        )

    def make_follower(self, guard: MotionGuard) -> LiveLevelling:
        """Return prediction, levelling and governor."""
        chosen = self.parameters
        assert self._base is not None
        return LiveLevelling(
            guard, self._base, 1.0 / chosen.rate, chosen.peak_period, chosen.delay
        )

    def before_sample(self, now: int) -> None:
        """Let the follower go on, on the clock of the stamps."""
        if self.phase is Phase.FOLLOW:
            assert self.playback is not None
            self.follower.begin = self.playback.begin / NANOSECONDS
        super().before_sample(now)

    def _on_imu(self, data: bytes) -> None:
        if self._base is None:
            return
        try:
            item = self._reader.read(data)
            if self._frames and item.frame not in self._frames:
                must = f'must be in {BASE_FRAME}, or imu_position and imu_rpy_deg say where it is'
                raise BaseInputError(f'an IMU of the base {must}, got {item.frame!r}')
            stamp = item.stamp / NANOSECONDS
            ahead = stamp - self._now()
            if not -LOST <= ahead <= self.parameters.input_silence:
                off = f'its stamps are {ahead:.1f} s ahead of this clock'
                raise BaseInputError(f'{off}: set one clock by the other')
            self._base.put(stamp, item.values)
        except (BaseInputError, MessageError) as error:
            self._refused, self._why = self._refused + 1, str(error)
            self._is_refused = True
        else:
            self._taken += 1
            self._is_refused = False

    def _report_base(self) -> Report:
        values = {'taken': self._taken, 'refused': self._refused, 'last refusal': self._why}
        now = self._now()
        if self._base is None:
            return Report(Level.STALE, 'not configured', values)
        observer = self._base.observer
        values |= {
            'glitches': observer.refused,
            'last glitch': observer.refusal,
            'unexpected motions': observer.changes,
            'list in roll, pitch [deg]': _joined(np.degrees(observer.mean[0, :2])),
            'periods of roll, pitch, heave [s]': _joined(self._base.periods()),
        }
        if self.phase is Phase.FOLLOW:
            angles, heave = self.follower.shares.tolist()
            values |= {
                'share of roll and pitch': f'{angles:.2f}',
                'share of heave': f'{heave:.2f}',
            }
        if self._base.known(now):
            if self.phase is Phase.FOLLOW and self.follower.list_left > LEFT:
                left = f'{np.degrees(self.follower.list_left):.1f}°'
                why = f'the base lists by more than the legs make up for: {left} stay'
                return Report(Level.WARN, why, values)
            if misfit := self._base.misfit():
                return Report(Level.WARN, misfit, values)
            return Report(Level.OK, 'the motion of the base is known', values)
        if self._base.heard(now) and (wrong := self._base.contradiction()):
            return Report(Level.WARN, f'{wrong}; the platform rests', values)
        if self._base.heard(now):
            return Report(Level.OK, 'the observer settles: nothing is made up for yet', values)
        warns = self._is_refused or self.phase is Phase.FOLLOW
        level = Level.WARN if warns else Level.OK
        why = f' ({self._why})' if self._is_refused else ''
        return Report(level, f'no IMU of the base is heard{why}: the platform rests', values)

    def _now(self) -> float:
        return float(self.get_clock().now().nanoseconds / NANOSECONDS)


def _joined(values: Array) -> str:
    return ', '.join(f'{value:.1f}' for value in values)
