# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of IMU and legs from the bytes of messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sensor_msgs.msg import Imu, JointState
from stewart_estimation.machine import Array
from stewart_node_support.codec import finite, Layout, Reader, stamp_of
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import inertial_numbers
from stewart_node_support.legs import LEG_NAMES

LEGS = {name: leg for leg, name in enumerate(LEG_NAMES)}


class ImuReading(NamedTuple):
    """A decoded Imu in sensor axes (REP-145).

    Attributes:
        stamp: [ns].
        specific_force, angular_velocity (3,): [m/s²], [rad/s].
        force_covariance, rate_covariance (9,): As the message states them.
    """

    stamp: int
    specific_force: Array
    angular_velocity: Array
    force_covariance: Array
    rate_covariance: Array


class Strokes(NamedTuple):
    """Decoded strokes (6,) [m] with their stamp [ns]; NaN for legs that are not there."""

    stamp: int
    strokes: Array


def imu_reader() -> Reader[ImuReading]:
    """Return a reader of Imu messages; it refuses what `inertial_numbers` refuses."""
    return Reader(Imu, _imu)


def stroke_reader() -> Reader[Strokes]:
    """Return a reader of the strokes of JointState messages, some of ``leg_1`` to ``leg_6``.

    Its ``read`` gives NaN for legs that the message does not have or has as NaN, and raises
    MessageError where it names no leg, one twice, or another number of joints than it has strokes.
    """
    return Reader(JointState, _strokes)


def _imu(layout: Layout) -> Callable[[bytes], ImuReading]:
    numbers = inertial_numbers(layout)

    def decode(data: bytes) -> ImuReading:
        values = numbers(data)
        return ImuReading(stamp_of(data), values[12:15], values[:3], values[15:], values[3:12])

    return decode


def _strokes(layout: Layout) -> Callable[[bytes], Strokes]:
    names, count = layout.texts['name'], layout.place('position')[2]
    different = set(names)
    if different.isdisjoint(LEGS) or len(different) != len(names):
        raise MessageError(
            f'a leg state names leg_1 to leg_6 at most once each, got {list(names)}'
        )
    if count != len(names):
        raise MessageError(f'a leg state has as many strokes as names, got {count} strokes')
    numbers = layout.numbers('position')
    places = [place for place, name in enumerate(names) if name in LEGS]
    legs = [LEGS[names[place]] for place in places]
    in_order = names == LEG_NAMES

    def decode(data: bytes) -> Strokes:
        strokes = values = numbers(data)
        if not in_order:
            strokes = np.full(6, np.nan)
            strokes[legs] = values[places]
        if not finite(strokes.tolist()):
            strokes[np.isinf(strokes)] = np.nan
        return Strokes(stamp_of(data), strokes)

    return decode
