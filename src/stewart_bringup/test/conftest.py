# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings whose every figure is known."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.spatial.transform import Rotation
from stewart_bags.series import DriverStateSeries, JointSeries, PoseSeries, SetpointSeries
from stewart_bringup.demo.recording import Recording

NS = 1_000_000_000
START = 1_700_000_000 * NS
PERIOD = NS // 200
AMPLITUDE, OMEGA = 0.05, 2.0
# Two hops: from the trajectory to inverse kinematics, from the driver to the recorder.
HOP = 400_000


def wave(seconds: NDArray[Any]) -> NDArray[Any]:
    """Heave displacement [m]."""
    return AMPLITUDE * np.sin(OMEGA * seconds)


def recording(
    *,
    duration: float = 10.0,
    delay: float = 0.03,
    offset: float = 0.0,
    tilt: float = 0.0,
    gap: tuple[int, int] | None = None,
    friction: float = 0.0,
    states: Callable[[], tuple[list[int], list[str]]] = lambda: ([1, 2], ['', '']),
) -> Recording:
    """Return heave of 50 mm that is followed `delay` late, `offset` too low and `tilt` askew.

    Args:
        duration: Length [s].
        delay: Constant delay [s].
        offset: How much lower the platform is than commanded, legs alike [m].
        tilt: Constant roll that nobody commanded [rad].
        gap: Range of actuator states that are missing.
        friction: What the drives deliver more than feed-forward asked for [N].
        states: Returns states and reasons of the driver.
    """
    count = round(duration * 200)
    stamp = START + PERIOD * np.arange(count)
    time = (stamp - START) / NS
    height, speed = wave(time), AMPLITUDE * OMEGA * np.cos(OMEGA * time)
    late = wave(np.maximum(time - delay, 0.0)) - offset
    kept = np.ones(count, bool)
    if gap is not None:
        kept[slice(*gap)] = False
    zero = np.zeros((count, 3))
    up = np.array([0.0, 0.0, 1.0])
    level = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    askew = np.tile(Rotation.from_rotvec([tilt, 0.0, 0.0]).as_quat(), (count, 1))

    def head(topic: str, arrival: int, rows: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        chosen = stamp if rows is None else stamp[rows]
        return {
            'topic': topic,
            'bag_time_ns': chosen + arrival,
            'stamp_ns': chosen,
            'frame_id': 'base_link',
            'findings': (),
        }

    def legs(values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values[:, None], 6, axis=1)

    numbers, reasons = states()
    driver = head('/driver/state', HOP, np.arange(count) < len(numbers))
    return Recording(
        setpoints=SetpointSeries(
            **head('/setpoint', HOP),
            position=np.outer(height, up),
            quaternion_xyzw=level,
            linear_velocity=np.outer(speed, up),
            angular_velocity=zero,
            linear_acceleration=zero,
            angular_acceleration=zero,
        ),
        commands=JointSeries(
            **head('/joint_commands', 2 * HOP),
            names=(),
            position=legs(height),
            velocity=legs(speed),
            effort=legs(np.full(count, np.nan)),
        ),
        actuators=JointSeries(
            **head('/actuator_states', HOP, kept),
            names=(),
            position=legs(late[kept]),
            velocity=legs(speed[kept]),
            effort=legs(100.0 * late[kept] + friction),
        ),
        efforts=JointSeries(
            **head('/joint_efforts', 2 * HOP),
            names=(),
            position=legs(np.full(count, np.nan)),
            velocity=legs(np.full(count, np.nan)),
            effort=legs(100.0 * height),
        ),
        poses=PoseSeries(
            **head('/platform/pose', HOP, kept),
            position=np.outer(late[kept], up),
            quaternion_xyzw=askew[kept],
        ),
        driver_states=DriverStateSeries(
            **driver,
            state=np.array(numbers, float),
            homed=np.ones(len(numbers)),
            simulated=np.ones(len(numbers)),
            reason=tuple(reasons),
        ),
        counts={
            '/setpoint': count,
            '/joint_commands': count,
            '/joint_efforts': count,
            '/actuator_states': int(kept.sum()),
            '/platform/pose': int(kept.sum()),
        },
    )


@pytest.fixture
def synthetic() -> SimpleNamespace:
    """Return the recording's maker and the numbers it is made of."""
    return SimpleNamespace(
        recording=recording, wave=wave, AMPLITUDE=AMPLITUDE, OMEGA=OMEGA, HOP=HOP
    )
