# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play an ocean wave on the platform."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Pose
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.nodes.excursion_node import ExcursionNode, ExcursionParameters
from stewart_kinematics.trajectories import (
    AiryWave,
    Jonswap,
    OrbitalWave,
    PiersonMoskowitz,
    Trajectory,
)
from stewart_kinematics.trajectories.scaling import fit_froude, fit_plain
from stewart_node_support.parameters import param
from stewart_node_support.running import run


@dataclass(frozen=True)
class OceanTrajectoryParameters(ExcursionParameters):
    """Parameters of the ocean node: components one by one, or a spectrum to draw them from."""

    amplitudes: tuple[float, ...] = param(
        (), 'amplitude of each wave [m]; none: a spectrum', min=0.0, read_only=False
    )
    periods: tuple[float, ...] = param((), 'period of each wave [s]', min=0.01, read_only=False)
    lengths: tuple[float, ...] = param(
        (), 'length of each wave [m]; none: deep water', min=0.01, read_only=False
    )
    phases_deg: tuple[float, ...] = param((), 'phase of each wave [deg]; none: 0', read_only=False)
    spectrum: str = param(
        'jonswap',
        'spectrum of the sea',
        choices=('jonswap', 'pierson_moskowitz'),
        read_only=False,
    )
    significant_height: float = param(1.5, 'H_s [m]', min=0.001, max=30.0, read_only=False)
    peak_period: float = param(6.0, 'T_p [s]', min=0.1, max=30.0, read_only=False)
    peak_enhancement: float = param(
        3.3, 'gamma of the JONSWAP spectrum [-]', min=1.0, max=10.0, read_only=False
    )
    components: int = param(30, 'waves drawn from it', min=1, max=1000, read_only=False)
    seed: int = param(1, 'the same seed gives the same sea', min=0, read_only=False)
    attack_angle_deg: float = param(
        0.0, 'direction of travel from x to y [deg]', min=-360.0, max=360.0, read_only=False
    )
    scaling: str = param(
        'plain',
        'none: as it is; plain: amplitudes; froude: lengths and times',
        choices=('none', 'plain', 'froude'),
        read_only=False,
    )
    fraction: float = param(
        0.6,
        'largest part of any guard margin at the centre that the sea may use [-]',
        min=0.001,
        max=1.0,
        read_only=False,
    )


class OceanTrajectory(ExcursionNode):
    """Serve ``ocean/start`` and ``ocean/stop``; what is played is made when configured."""

    def __init__(self, **kwargs: Any) -> None:
        """Open the interfaces."""
        super().__init__('ocean_trajectory', 'ocean', OceanTrajectoryParameters, **kwargs)

    def make_motion(self, guard: MotionGuard) -> tuple[Trajectory, Pose]:
        """Make the sea and fit it to the platform."""
        parameters = self.parameters
        centre = guard.platform.geometry.neutral_pose
        wave = OrbitalWave(
            components(parameters), centre, math.radians(parameters.attack_angle_deg)
        )
        if parameters.scaling == 'none':
            return wave, centre
        fit = fit_plain if parameters.scaling == 'plain' else fit_froude
        # Longer than it is played: the sea's time begins with the fade-in.
        fitted = fit(
            wave, guard, parameters.fraction, duration=parameters.duration or parameters.horizon
        )
        self.get_logger().info(
            f'{parameters.scaling} scaling by {fitted.factor:.4g}: the sea uses at most '
            f'{parameters.fraction:.0%} of any guard margin at its centre'
        )
        return fitted.wave, centre


def components(parameters: OceanTrajectoryParameters) -> tuple[AiryWave, ...]:
    """
    Make the waves that the parameters describe.

    Parameters
    ----------
    parameters : OceanTrajectoryParameters
        Of the node.

    Returns
    -------
    tuple of AiryWave
        The components.

    Raises
    ------
    ConfigurationError
        If the lists differ in length.
    TrajectoryError
        If a wave would break.

    """
    count = len(parameters.amplitudes)
    for name, optional in (('periods', False), ('lengths', True), ('phases_deg', True)):
        size = len(getattr(parameters, name))
        if size != count and not (optional and size == 0):
            raise ConfigurationError(name, size, f'{count} values, as many as amplitudes')
    if not count:
        if parameters.spectrum == 'jonswap':
            sea = Jonswap(
                parameters.significant_height, parameters.peak_period, parameters.peak_enhancement
            )
        else:
            sea = PiersonMoskowitz(parameters.significant_height, parameters.peak_period)
        return sea.components(parameters.components, parameters.seed)
    phases = [math.radians(phase) for phase in parameters.phases_deg] or [0.0] * count
    if not parameters.lengths:
        rows = zip(parameters.amplitudes, parameters.periods, phases, strict=True)
        return tuple(AiryWave.deep_water(*row) for row in rows)
    columns = (parameters.amplitudes, parameters.periods, parameters.lengths, phases)
    return tuple(AiryWave(*row) for row in zip(*columns, strict=True))


def main() -> None:
    """Run the node until it is asked to stop."""
    run(OceanTrajectory)


if __name__ == '__main__':
    main()
