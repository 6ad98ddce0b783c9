# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings whose every figure is known."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.spatial.transform import Rotation
from stewart_bags.series import DriverStateSeries, JointSeries, PoseSeries, SetpointSeries
from stewart_bringup.demo.recording import Recording

# Tests are imported by path, and their helpers have to be found.
sys.path.insert(0, str(Path(__file__).parent))

NS = 1_000_000_000
QUANTITIES = ('position', 'velocity', 'effort')
START = 1_700_000_000 * NS
PERIOD = NS // 200
AMPLITUDE, OMEGA = 0.05, 2.0
# Two hops: from the trajectory to inverse kinematics, from the driver to the recorder.
HOP = 400_000
UP = np.array([0.0, 0.0, 1.0])


def wave(seconds: NDArray[Any]) -> NDArray[Any]:
    """Heave displacement [m]."""
    return AMPLITUDE * np.sin(OMEGA * seconds)


def recording(
    *,
    duration: float = 10.0,
    delay: float = 0.03,
    offset: float = 0.0,
    tilt: float = 0.0,
    blip: float = 0.0,
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
        blip: How much lower still for a tenth of a second in the middle [m].
        gap: Range of actuator states that are missing.
        friction: What the drives deliver more than feed-forward asked for [N].
        states: Returns states and reasons of the driver.
    """
    count = round(duration * 200)
    stamp = START + PERIOD * np.arange(count)
    time = (stamp - START) / NS
    height, speed = wave(time), AMPLITUDE * OMEGA * np.cos(OMEGA * time)
    late = wave(np.maximum(time - delay, 0.0)) - offset
    late[count // 2 :][:20] -= blip
    kept = np.ones(count, bool)
    if gap is not None:
        kept[slice(*gap)] = False
    unknown, zero = np.full(count, np.nan), np.zeros((count, 3))
    turn = Rotation.from_rotvec([tilt, 0.0, 0.0]).as_quat()
    numbers, reasons = states()
    series = {
        'setpoints': SetpointSeries(
            **head('/setpoint', stamp, HOP),
            position=np.outer(height, UP),
            quaternion_xyzw=np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
            linear_velocity=np.outer(speed, UP),
            angular_velocity=zero,
            linear_acceleration=zero,
            angular_acceleration=zero,
        ),
        'commands': legs(head('/joint_commands', stamp, 2 * HOP), height, speed, unknown),
        'actuators': legs(
            head('/actuator_states', stamp[kept], HOP),
            *(late[kept], speed[kept], 100.0 * late[kept] + friction),
        ),
        'efforts': legs(head('/joint_efforts', stamp, 2 * HOP), unknown, unknown, 100.0 * height),
        'poses': PoseSeries(
            **head('/platform/pose', stamp[kept], HOP),
            position=np.outer(late[kept], UP),
            quaternion_xyzw=np.tile(turn, (int(kept.sum()), 1)),
        ),
    }
    driver = DriverStateSeries(
        **head('/driver/state', stamp[: len(numbers)], HOP),
        state=np.array(numbers, float),
        homed=np.ones(len(numbers)),
        simulated=np.ones(len(numbers)),
        reason=tuple(reasons),
    )
    counts = {item.topic: len(item) for item in series.values()}
    return Recording(**series, driver_states=driver, counts=counts)


def head(topic: str, stamps: NDArray[np.int64], arrival: int) -> dict[str, Any]:
    """Return what all series have; the messages arrive so much later than stamped [ns]."""
    return {
        'topic': topic,
        'bag_time_ns': stamps + arrival,
        'stamp_ns': stamps,
        'frame_id': 'base_link',
        'findings': (),
    }


def legs(head: dict[str, Any], *columns: NDArray[Any]) -> JointSeries:
    """Return six legs alike: position, velocity, effort."""
    return JointSeries(**head, names=(), **dict(zip(QUANTITIES, map(six, columns), strict=True)))


def six(column: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(column[:, None], 6, axis=1)


@pytest.fixture(scope='session')
def synthetic() -> SimpleNamespace:
    """Return the recording's maker and the numbers it is made of."""
    return SimpleNamespace(
        recording=recording, wave=wave, AMPLITUDE=AMPLITUDE, OMEGA=OMEGA, HOP=HOP
    )


@pytest.fixture(scope='session')
def environment() -> dict[str, str]:
    """Let a child process import what this one can."""
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
