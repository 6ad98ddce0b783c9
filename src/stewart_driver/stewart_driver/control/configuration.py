# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of the cyclic process: frozen, checked, in SI units."""

from __future__ import annotations

from dataclasses import dataclass, field

from stewart_driver.control.scheduling import AS_PERMITTED
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LegLimits
from stewart_driver.path.common_stop import STEEPEST
from stewart_tables.settings import param, positive, require


@dataclass(frozen=True)
class InterpolationSettings:
    """How setpoints become the command of every cycle."""

    playout_delay: float = param(
        0.03, 'setpoints are executed this long after their stamp [s]', min=0.0
    )
    extrapolation_time: float = param(
        0.03, 'missing setpoints: time before the common stop [s]', min=0.0
    )
    look_ahead: float = positive(
        0.5, 'setpoints stamped further in the future are refused [s]', max=1.0
    )
    start_tolerance: float = positive(1e-3, 'a path begins this close to the held strokes [m]')
    start_rate_tolerance: float = positive(5e-3, 'a path begins no faster than this [m/s]')
    rest_rate: float = positive(1e-4, 'slower than this is at rest [m/s]')
    margin: float = param(
        1.5, 'a jump needs more than this times the rate or acceleration limit', min=1.0
    )
    stop_strength: float = param(
        0.5, 'deceleration of a stop / acceleration limit', min=0.01, max=1.0
    )
    quick_stop_strength: float = param(1.0, 'the same of a quick stop', min=0.01, max=1.0)

    def __post_init__(self) -> None:
        require(self)
        if self.quick_stop_strength < self.stop_strength:
            raise ConfigurationError(
                'quick_stop_strength',
                self.quick_stop_strength,
                f'a number from stop_strength, {self.stop_strength:g}, to 1',
            )


@dataclass(frozen=True)
class SupervisionSettings:
    """Limits whose crossing stops the motion."""

    command_timeout: float = positive(0.1, 'longest silence of joint_commands while moving [s]')
    following_error: float = positive(0.01, 'largest distance of a leg from its command [m]')
    following_lag: float = param(
        0.025, 'besides, a moving leg may lag by this time at its rate [s]', min=0.0
    )
    tracking_position: float = positive(0.03, 'largest platform/tracking_error, position [m]')
    tracking_rotation: float = positive(0.05, 'largest platform/tracking_error, rotation [rad]')
    stroke_margin: float = positive(5e-3, 'a measured stroke may leave its range this far [m]')
    measured_rate_margin: float = positive(
        3.0, 'a measured jump is faster than this times the rate limit, or times a fall'
    )
    overrun_share: float = positive(
        0.5, "share of the last second's cycles that may be missed while moving; 1: all", max=1.0
    )
    enable_timeout: float = positive(5.0, 'longest time for the drives to switch on [s]')
    # Time for the drives to settle, and for clients to see STOPPING.
    settling_time: float = param(0.1, 'standstill before a stop counts as over [s]', min=0.0)

    def __post_init__(self) -> None:
        require(self)


@dataclass(frozen=True)
class CycleConfiguration:
    """Everything the cyclic process is told beside its back end.

    Attributes:
        publish_every: Every so many cycles a sample goes into the ring for the node.
        realtime_priority: SCHED_FIFO priority of the process, as of `scheduling.take_priority`.
        cpu_affinity: Processors that the process may run on; empty leaves all.
    """

    limits: LegLimits
    interpolation: InterpolationSettings = field(default_factory=InterpolationSettings)
    supervision: SupervisionSettings = field(default_factory=SupervisionSettings)
    publish_every: int = 1
    realtime_priority: int = AS_PERMITTED
    cpu_affinity: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.publish_every < 1:
            raise ConfigurationError('publish_every', self.publish_every, 'at least 1')
        if not AS_PERMITTED <= self.realtime_priority <= 99:
            raise ConfigurationError('realtime_priority', self.realtime_priority, '-1 to 99')

    @property
    def longest_stop(self) -> float:
        """Time in which legs at the highest rate are brought to rest, and have settled [s]."""
        path, limits = self.interpolation, self.limits
        deceleration = path.stop_strength * limits.acceleration
        return STEEPEST * path.margin * limits.rate / deceleration + self.supervision.settling_time
