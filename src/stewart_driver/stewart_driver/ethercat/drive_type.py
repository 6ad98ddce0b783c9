# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a type of drive is, as drives/<name>.yaml says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from stewart_description.paths import data_folder
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.cia402.states import State, Status
from stewart_driver.ethercat.gear import Gear
from stewart_driver.ethercat.guards import Guards, Setting
from stewart_driver.ethercat.homing import HomingPlan
from stewart_driver.ethercat.process_data import (
    CYCLIC_POSITION,
    INPUTS,
    Inputs,
    NEEDED_INPUTS,
    NEEDED_OUTPUTS,
    OUTPUTS,
    PADDING,
    Signal,
)
from stewart_driver.ethercat.sdo import pack
from stewart_driver.legs import LegLimits
from stewart_driver.rig_file import DriveIdentity, Word
from stewart_tables.yaml_models import Check, read_model

PACKAGE_FOLDER = Path(__file__).absolute().parents[1]
# A plain number, for six words are looked at in every cycle.
VOLTAGE, STATE_BITS = int(Status.VOLTAGE_ENABLED), 0x6F


class MapPlan(NamedTuple):
    """Which maps a drive exchanges in one direction.

    Attributes:
        write: Signals, and ``padding`` octets, to write into it; empty if it is fixed.
    """

    assign: tuple[Annotated[int, Check(least=0x1600, most=0x1BFF)], ...]
    write: tuple[str, ...] = ()


class Family(NamedTuple):
    """Which drives are a type: product codes, least and greatest revision."""

    vendor: Word
    products: tuple[Word, ...]
    revisions: Annotated[tuple[Word, ...], Check(count=2)]

    def __str__(self) -> str:
        """Return what is accepted, for an error."""
        products = ' or '.join(f'0x{product:X}' for product in self.products)
        least, greatest = self.revisions
        return (
            f'vendor 0x{self.vendor:X}, product {products}, revision 0x{least:X} to 0x{greatest:X}'
        )


class Maps(NamedTuple):
    """Both directions."""

    outputs: MapPlan
    inputs: MapPlan


class LegPlan(NamedTuple):
    """What motor, screw and cylinder may do, all legs alike [m], [m/s], [m/s²]."""

    stroke: Annotated[tuple[float, ...], Check(key='stroke_m', count=2)]
    rate: Annotated[float, Check(key='rate_mps', positive=True)]
    acceleration: Annotated[float, Check(key='acceleration_mps2', positive=True)]


class StartValue(NamedTuple):
    """A value that an object has to have."""

    type: str
    why: str
    object: Annotated[int, Check(least=0x1000, most=0xFFFF)]
    value: Annotated[int, Check(least=-(1 << 63), most=(1 << 64) - 1)]
    subindex: Annotated[int, Check(least=0, most=0xFF)] = 0
    needed: bool = False

    def setting(self, where: str) -> Setting:
        """Return what is written; raises `ConfigurationError` if the value has another type."""
        try:
            data = pack(self.type, self.value)
        except ConfigurationError as error:
            key = f'{where}.{error.key}'
            raise ConfigurationError(key, error.value, error.expected) from None
        signed = self.type.startswith('i')
        return Setting(self.why, self.object, self.subindex, data, self.needed, signed)


@dataclass(frozen=True, eq=False)
class DriveType:
    """A type of drive, with its motor and the leg that it moves, as its file has it.

    Attributes:
        start_values: Written in this order before the maps; as `settings`, their octets.
        clocks: Whether the drive works on SYNC0 of the distributed clocks.
        guards: What the drive does by itself, and which of it the type has.
        tells_following: Whether bit 12 of the statusword says that the drive follows its target.
        brake_release, brake_apply: Time from Operation Enabled to a free brake, and from its end
            to a brake that holds; both are 0 for a motor without a brake [s].
        sto_inputs: Bits of 60FDh of which one that is 1 is a safe torque off; 0 if none is known.
        homing: How the drives find home by themselves; None if they do not.
    """

    title: str
    identity: Family
    maps: Maps
    legs: LegPlan
    start_values: tuple[StartValue, ...]
    clocks: Annotated[bool, Check(key='distributed_clocks')]
    gear: Gear
    guards: Guards
    tells_following: bool
    brake_release: Annotated[float, Check(key='brake_release_s', least=0.0)]
    brake_apply: Annotated[float, Check(key='brake_apply_s', least=0.0)]
    sources: dict[str, str]
    sto_inputs: Word = 0
    homing: HomingPlan | None = None
    settings: tuple[Setting, ...] = field(init=False)
    limits: LegLimits = field(init=False)

    def __post_init__(self) -> None:
        _check_plan('maps.outputs.write', self.maps.outputs, OUTPUTS, NEEDED_OUTPUTS)
        _check_plan('maps.inputs.write', self.maps.inputs, INPUTS, NEEDED_INPUTS)
        numbered = enumerate(self.start_values, 1)
        settings = tuple(item.setting(f'start_values[{number}]') for number, item in numbered)
        object.__setattr__(self, 'settings', settings)
        (lower, upper), rate, acceleration = self.legs
        limits = LegLimits.alike(lower, upper, rate, acceleration)
        object.__setattr__(self, 'limits', limits)

    @classmethod
    def from_yaml(cls, name_or_path: str) -> DriveType:
        """Read a drive type: a stored one by its name, or a YAML file by its path.

        Raises:
            ConfigurationError: If there is none, or the file says something that cannot be used.
        """
        return read_model(drive_path(name_or_path), cls)

    def accepts(self, identity: DriveIdentity) -> bool:
        """Tell whether a drive is of this type."""
        vendor, products, (least, greatest) = self.identity
        known = identity.vendor == vendor and identity.product in products
        return known and least <= identity.revision <= greatest

    def why_not_following(self, item: Inputs) -> str:
        """Say by what a drive in operation does not follow its target yet; empty if it does.

        Some show their mode, or that they follow, a tenth of a second later only.
        """
        if item.mode not in {None, CYCLIC_POSITION}:
            return f'is in mode {item.mode} instead of {CYCLIC_POSITION} (6061h)'
        if self.tells_following and not item.statusword & Status.TARGET_FOLLOWED:
            return 'does not say that it follows (statusword bit 12)'
        return ''

    def torque_off(self, inputs: Inputs) -> bool:
        """Tell whether a drive is in safe torque off; without an input for it, without voltage.

        A drive that is in operation has voltage, whatever its bit 4 says: not every drive has it.
        """
        if self.sto_inputs and inputs.digital is not None:
            return inputs.digital & self.sto_inputs != 0
        word = inputs.statusword
        return not word & VOLTAGE and word & STATE_BITS != State.OPERATION_ENABLED


def drive_path(name_or_path: str) -> Path:
    """Find the file of a drive type; raises `ConfigurationError` with the names that there are."""
    path = Path(name_or_path)
    if path.suffix:
        return path
    try:
        folder = data_folder(PACKAGE_FOLDER, 'drives')
    except FileNotFoundError as error:
        raise ConfigurationError('drive', name_or_path, f'a path ({error})') from error
    stored = folder / f'{name_or_path}.yaml'
    if path.name != name_or_path or not stored.is_file():
        known = ', '.join(sorted(item.stem for item in folder.glob('*.yaml')))
        raise ConfigurationError(
            'drive', name_or_path, f'the path of a .yaml file, or one of {known}'
        )
    return stored


def _check_plan(
    key: str, plan: MapPlan, signals: Mapping[str, Signal], needed: tuple[str, ...]
) -> None:
    names = set(plan.write) - {PADDING}
    if plan.write and (names - set(signals) or set(needed) - names or len(plan.assign) != 1):
        expected = f'one assigned map, and of {", ".join(signals)} at least {", ".join(needed)}'
        raise ConfigurationError(key, list(plan.write), expected)
