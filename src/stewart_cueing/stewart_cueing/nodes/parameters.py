# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes; no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_cueing.vehicle.methods import METHODS
from stewart_kinematics.nodes.parameters import TrajectoryParameters
from stewart_tables.settings import param


@dataclass(frozen=True)
class MotionCueingParameters(TrajectoryParameters):
    """Parameters of the node that follows a vehicle."""

    method: str = param(
        'washout',
        'classical washout, or the motion that is nearest to what is wanted (optimal)',
        choices=METHODS,
    )
    washout: str = param(
        '',
        'scales, limits, filters and head: name of a preset, or a YAML file with what is other '
        "than in the platform's",
    )
    gain: float = param(
        1.0, "factor of the preset's scales of force and rate [-]", min=1e-3, max=100.0
    )
    input_silence: float = param(
        0.2, 'without a sample for so long, the input goes to rest [s]', min=0.02, max=10.0
    )
    input: str = param(
        'topic',
        'where samples come from: vehicle/motion, or datagrams of a flight simulator',
        choices=('topic', 'flightgear', 'x_plane_11', 'x_plane_12'),
    )
    port: int = param(5510, 'UDP port of these datagrams; 0: any free', min=0, max=65535)
    host: str = param('127.0.0.1', 'address on which they are heard; 0.0.0.0: every one')


@dataclass(frozen=True)
class StabilisationParameters(TrajectoryParameters):
    """Parameters of the node that keeps level."""

    peak_period: float = param(
        2.4, 'peak period of the sea as the base feels it, roughly [s]', min=0.2, max=60.0
    )
    delay: float = param(
        0.055,
        'from the stamp of a setpoint until the platform is there: playout_delay of the driver, '
        'and what the drives lag behind [s]',
        min=0.0,
        max=1.0,
    )
    input_silence: float = param(
        0.2,
        'without a sample of the IMU for so long, the platform goes to its neutral pose [s]',
        min=0.02,
        max=10.0,
    )
    imu_position: tuple[float, float, float] = param(
        (0.0, 0.0, 0.0), 'where the IMU is in base_link [m]'
    )
    imu_rpy_deg: tuple[float, float, float] = param(
        (0.0, 0.0, 0.0), 'roll, pitch, yaw of the IMU in base_link [deg]'
    )
    accelerometer_bias: float = param(
        0.1,
        'most that the accelerometer of the IMU is off by, constantly: a mean tilt that this '
        'explains is no list of the ship [m/s²]',
        min=0.0,
        max=2.0,
    )
