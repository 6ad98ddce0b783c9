# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the driver node and what the control loop gets of them; no ROS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_driver.backend import Backend
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.control.scheduling import AS_PERMITTED
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LegLimits, LEGS
from stewart_driver.rig_file import leg_ends, require_platform_of_the_rig
from stewart_tables.settings import param, part


@dataclass(frozen=True)
class DriverParameters(SupervisionSettings, InterpolationSettings):
    """Parameters of the driver node; those of the back end stand under its own name."""

    backend: str = param('simulated', 'what moves the legs: simulated, or an installed back end')
    platform: str = param(
        '', 'by which the legs are commanded, and where they end; a rig_file of another is refused'
    )
    publish_rate: float = param(
        200.0, 'rate of actuator_states, rounded to a whole number of cycles [Hz]', min=1.0
    )
    start_timeout: float = param(30.0, 'longest start of the cyclic process [s]', min=0.1)
    stall_timeout: float = param(
        2.5, 'a cyclic process that runs no cycle for so long, drives on, is killed [s]', min=0.05
    )
    realtime_priority: int = param(
        AS_PERMITTED,
        'SCHED_FIFO priority of the cyclic process; -1: a low one if permitted; 0: none',
        min=AS_PERMITTED,
        max=99,
    )
    cpu_affinity: tuple[int, ...] = param(
        (), 'processors that the cyclic process may run on; empty: all', min=0
    )
    rate_limit: float = param(
        0.0, 'largest leg rate [m/s], not above the limit of the back end; 0: that limit', min=0.0
    )
    acceleration_limit: float = param(
        0.0, 'largest leg acceleration [m/s2], likewise; 0: that of the back end', min=0.0
    )
    park_strokes: tuple[float, ...] = param(
        (), 'driver/disable brings legs 1 to 6 there before it takes the voltage [m]; empty: no'
    )

    def __post_init__(self) -> None:
        """Leave the checks to the parts, which are made for a back end."""

    def configuration(self, backend: Backend) -> CycleConfiguration:
        """Return what the cyclic process is told.

        Raises:
            ConfigurationError: If parameters and back end do not fit together.
        """
        if backend.rig_file and (self.platform or not backend.simulated):
            require_platform_of_the_rig(self.platform, backend.rig_file)
        limits = backend.limits.narrowed(
            rate=self.rate_limit or None, acceleration=self.acceleration_limit or None
        )
        if self.platform:
            # Drives may go farther than this machine's legs, and jogging knows no other ends.
            limits = limits.within(*leg_ends(self.platform))
        self._check_park_strokes(limits)
        if self.publish_rate * backend.cycle_time > 1.0:
            raise ConfigurationError(
                'publish_rate',
                self.publish_rate,
                f'at most {1.0 / backend.cycle_time:g} Hz, the cycle',
            )
        return CycleConfiguration(
            limits=limits,
            interpolation=part(self, InterpolationSettings),
            supervision=part(self, SupervisionSettings),
            publish_every=round(1.0 / (self.publish_rate * backend.cycle_time)),
            realtime_priority=self.realtime_priority,
            cpu_affinity=self.cpu_affinity,
        )

    def _check_park_strokes(self, limits: LegLimits) -> None:
        strokes = np.array(self.park_strokes)
        if not strokes.size:
            return
        if strokes.shape != (LEGS,) or not (limits.beyond(strokes) <= 0.0).all():
            raise ConfigurationError(
                'park_strokes', self.park_strokes, 'six strokes within those of the legs [m]'
            )
