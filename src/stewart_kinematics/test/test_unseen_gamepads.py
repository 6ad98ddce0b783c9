# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Gamepads as they come: slow, fast, late, in bursts, drifting, broken, or another model."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from kinematic_rig import motions, require_at_rest, require_continuous, Rig, VIGO
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Joy
from stewart_interfaces.msg import DriverState
from stewart_kinematics.control.steering import TIMEOUT
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.nodes.teleop import Teleop
from stewart_node_support.stamps import from_nanoseconds, to_nanoseconds

DEAD_MAN, SECONDS = 4, 0.8
HELD = (0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)


def forward(share: float) -> tuple[float, ...]:
    return (0.0, share, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Sent(NamedTuple):
    """A message of a gamepad: when it arrives and how late it then is [s], and what it says."""

    at: float
    axes: tuple[float, ...] = forward(1.0)
    buttons: tuple[int, ...] = HELD
    late: float = 0.0


def every(period: float, make: Callable[[float], Sent] = Sent) -> list[Sent]:
    return [make(at) for at in np.arange(0.0, SECONDS, period)]


def jittery(period: float, spread: float) -> list[Sent]:
    rng = np.random.default_rng(4)
    times = np.arange(0.0, SECONDS, period)
    return [Sent(at, late=rng.uniform(0.0, spread)) for at in times]


def bursts(count: int, period: float) -> list[Sent]:
    """Return messages made `period` apart that arrive `count` at a time, the oldest first."""
    times = np.arange(0.0, SECONDS, count * period)
    return [Sent(at, late=period * k) for at in times for k in reversed(range(count))]


def nan_after(half: float) -> list[Sent]:
    return every(0.02, lambda at: Sent(at, forward(1.0 if at < half else np.nan)))


def play(rig: Rig, stream: list[Sent]) -> float:
    """Let a gamepad be seen released, publish a stream, wait; return when it ended [s]."""
    pad = rig.talk(Joy, 'joy', qos_profile_sensor_data)
    now = rig.probe.get_clock().now

    def say(sent: Sent) -> None:
        message = Joy(axes=list(sent.axes), buttons=list(sent.buttons))
        if np.isfinite(sent.late):
            message.header.stamp = from_nanoseconds(now().nanoseconds - round(1e9 * sent.late))
        pad.publish(message)

    say(Sent(0.0, forward(0.0), (0,) * len(HELD)))
    rig.spin(0.02)
    begun = now().nanoseconds
    for sent in stream:
        wait = begun * 1e-9 + sent.at - now().nanoseconds * 1e-9
        if wait > 0.0:
            rig.spin(wait)
        say(sent)
    end = now().nanoseconds * 1e-9
    rig.spin(1.0)
    return end


MOVING = {
    '10 Hz': every(0.1),
    '250 Hz': every(0.004),
    'up to 40 ms late, shuffled': jittery(0.02, 0.04),
    'bursts of five, 100 ms apart': bursts(5, 0.02),
    'NaN half way': nan_after(0.4),
    'unplugged half way': every(0.02)[:20],
    'four axes': every(0.02, lambda at: Sent(at, (0.0, 1.0, 0.0, 0.0))),
    'swapped half way for one with four buttons': [
        *every(0.02)[:20], *(Sent(at, buttons=(1,) * 4) for at in np.arange(0.4, 0.8, 0.02))
    ],
}  # fmt: skip
QUICK = {'10 Hz', 'up to 40 ms late, shuffled', 'NaN half way', 'unplugged half way'}
RESTING = {
    'axes that rest at 0.03': (every(0.02, lambda at: Sent(at, (0.03,) * 8)), ''),
    'NaN': (nan_after(0.0), 'axis 1 of joy is nan, allowed: -1 to 1'),
    'infinite': (
        every(0.02, lambda at: Sent(at, forward(np.inf))),
        'axis 1 of joy is inf, allowed',
    ),
    'raw axes': (
        every(0.02, lambda at: Sent(at, forward(-32767.0))),
        'axis 1 of joy is -32767, allowed: -1 to 1',
    ),
    'a button of -1': (every(0.02, lambda at: Sent(at, buttons=(-1,) * 11)), ''),
    'no stamps': (every(0.02, lambda at: Sent(at, late=np.nan)), 'stamp it anew'),
    'stamps 1 s ahead': (every(0.02, lambda at: Sent(at, late=-1.0)), 'stamp it anew'),
    'one axis': (every(0.02, lambda at: Sent(at, (1.0,), (1,) * 4)), 'joy has 4 buttons'),
    'four buttons': (every(0.02, lambda at: Sent(at, buttons=(1,) * 4)), 'joy has 4 buttons'),
    'nothing at all': (
        every(0.02, lambda at: Sent(at, (), ())),
        'joy has 0 buttons, dead_man_button is 4',
    ),
}


@pytest.mark.parametrize(
    'kind',
    [pytest.param(kind, marks=() if kind in QUICK else (pytest.mark.slow,)) for kind in MOVING],
)
def test_it_moves_within_every_limit_and_rests_after_the_last_message(kind: str) -> None:
    with Rig() as rig:
        node = rig.active(Teleop)
        rig.drive(DriverState.ENABLED)
        end = play(rig, MOVING[kind])
        count = len(rig.setpoints)
        rig.spin(0.5)

        assert len(rig.setpoints) == count, 'it creeps'
        assert rig.inverse.refusals.refused == 0
        require_continuous(rig.setpoints)
        require_at_rest(rig.setpoints[0])
        require_at_rest(rig.setpoints[-1])
        time, motion = motions(rig.setpoints)
        assert len(MotionGuard(VIGO).admit_run(motion, time).stroke) == len(time)
        scale, limits = node.parameters.speed_scale, VIGO.limits
        speed, strength = scale * limits.linear_velocity, 0.9 * scale
        # A cubic fall of the velocity to 0 has the peaks 1.5 v/T and 6 v/T².
        stop = max(
            1.5 * speed / (strength * limits.linear_acceleration),
            math.sqrt(6.0 * speed / (strength * limits.linear_jerk)),
        )
        assert to_nanoseconds(rig.setpoints[-1].header.stamp) * 1e-9 < end + TIMEOUT + stop + 0.01
        way = motion.position[-1] - motion.position[0]
        assert 0.2 * speed * SECONDS < way[0] < 1.2 * speed * SECONDS
        np.testing.assert_allclose(way[1:], 0.0, atol=1e-9)


@pytest.mark.parametrize('kind', RESTING)
def test_it_stays_where_it_is_and_says_why(kind: str) -> None:
    stream, words = RESTING[kind]
    with Rig() as rig:
        node = rig.active(Teleop)
        rig.drive(DriverState.ENABLED)
        play(rig, stream)

        assert words in node.refusal
        for setpoint in rig.setpoints:
            require_at_rest(setpoint)
