# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What moves the legs in simulated time: a back end, and the plant behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_driver.backend import Backend, find_backend
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.options import DaqOptions
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.legs import Array
from stewart_driver.nodes.driver_parameters import DriverParameters
from stewart_kinematics.model.shared_platform import load_platform
from stewart_simulation.rig.inertial_feed import InertialFeed
from stewart_simulation.rig.inline_rig import InlineRig
from stewart_simulation.rig.mechanics import Mechanics
from stewart_simulation.rig.settings import CARD, ETHERCAT, RigSettings, VirtualRigParameters
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.simulated_backend import SimulatedBackend, SimulatedOptions

# Tells the seed of its noise from those of the drives.
IMU_NOISE = 2


class Machine(ABC):
    """A machine whose time is the caller's.

    Attributes:
        backend: How the control loop reaches it.
    """

    backend: Backend

    @property
    @abstractmethod
    def mechanics(self) -> Mechanics[Any]:
        """The plant and its time, which a slow call of the back end takes beyond now.

        There from the opening of the back end on.
        """

    @abstractmethod
    def plug_sensor(self, now: Callable[[], float]) -> PluggedSensor:
        """Put the inertial sensor on the plant, on a clock [s]; raises `ConfigurationError`."""

    def truth(self) -> Array | None:
        """Return the true pose and twist of the platform, shape (13,); None without a plant."""
        drives = self.mechanics.drives
        return drives.state if isinstance(drives, RigidDrives) else None

    def go(self, now: float) -> None:
        """Bring the plant to an instant [s]."""
        self.mechanics.advance(now)

    def end(self) -> None:  # noqa: B027 - without wires there is nothing to do
        """Take the wires away, so that the next machine of this process finds the same names."""


class SimulatedMachine(Machine):
    """The drives of the back end ``simulated``."""

    backend: SimulatedBackend

    def __init__(self, parameters: RigParameters) -> None:
        self._options = parameters.options(SimulatedBackend.name, SimulatedOptions)
        self.backend = SimulatedBackend(self._options)

    @property
    def mechanics(self) -> Mechanics[Any]:
        """As of `Machine`."""
        return self.backend.mechanics

    def plug_sensor(self, now: Callable[[], float]) -> PluggedSensor:
        """Put the inertial sensor on the plant, on a clock [s]; raises `ConfigurationError`."""
        platform, mechanics = load_platform(self._options.platform), self.mechanics
        if not isinstance(mechanics.drives, RigidDrives):
            raise ConfigurationError('model', self._options.model, 'rigid, to estimate its motion')
        if platform.imu is None or platform.masses is None:
            expected = 'a platform with an IMU, to estimate its motion'
            raise ConfigurationError('platform', platform.name, expected)
        rng = np.random.default_rng((self._options.seed, IMU_NOISE))
        mechanics.sensor = PluggedSensor(
            InertialFeed(mechanics, platform.imu, platform.masses.gravity),
            now=now,
            sensor=Sensor(rng=rng),
            port=InlinePort(),
        )
        mechanics.sensor.begin()
        return mechanics.sensor


class InlineMachine(Machine):
    """A virtual rig behind its segment, its card and its sensor, in this process.

    Raises:
        ConfigurationError: If the rig is moved by something else than the back end drives.
    """

    def __init__(
        self,
        parameters: RigParameters,
        now: Callable[[], int],
        kind: type[DaqBackend] | type[EthercatBackend],
    ) -> None:
        settings = parameters.of('virtual_rig', RigSettings, VirtualRigParameters)
        moved_by = ETHERCAT if kind is EthercatBackend else CARD
        if settings.moved_by != moved_by:
            expected = f'{moved_by}, for the back end is {kind.name}'
            raise ConfigurationError('moved_by', settings.moved_by, expected)
        self.rig = rig = InlineRig(settings, now)
        wired: dict[str, object] = {'rig_file': str(rig.rig_file)}
        if moved_by == ETHERCAT:
            wired |= {'interface': rig.interface, 'namespace': ''}
            self.backend = EthercatBackend(
                parameters.options(EthercatBackend.name, EthercatOptions, wired)
            )
        else:
            wired |= {
                'card': 'simulated',
                'device': rig.card,
                'mode': settings.card_mode,
                'enable_channel': settings.enable_channel,
            }
            self.backend = DaqBackend(parameters.options(DaqBackend.name, DaqOptions, wired))

    @property
    def mechanics(self) -> Mechanics[Any]:
        """As of `Machine`."""
        return self.rig.mechanics

    def plug_sensor(self, now: Callable[[], float]) -> PluggedSensor:
        """Return the sensor, which is there already; raises `ConfigurationError` without one."""
        if self.rig.sensor is None:
            raise ConfigurationError('imu', False, 'true, to estimate its motion')
        return self.rig.sensor

    def go(self, now: float) -> None:
        """Bring drives and plant to an instant [s]."""
        self.rig.tick()
        super().go(now)

    def end(self) -> None:
        """Take the wires away."""
        self.rig.end()


def machine_of(parameters: RigParameters, now: Callable[[], int]) -> Machine:
    """Make the machine of a rig, not yet open; `now` is simulated time [ns].

    Raises:
        ConfigurationError: If its back end cannot follow simulated time.
    """
    chosen = parameters.of('driver', DriverParameters)
    kind = find_backend(chosen.backend)
    if kind is SimulatedBackend:
        return SimulatedMachine(parameters)
    if kind is DaqBackend or (kind is EthercatBackend and parameters.has('virtual_rig')):
        return InlineMachine(parameters, now, kind)
    expected = 'simulated or daq, or ethercat of a virtual_rig: metal follows no simulated time'
    raise ConfigurationError('backend', chosen.backend, expected)
