# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of the cyclic process: frozen, checked, in SI units."""

from __future__ import annotations

from dataclasses import dataclass, field

from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LegLimits
from stewart_driver.options import require_positive
from stewart_driver.path.common_stop import STEEPEST


@dataclass(frozen=True)
class InterpolationSettings:
    """How setpoints become the command of every cycle.

    Attributes:
        playout_delay: The command is the path of the setpoints this much later; jitter and losses
            up to about this time leave no trace [s].
        extrapolation_time: How long the last tangent is followed at full speed before the common
            stop begins [s].
        look_ahead: Setpoints stamped further than this in the future are refused [s].
        start_tolerance: A path begins no further than this from the held strokes, any leg [m].
        start_rate_tolerance: A path begins no faster than this, any leg [m/s].
        rest_rate: Slower than this is at rest [m/s].
        margin: A setpoint whose segment needs more than this times the rate or acceleration limit
            is a jump [-].
        stop_strength: Deceleration of a common stop, as a share of the acceleration limit, up to 1
            [-].
        quick_stop_strength: Deceleration of a quick stop, likewise; at least `stop_strength` [-].

    Raises:
        ConfigurationError: If a value is negative, not finite, or zero where that makes no sense,
            or if the quick stop is milder than the common stop or harder than the legs may
            decelerate.
    """

    playout_delay: float = 0.03
    extrapolation_time: float = 0.03
    look_ahead: float = 0.5
    start_tolerance: float = 1e-3
    start_rate_tolerance: float = 5e-3
    rest_rate: float = 1e-4
    margin: float = 1.5
    stop_strength: float = 0.5
    quick_stop_strength: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, {'playout_delay', 'extrapolation_time'})
        if not self.stop_strength <= self.quick_stop_strength <= 1.0:
            raise ConfigurationError(
                'quick_stop_strength',
                self.quick_stop_strength,
                f'a number from stop_strength, {self.stop_strength:g}, to 1',
            )


@dataclass(frozen=True)
class SupervisionSettings:
    """Limits whose crossing stops the motion.

    Attributes:
        command_timeout: Longest silence of the commands while the legs move [s].
        following_error: Largest distance between commanded and measured stroke, any leg that
            stands [m].
        following_lag: How far a leg that moves may lag besides, as a time at the commanded rate
            [s].
        tracking_position: Largest Cartesian tracking error of the platform's origin [m].
        tracking_rotation: Largest Cartesian tracking error of the attitude [rad].
        stroke_margin: How far a measured stroke may lie outside the stroke range [m].
        measured_rate_margin: A measured stroke that changes by more than this times the rate limit
            is a jump [-].
        overrun_share: Largest share of the last second's cycles that may be missed while moving;
            1: all [-].
        enable_timeout: Longest time for the drives to switch on [s].
        settling_time: How long the command stands still before a stop counts as over: real drives
            need it to settle, and whoever watches the state has time to see STOPPING [s].

    Raises:
        ConfigurationError: If a value is not a positive number, or the share is above 1.
    """

    command_timeout: float = 0.1
    following_error: float = 0.01
    following_lag: float = 0.025
    tracking_position: float = 0.03
    tracking_rotation: float = 0.05
    stroke_margin: float = 5e-3
    measured_rate_margin: float = 3.0
    overrun_share: float = 0.5
    enable_timeout: float = 5.0
    settling_time: float = 0.1

    def __post_init__(self) -> None:
        require_positive(self, {'settling_time', 'following_lag'})
        if self.overrun_share > 1.0:
            raise ConfigurationError('overrun_share', self.overrun_share, 'at most 1')


@dataclass(frozen=True)
class CycleConfiguration:
    """Everything the cyclic process is told beside its back end.

    Attributes:
        limits: What the legs may do.
        interpolation: How setpoints become commands.
        supervision: When the motion is stopped.
        publish_every: Every so many cycles a sample goes into the ring for the node.
        realtime_priority: SCHED_FIFO priority of the process, 1 to 99; 0 leaves the ordinary
            scheduler.
        cpu_affinity: Processors that the process may run on; empty leaves all.

    Raises:
        ConfigurationError: If a number is out of range.
    """

    limits: LegLimits
    interpolation: InterpolationSettings = field(default_factory=InterpolationSettings)
    supervision: SupervisionSettings = field(default_factory=SupervisionSettings)
    publish_every: int = 1
    realtime_priority: int = 0
    cpu_affinity: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.publish_every < 1:
            raise ConfigurationError('publish_every', self.publish_every, 'at least 1')
        if not 0 <= self.realtime_priority <= 99:
            raise ConfigurationError('realtime_priority', self.realtime_priority, '0 to 99')

    @property
    def longest_stop(self) -> float:
        """Time in which legs at the highest rate are brought to rest, and have settled [s]."""
        path, limits = self.interpolation, self.limits
        deceleration = path.stop_strength * limits.acceleration
        return STEEPEST * path.margin * limits.rate / deceleration + self.supervision.settling_time
