# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a virtual rig consists of, as plain values that travel as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import LEGS
from stewart_simulation.ethercat.omron_1s import DriveType, R88D_1SN04H, SYNC_ERROR_LIMIT
from stewart_simulation.plant_options import PlantOptions
from stewart_tables.settings import filled, param, positive

ETHERCAT, CARD = 'ethercat', 'card'
FIRST_SERIAL = 0x0150_0001
# Options that are fields of a drive type, too.
OF_THE_DRIVES = (
    *('free_maps', 'needs_sync0', 'emergencies', 'sync_error_limit'),
    *('controlword_delay', 'sto_is_fault'),
)


@dataclass(frozen=True)
class RigSettings(PlantOptions):
    """Plant, drives, and the wires in front of them.

    Raises:
        ConfigurationError: If a value is out of range.
    """

    moved_by: str = param(
        ETHERCAT, 'what the drives obey: ethercat, or card', choices=(ETHERCAT, CARD)
    )
    ethercat: bool = param(default=True, description='an EtherCAT segment of six drives')
    card: bool = param(default=True, description='an analogue card with the position sensors')
    imu: bool = param(default=True, description='a WitMotion sensor, where the platform has one')
    seed: int = param(
        0, "seed of all noise, of the encoders' zeros and of the sensors' gains", min=0
    )
    drive: str = param('omron_1s', 'drives: type, for the gear, which the driver has to share')
    encoder_noise: float = param(1e-6, 'drives: standard deviation of a reading [m]', min=0.0)
    hold_after: float = positive(0.01, 'drives: without a word, one goes on for so long [s]')
    needs_sync0: bool = param(default=True, description='drives: no SAFEOP without SYNC0')
    free_maps: bool = param(default=True, description='drives: 1600h and 1A00h can be written')
    controlword_delay: int = param(
        2, 'drives: how many targets later than 607Ah they obey 6040h; negative: earlier'
    )
    sync_error_limit: int = param(
        SYNC_ERROR_LIMIT,
        '10F1h:2 of the drives: they leave OP when SYNC0 lacks outputs too often; 0: never',
    )
    enable_delay: float = param(
        0.1, 'drives: longest time that one takes to switch on; each has its own [s]', min=0.0
    )
    emergencies: bool = param(
        default=False, description='drives: emergencies unasked, without 10F3h:5'
    )
    absent: str = param('', 'drives: objects that they do not have, as in 60C2 6066')
    unmappable: str = param('', 'drives: objects that their free maps do not take')
    serials: str = param(
        'each',
        'drives: serial numbers: each its own, zero, or absent',
        choices=('each', 'zero', 'absent'),
    )
    sto_is_fault: bool = param(
        default=False, description='drives: a fault when the safety circuit takes the torque'
    )
    card_mode: str = param(
        'position',
        'card: what the amplifiers take: position or velocity',
        choices=('position', 'velocity'),
    )
    enable_channel: int = param(
        0, 'card: digital output that switches the amplifiers on; -1: they are always on'
    )
    sensor_noise: float = param(2e-4, 'card: standard deviation of a position sensor [V]', min=0.0)
    card_noise: float = param(0.5, 'card: standard deviation of a conversion [code]', min=0.0)
    card_late_share: float = param(
        1e-3, 'card: share of calls held up, by 1 ms on average', min=0.0
    )
    accelerometer_noise: float = param(0.02, 'imu: standard deviation of a sample [m/s2]', min=0.0)
    gyroscope_noise: float = param(1e-3, 'imu: standard deviation of a sample [rad/s]', min=0.0)
    accelerometer_bias: tuple[float, float, float] = param(
        (0.0, 0.0, 0.0), 'imu: constant error [m/s2]'
    )
    gyroscope_bias: tuple[float, float, float] = param(
        (0.0, 0.0, 0.0), 'imu: constant error [rad/s]'
    )
    script: str = param('', 'file of faults with their times, one JSON object per line')

    def __post_init__(self) -> None:
        super().__post_init__()
        if not getattr(self, self.moved_by):
            expected = f'true, for moved_by is {self.moved_by}'
            raise ConfigurationError(self.moved_by, False, expected)
        for name in ('absent', 'unmappable'):
            try:
                _objects(getattr(self, name))
            except ValueError:
                expected = 'hexadecimal numbers'
                raise ConfigurationError(name, getattr(self, name), expected) from None

    def check_carrier(self, topic: str, *, inline: bool) -> None:
        """Refuse a base on another rig's platform where time is real, or the base a ship's."""
        if not inline or self.base != 'still':
            expected = 'empty in real time, and where `base` is not still'
            raise ConfigurationError('base_on', topic, expected)

    @property
    def amplifiers(self) -> dict[str, Any]:
        """What the nodes on the card have to be told of its amplifiers."""
        return {'daq.mode': self.card_mode, 'daq.enable_channel': self.enable_channel}

    def drive_types(self) -> list[DriveType]:
        """Return the types of the six drives, each with its serial number."""
        delays = np.random.default_rng((self.seed, 2)).uniform(0.0, self.enable_delay, LEGS)
        same = {name: getattr(self, name) for name in OF_THE_DRIVES}
        serials = [FIRST_SERIAL + 7 * self.seed + leg for leg in range(LEGS)]
        return [
            DriveType(
                identity=replace(R88D_1SN04H, serial=serial if self.serials == 'each' else 0),
                unmappable=_objects(self.unmappable),
                absent=_objects(self.absent),
                has_serial=self.serials != 'absent',
                enable_delay=float(delay),
                **same,
            )
            for serial, delay in zip(serials, delays, strict=True)
        ]

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> RigSettings:
        """Return the settings that a JSON object means; raises `ConfigurationError`."""
        defaults = {item.name: item.default for item in fields(cls)}
        return filled(
            cls, {name: _decimal(defaults.get(name), value) for name, value in values.items()}
        )

    def plain(self) -> dict[str, Any]:
        """Return what JSON can take."""
        return asdict(self)


@dataclass(frozen=True)
class VirtualRigParameters:
    """Parameters of the virtual_rig node beside those of `RigSettings`."""

    directory: str = param('', 'where its wires end; empty: by user and platform, see README')
    base_on: str = param(
        '',
        'simulation/truth of another rig, on whose platform the base stands; in simulated time '
        'only, empty: the base is what `base` says',
    )
    truth_rate: float = param(200.0, 'rate of simulation/truth [Hz]', min=1.0, max=1000.0)


def _decimal(default: Any, value: Any) -> Any:
    """Return a value with decimal numbers where the default has them: JSON may write 3 for 3.0."""
    if isinstance(default, tuple) and isinstance(value, list) and default:
        return [_decimal(default[0], item) for item in value]
    return float(value) if isinstance(default, float) and type(value) is int else value


def _objects(text: str) -> frozenset[int]:
    """Read hexadecimal indices; raises ValueError."""
    return frozenset(int(index, 16) for index in text.split())
