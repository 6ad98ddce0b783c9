# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a type of drive is, as drives/<name>.yaml says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from stewart_description.paths import data_folder
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.cia402.states import Status
from stewart_driver.ethercat.gear import Gear
from stewart_driver.ethercat.guards import Guards, Setting
from stewart_driver.ethercat.homing import HomingPlan
from stewart_driver.ethercat.process_data import (
    INPUTS,
    Inputs,
    NEEDED_INPUTS,
    NEEDED_OUTPUTS,
    OUTPUTS,
    Signal,
)
from stewart_driver.ethercat.sdo import bounds, pack
from stewart_driver.legs import LegLimits, LEGS
from stewart_driver.rig_file import DriveIdentity
from stewart_driver.yaml_fields import Fields, read_fields

PACKAGE_FOLDER = Path(__file__).absolute().parents[1]
# A plain number, for six words are looked at in every cycle.
VOLTAGE = int(Status.VOLTAGE_ENABLED)
WORD = (1 << 32) - 1


class MapPlan(NamedTuple):
    """Which maps a drive exchanges in one direction.

    Attributes:
        assign: Map objects to assign.
        write: Signals to write into the first of them; empty if it is fixed.
    """

    assign: tuple[int, ...]
    write: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class DriveType:
    """A type of drive, with its motor and the leg that it moves.

    Attributes:
        title: For people.
        vendor: Vendor of the identity object.
        products: Product codes that are this type.
        revisions: Least and greatest revision.
        outputs, inputs: What is exchanged.
        start_values: Written in this order before the maps.
        clocks: Whether the drive works on SYNC0 of the distributed clocks.
        gear: Counts, lead, ratio, torque.
        limits: What motor, screw and cylinder may do.
        guards: What the drive does by itself, and which of it the type has.
        tells_following: Whether bit 12 of the statusword says that the drive follows its target.
        sto_inputs: Bits of 60FDh of which one that is 1 is a safe torque off; 0 if none is known.
        brake_release, brake_apply: Time from Operation Enabled to a free brake, and from its end
            to a brake that holds; both are 0 for a motor without a brake [s].
        homing: How the drives find home by themselves; None if they do not.
    """

    title: str
    vendor: int
    products: tuple[int, ...]
    revisions: tuple[int, ...]
    outputs: MapPlan
    inputs: MapPlan
    start_values: tuple[Setting, ...]
    clocks: bool
    gear: Gear
    limits: LegLimits
    guards: Guards
    tells_following: bool
    sto_inputs: int
    brake_release: float
    brake_apply: float
    homing: HomingPlan | None

    @classmethod
    def from_yaml(cls, name_or_path: str) -> DriveType:
        """Read a drive type: a stored one by its name, or a YAML file by its path.

        Raises:
            ConfigurationError: If there is none, or the file says something that cannot be used.
        """
        fields = read_fields(drive_path(name_or_path))
        identity, maps, legs = (fields.section(key) for key in ('identity', 'maps', 'legs'))
        stroke = legs.numbers('stroke_m', 2)
        result = cls(
            title=fields.text('title'),
            vendor=identity.integer('vendor', 0, WORD),
            products=tuple(identity.integers('products', 0, WORD)),
            revisions=tuple(identity.integers('revisions', 0, WORD, 2)),
            outputs=_plan(maps.section('outputs'), OUTPUTS, NEEDED_OUTPUTS),
            inputs=_plan(maps.section('inputs'), INPUTS, NEEDED_INPUTS),
            start_values=tuple(_start_value(item) for item in fields.sections('start_values')),
            clocks=fields.flag('distributed_clocks'),
            gear=_gear(fields),
            limits=LegLimits(
                np.full(LEGS, stroke[0]),
                np.full(LEGS, stroke[1]),
                legs.number('rate_mps', positive=True),
                legs.number('acceleration_mps2', positive=True),
            ),
            guards=Guards.from_fields(fields.section('guards')),
            tells_following=fields.flag('tells_following'),
            sto_inputs=fields.integer('sto_inputs', 0, WORD) if fields.has('sto_inputs') else 0,
            brake_release=fields.number('brake_release_s', least=0.0),
            brake_apply=fields.number('brake_apply_s', least=0.0),
            homing=HomingPlan.from_fields(fields.section('homing'))
            if fields.has('homing')
            else None,
        )
        fields.section('sources')
        for section in (identity, maps, legs, fields):
            section.finish()
        return result

    def accepts(self, identity: DriveIdentity) -> bool:
        """Tell whether a drive is of this type."""
        least, greatest = self.revisions
        return (
            identity.vendor == self.vendor
            and identity.product in self.products
            and least <= identity.revision <= greatest
        )

    def all_follow(self, statuswords: Sequence[int]) -> bool:
        """Tell whether all drives in operation say that they follow, if they say so at all."""
        return not self.tells_following or all(
            word & Status.TARGET_FOLLOWED for word in statuswords
        )

    def torque_off(self, inputs: Inputs) -> bool:
        """Tell whether a drive is in safe torque off; without an input for it, without voltage."""
        if self.sto_inputs and inputs.digital is not None:
            return inputs.digital & self.sto_inputs != 0
        return not inputs.statusword & VOLTAGE

    @property
    def identity_text(self) -> str:
        """Return what is accepted, for an error."""
        products = ' or '.join(f'0x{product:X}' for product in self.products)
        least, greatest = self.revisions
        return (
            f'vendor 0x{self.vendor:X}, product {products}, revision 0x{least:X} to 0x{greatest:X}'
        )


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


def _plan(fields: Fields, signals: Mapping[str, Signal], needed: tuple[str, ...]) -> MapPlan:
    assign = tuple(fields.integers('assign', 0x1600, 0x1BFF))
    names: tuple[str, ...] = ()
    if fields.has('write'):
        names = tuple(fields.take('write', 'a list of signals'))
        if set(names) - set(signals) or not set(needed) <= set(names) or len(assign) != 1:
            raise ConfigurationError(
                fields.name('write'),
                list(names),
                f'one assigned map, and of {", ".join(signals)} at least {", ".join(needed)}',
            )
    fields.finish()
    return MapPlan(assign, names)


def _start_value(fields: Fields) -> Setting:
    kind = fields.text('type')
    result = Setting(
        fields.text('why'),
        fields.integer('object', 0x1000, 0xFFFF),
        fields.integer('subindex', 0, 0xFF) if fields.has('subindex') else 0,
        pack(kind, fields.integer('value', *bounds(kind))),
        fields.flag('needed') if fields.has('needed') else False,
    )
    fields.finish()
    return result


def _gear(fields: Fields) -> Gear:
    gear = fields.section('gear')
    result = Gear(
        counts_per_revolution=gear.integer('counts_per_revolution', 1, 1 << 31),
        ratio=gear.number('ratio', positive=True),
        lead=gear.number('lead_m', positive=True),
        direction=gear.integer('direction', -1, 1),
        rated_torque=gear.number('rated_torque_nm', positive=True),
        largest_torque=gear.number('largest_torque', positive=True),
    )
    if result.direction == 0:
        raise ConfigurationError(gear.name('direction'), 0, '1 or -1')
    gear.finish()
    return result
