# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six legs behind a position controller: strokes go out, joint states come back.

For rigs whose drives belong to another master, such as ethercat_driver_ros2 on a real-time kernel.
The controller follows or holds, and knows no off: so `live` is true for every leg as soon as it
has spoken. Never run on a controller_manager.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
import time
from typing import ClassVar, NamedTuple, Protocol

from stewart_driver.backend import Backend, Measurement
from stewart_driver.errors import ConfigurationError, HomingError, LegFault, TransportError
from stewart_driver.legs import ALL_LEGS, Array, LEG_NAMES, LegLimits, LEGS, require_rest
from stewart_driver.path.motion import LegMotion
from stewart_tables.settings import param, positive, require


@dataclass(frozen=True)
class Ros2ControlOptions:
    """Which controller, and what its joints are; every field is a parameter ``ros2_control.…``."""

    controller: str = param(
        'leg_position_controller', 'takes six strokes [m] on <controller>/commands'
    )
    joint_states: str = param('joint_states', 'topic of the measured strokes [m] and rates [m/s]')
    joints: tuple[str, ...] = param(
        LEG_NAMES, 'names of legs 1 to 6 there, in the order of the controller'
    )
    namespace: str = param(
        '', "namespace of both topics; empty: that of the driver, / for the graph's root"
    )
    absolute: bool = param(
        default=False,
        description='true: positions are strokes, 0 with the leg retracted, and stay so when the '
        'drives are switched off; nothing is enabled before that is said',
    )
    rig_file: str = param(
        '', 'calibration file of this machine, which says of which platform it is'
    )
    cycle_time: float = positive(0.005, 'period of the joint states and of the commands [s]')
    start_timeout: float = positive(5.0, 'longest wait for the first joint states [s]')
    stroke_lower: float = param(0.0, 'lower end of the stroke of every leg [m]', min=0.0)
    stroke_upper: float = positive(0.16, 'upper end of the stroke of every leg [m]')
    rate: float = positive(0.1, 'largest rate of a leg [m/s]')
    acceleration: float = positive(1.0, 'largest acceleration of a leg [m/s2]')

    def __post_init__(self) -> None:
        require(self)
        if len(self.joints) != LEGS or len(set(self.joints)) != LEGS:
            raise ConfigurationError('joints', self.joints, 'six names, each once')
        for name in ('controller', 'joint_states'):
            if not getattr(self, name):
                raise ConfigurationError(name, '', 'a name')

    def limits(self) -> LegLimits:
        """Return what the legs may do."""
        return LegLimits.alike(self.stroke_lower, self.stroke_upper, self.rate, self.acceleration)


# Joint states may be late or missing for so many periods.
LONGEST_SILENCE = 3
# A cycle without new joint states repeats the old ones, so much later [s].
REPEATED = 1e-6
POLL = 2e-3


class JointReading(NamedTuple):
    """What joint states say of the legs.

    Attributes:
        stamp: On the steady clock [s].
        forces (6,): Positive pushes apart [N]; None where there are none.
    """

    stamp: float
    strokes: Array
    rates: Array
    forces: Array | None


class Controller(Protocol):
    """The wire to a position controller; every method may raise `TransportError`."""

    def newest(self, now: float) -> JointReading | None:
        """Return the newest joint states since the last call; `now` stamps those without."""

    def command(self, strokes: Array) -> None:
        """Send strokes, shape (6,) [m]."""

    def close(self) -> None:
        """Let go."""


class ControllerBackend(Backend):
    """Six drives behind a controller."""

    name: ClassVar[str] = 'ros2_control'
    options_type: ClassVar[type] = Ros2ControlOptions
    simulated = False
    why_live = 'a position controller cannot be switched off from here and holds its last command'

    def __init__(self, options: Ros2ControlOptions) -> None:
        self._options = options
        self.cycle_time, self.limits = options.cycle_time, options.limits()
        self.rig_file = options.rig_file
        self._controller: Controller | None = None
        self._reading: JointReading | None = None
        self._stamp = self._heard_at = self._now = 0.0
        self._on = False
        self._fault: LegFault | None = None

    @abstractmethod
    def connect(self) -> Controller:
        """Return the open wire to the controller."""

    @property
    def homed(self) -> bool:
        """Whether an operator has said that positions are absolute strokes."""
        return self._options.absolute

    @property
    def measures_forces(self) -> bool:
        """Whether the joint states hold efforts."""
        return self._reading is not None and self._reading.forces is not None

    @staticmethod
    def placed(options: Ros2ControlOptions, namespace: str) -> Ros2ControlOptions:
        """Return options whose topics are in the driver's namespace, unless they name another."""
        return replace(options, namespace=options.namespace or namespace)

    def _full(self, name: str) -> str:
        """Return the full name of a topic or a node."""
        space = self._options.namespace.strip('/')
        return name if name.startswith('/') else f'/{space}/{name}' if space else f'/{name}'

    @property
    def details(self) -> Mapping[str, str]:
        """What an operator wants to know beside the name of the back end."""
        return {
            'controller': self._full(self._options.controller),
            'joint states': self._full(self._options.joint_states),
            'off means': 'the controller holds its last command',
        }

    def open(self, now: float) -> None:
        """Wait for the first joint states."""
        self._controller, begin = self.connect(), time.monotonic()
        try:
            self._reading = self._first(self._controller, now)
        except BaseException:
            self.close()
            raise
        # Discovery may have taken longer than joint states may stay away.
        heard_at = now + time.monotonic() - begin
        self._stamp, self._heard_at, self._now = self._reading.stamp, heard_at, now
        self._fault = None

    def _first(self, controller: Controller, now: float) -> JointReading:
        options, limit = self._options, time.monotonic() + self._options.start_timeout
        while (reading := controller.newest(now)) is None:
            if time.monotonic() > limit:
                raise TransportError(
                    f'no joint states with position and velocity of {", ".join(options.joints)} '
                    f'on {self._full(options.joint_states)} within {options.start_timeout:g} s'
                )
            time.sleep(POLL)
        return reading

    def close(self) -> None:
        """Send nothing any more."""
        self._on = False
        controller, self._controller = self._controller, None
        if controller is not None:
            controller.close()

    def enable(self) -> None:
        """Send commands from the next exchange on, which begin where the legs are measured."""
        self._on = True

    def disable(self) -> None:
        """Send no commands; the controller holds the last one."""
        self._on = False

    def home(self) -> str:
        """Verify that the strokes can be absolute: at rest, inside the range."""
        if not self.homed:
            raise HomingError('nobody has said that joint positions are strokes: see absolute')
        if self._fault is not None or self._reading is None:
            raise HomingError(str(self._fault or 'there are no joint states'))
        require_rest(self._reading.strokes, self._reading.rates, self.limits)
        return 'all legs stand still inside their strokes, as their controller says'

    def reset_fault(self) -> None:
        """Go on, if joint states come again; open the wire anew, if it was lost."""
        if self._controller is None:
            self.open(self._now)
        if (fault := self._silence()) is not None:
            raise TransportError(str(fault))
        self._fault = None

    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        """Send the strokes of the targets, if enabled, and take the newest joint states.

        Late joint states are a fault, with the legs brought to rest.
        """
        controller = self._controller
        if controller is None:
            raise TransportError(f'{self._options.controller} is not connected')
        self._now = now
        heard = controller.newest(now)
        if heard is not None and abs(now - heard.stamp) <= self._longest_silence:
            self._reading, self._heard_at = heard, now
            self._stamp = max(heard.stamp, self._stamp + REPEATED)
        else:
            self._stamp += REPEATED
        self._fault = self._fault or self._silence(heard)
        if self._on:
            controller.command(targets.strokes)
        assert self._reading is not None
        return Measurement(
            stamp=self._stamp,
            strokes=self._reading.strokes,
            rates=self._reading.rates,
            forces=self._reading.forces,
            enabled=self._on,
            fault=self._fault,
            live=ALL_LEGS,
        )

    @property
    def _longest_silence(self) -> float:
        return LONGEST_SILENCE * self.cycle_time

    def _silence(self, heard: JointReading | None = None) -> LegFault | None:
        """Return what is wrong with the joint states, if they have stayed away for too long."""
        silent = self._now - self._heard_at
        # A share of a cycle is rounding.
        if silent <= self._longest_silence + 0.01 * self.cycle_time:
            return None
        topic, allowed = self._options.joint_states, f'allowed are {self._longest_silence:g} s'
        if heard is not None:
            age = self._now - heard.stamp
            text = f'{topic} is stamped {age:.3f} s before it comes, {allowed}'
        else:
            text = f'{topic} has been silent for {silent:.3f} s, {allowed}'
        return LegFault(0, text)
