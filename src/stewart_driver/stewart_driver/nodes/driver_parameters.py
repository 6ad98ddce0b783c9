# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the driver node and what the control loop gets of them; no ROS."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from stewart_driver.backend import Backend
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LEGS
from stewart_driver.rig_platform import require_platform_of_the_rig
from stewart_node_support.fields import param

PATH = InterpolationSettings()
WATCH = SupervisionSettings()


@dataclass(frozen=True)
class DriverParameters:
    """Parameters of the driver node; those of the back end stand under its own name."""

    backend: str = param('simulated', 'what moves the legs: simulated, or an installed back end')
    platform: str = param(
        '', 'by which the legs are commanded; a rig_file of another one is refused'
    )
    publish_rate: float = param(
        200.0, 'rate of actuator_states, rounded to a whole number of cycles [Hz]', min=1.0
    )
    start_timeout: float = param(30.0, 'longest start of the cyclic process [s]', min=0.1)
    stall_timeout: float = param(
        2.5, 'a cyclic process that runs no cycle for so long, drives on, is killed [s]', min=0.05
    )
    realtime_priority: int = param(
        0, 'SCHED_FIFO priority of the cyclic process; 0: ordinary scheduler', min=0, max=99
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
    playout_delay: float = param(
        PATH.playout_delay, 'setpoints are executed this long after their stamp [s]', min=0.0
    )
    extrapolation_time: float = param(
        PATH.extrapolation_time, 'missing setpoints: time before the common stop [s]', min=0.0
    )
    look_ahead: float = param(
        PATH.look_ahead, 'setpoints stamped further in the future are refused [s]', min=0.0
    )
    start_tolerance: float = param(
        PATH.start_tolerance, 'a path begins this close to the held strokes [m]', min=0.0
    )
    start_rate_tolerance: float = param(
        PATH.start_rate_tolerance, 'a path begins no faster than this [m/s]', min=0.0
    )
    rest_rate: float = param(PATH.rest_rate, 'slower than this is at rest [m/s]', min=0.0)
    margin: float = param(
        PATH.margin, 'a jump needs more than this times the rate or acceleration limit', min=1.0
    )
    stop_strength: float = param(
        PATH.stop_strength, 'deceleration of a stop / acceleration limit', min=0.01, max=1.0
    )
    quick_stop_strength: float = param(
        PATH.quick_stop_strength, 'the same of a quick stop', min=0.01, max=1.0
    )
    command_timeout: float = param(
        WATCH.command_timeout, 'longest silence of joint_commands while moving [s]', min=0.0
    )
    following_error: float = param(
        WATCH.following_error, 'largest distance of a leg from its command [m]', min=0.0
    )
    following_lag: float = param(
        WATCH.following_lag, 'besides, a moving leg may lag by this time at its rate [s]', min=0.0
    )
    tracking_position: float = param(
        WATCH.tracking_position, 'largest platform/tracking_error, position [m]', min=0.0
    )
    tracking_rotation: float = param(
        WATCH.tracking_rotation, 'largest platform/tracking_error, rotation [rad]', min=0.0
    )
    stroke_margin: float = param(
        WATCH.stroke_margin, 'a measured stroke may leave its range this far [m]', min=0.0
    )
    measured_rate_margin: float = param(
        WATCH.measured_rate_margin, 'a measured jump is faster than this times the rate limit'
    )
    overrun_share: float = param(
        WATCH.overrun_share,
        "share of the last second's cycles that may be missed while moving; 1: all",
        min=0.0,
        max=1.0,
    )
    enable_timeout: float = param(
        WATCH.enable_timeout, 'longest time for the drives to switch on [s]', min=0.0
    )
    settling_time: float = param(
        WATCH.settling_time, 'standstill before a stop counts as over [s]', min=0.0
    )

    def configuration(self, backend: Backend) -> CycleConfiguration:
        """Return what the cyclic process is told.

        Args:
            backend: Gives the limits and the cycle time.

        Returns:
            Checked.

        Raises:
            ConfigurationError: If a value cannot be used, also together with this back end.
        """
        if backend.rig_file and (self.platform or not backend.simulated):
            require_platform_of_the_rig(self.platform, backend.rig_file)
        self._check_park_strokes(backend)
        if self.publish_rate * backend.cycle_time > 1.0:
            raise ConfigurationError(
                'publish_rate',
                self.publish_rate,
                f'at most {1.0 / backend.cycle_time:g} Hz, the cycle',
            )
        return CycleConfiguration(
            limits=backend.limits.narrowed(
                rate=self.rate_limit or None, acceleration=self.acceleration_limit or None
            ),
            interpolation=InterpolationSettings(**self._share(InterpolationSettings)),
            supervision=SupervisionSettings(**self._share(SupervisionSettings)),
            publish_every=round(1.0 / (self.publish_rate * backend.cycle_time)),
            realtime_priority=self.realtime_priority,
            cpu_affinity=self.cpu_affinity,
        )

    def _check_park_strokes(self, backend: Backend) -> None:
        strokes = np.array(self.park_strokes)
        if not strokes.size:
            return
        if strokes.shape != (LEGS,) or not (backend.limits.beyond(strokes) <= 0.0).all():
            raise ConfigurationError(
                'park_strokes', self.park_strokes, 'six strokes within those of the legs [m]'
            )

    def _share(self, settings: type) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(settings)}
