# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the back end ``ros2_control``."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LEG_NAMES, LegLimits, LEGS
from stewart_driver.options import option, require_positive


@dataclass(frozen=True)
class Ros2ControlOptions:
    """Which controller, and what its joints are; every field is a parameter ``ros2_control.…``."""

    controller: str = option(
        'leg_position_controller', 'takes six strokes [m] on <controller>/commands'
    )
    joint_states: str = option('joint_states', 'topic of the measured strokes [m] and rates [m/s]')
    joints: tuple[str, ...] = option(
        LEG_NAMES, 'names of legs 1 to 6 there, in the order of the controller'
    )
    namespace: str = option('', 'namespace of both topics')
    absolute: bool = option(
        default=False,
        description='true: positions are strokes, 0 with the leg retracted, and stay so when the '
        'drives are switched off; nothing is enabled before that is said',
    )
    rig_file: str = option('', 'rig.yaml of this machine, which says of which platform it is')
    cycle_time: float = option(0.005, 'period of the joint states and of the commands [s]')
    start_timeout: float = option(5.0, 'longest wait for the first joint states [s]')
    stroke_lower: float = option(0.0, 'lower end of the stroke of every leg [m]', zero=True)
    stroke_upper: float = option(0.16, 'upper end of the stroke of every leg [m]')
    rate: float = option(0.1, 'largest rate of a leg [m/s]')
    acceleration: float = option(1.0, 'largest acceleration of a leg [m/s2]')

    def __post_init__(self) -> None:
        require_positive(self)
        if len(self.joints) != LEGS or len(set(self.joints)) != LEGS:
            raise ConfigurationError('joints', self.joints, 'six names, each once')
        for name in ('controller', 'joint_states'):
            if not getattr(self, name):
                raise ConfigurationError(name, '', 'a name')

    def limits(self) -> LegLimits:
        """Return what the legs may do."""
        return LegLimits.alike(self.stroke_lower, self.stroke_upper, self.rate, self.acceleration)
