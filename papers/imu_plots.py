# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations and generalised forces: expected, measured, fused."""

from __future__ import annotations

from base64 import b64encode
import io
from typing import Any, TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from imu_forces import GeneralisedForces
    from imu_route import Assessment
    from stewart_kinematics.motion import Array, Motion


def forces_and_accelerations(
    time: Array, expected: Motion, assessment: Assessment, forces: GeneralisedForces
) -> str:
    """Draw them.

    Args:
        time (n,): [s].
        expected: By the legs.
        assessment: With the measured motion.
        forces: Predicted, "measured", fused.

    Returns:
        PNG in base64.
    """
    figure = Figure(figsize=(10, 8), layout='constrained')
    axes: Any = figure.subplots(3, 2, sharex=True)
    sensor = assessment.measured.motion.linear_acceleration
    for row, axis in enumerate('xyz'):
        left, right = axes[row]
        left.plot(time, sensor[:, row], color='tab:orange', linewidth=0.8, label='IMU')
        left.plot(
            time,
            expected.linear_acceleration[:, row],
            color='tab:blue',
            linewidth=0.8,
            label='legs',
        )
        left.set_ylabel(f'acceleration {axis} [m/s²]')
        right.plot(
            time, forces.measured[:, row], color='tab:orange', linewidth=0.8, label='"measured"'
        )
        right.plot(
            time, forces.predicted[:, row], color='tab:blue', linewidth=0.8, label='predicted'
        )
        right.plot(time, forces.forces.fused[:, row], color='black', linewidth=0.6, label='fused')
        right.set_ylabel(f'Q_c{axis} [N]')
        for panel in (left, right):
            panel.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    axes[0, 1].legend(fontsize=8)
    for panel in axes[2]:
        panel.set_xlabel('time [s]')
    buffer = io.BytesIO()
    figure.savefig(buffer, format='png', dpi=100, metadata={'Software': None})
    return b64encode(buffer.getvalue()).decode('ascii')
