# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Legs as other programs log them: six strokes or lengths, six forces, in whatever unit.

Columns are six that differ by a number, 1 to 6 or 0 to 5; a word or a unit in their names says
what they are. What a header leaves open is decided by the limits of the platform where only one
reading lies inside them, and told; otherwise it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import re

import numpy as np
from stewart_identification.importing.imu_log import NoImuLog, Stamps
from stewart_identification.importing.named_columns import LogTable, split_unit
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import forward_batch
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.solvers.recognition import fitting, share_inside

LENGTHS = {'m': 1.0, 'mm': 1e-3, 'cm': 1e-2, 'um': 1e-6, 'µm': 1e-6, 'in': 0.0254}
FORCES = {'n': 1.0, 'kn': 1e3, 'lbf': 4.4482216152605, 'kgf': 9.80665}
UNITS = {'strokes': LENGTHS, 'lengths': LENGTHS, 'forces': FORCES}
"""What a group of six can be, and its units."""
GUESSED = {'strokes': ('m', 'cm', 'mm'), 'lengths': ('m', 'cm', 'mm'), 'forces': ('n', 'kn')}
NOT_MEASURED = re.compile(
    'cmd|command|target|desired|setpoint|refer|soll|vel|speed|rate|accel|temp|current|err|速度|'
    'torque|moment|[力转扭]矩'
)
TORQUE = re.compile('torque|moment|[力转扭]矩')
TORQUES = ('nm', 'n.m', 'mnm', 'ncm', 'knm')
"""Units of torque, small letters without blanks."""
SPELLED = 'length|len[_#]|länge|长'
WORDS = {
    'forces': re.compile('force|effort|load|thrust|kraft|力|tension|axial|(^|_)f[_#]'),
    'strokes': re.compile('stroke|exten|displ|hub|行程|位移|(^|_)[qs][_#]'),
    'lengths': re.compile(f'{SPELLED}|(^|_)l[_#]'),
    '': re.compile('leg|actuator|cyl|piston|pos|joint|jack|strut|limb|prism|zyl|bein|杆|腿'),
}
"""What a stem says it is, asked in this order; the last are strokes or lengths."""
BELIEVED = (0.3, 3.0)
"""Weight that the forces carry, in units of the described one."""
ROWS = 200
"""Samples that are looked at for that."""


class NoLegLog(NoImuLog):
    """The legs of a log cannot be understood, or are another platform's."""


@dataclass(frozen=True, eq=False)
class LegLog:
    """What legs did, n samples.

    Attributes:
        stamps_ns (n,): [ns since the epoch].
        strokes (n, 6): [m].
        forces (n, 6): Positive where they push the joints apart [N]; None if the log has none.
        remarks: What was assumed, and what is odd.
    """

    stamps_ns: Stamps
    strokes: Array
    forces: Array | None
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Six:
    """Six columns that differ by the number of the leg.

    Attributes:
        stem: Their name in small letters, ``#`` for the number.
        unit: As the header has it; empty if it has none.
        places: Of the columns, leg by leg.
    """

    stem: str
    unit: str
    places: tuple[int, ...]

    @property
    def is_torque(self) -> bool:
        """Whether name or unit say that it is the torque of a motor."""
        return self.unit in TORQUES or TORQUE.search(self.stem) is not None

    @property
    def role(self) -> str | None:
        """What it is, empty for strokes or lengths; None for what is not of interest."""
        if NOT_MEASURED.search(self.stem):
            return None
        if self.unit in FORCES:
            return 'forces'
        role = next((role for role, word in WORDS.items() if word.search(self.stem)), None)
        known = LENGTHS if role != 'forces' else FORCES
        return role if not self.unit or self.unit in known else None


def sixes(names: Sequence[str]) -> list[Six]:
    """Find the groups of six columns among the names of a table."""
    found: dict[tuple[str, str], dict[int, int]] = {}
    for place, name in enumerate(names):
        body, unit = split_unit(name)
        numbers = re.findall(r'\d+', body)
        if len(numbers) == 1 and len(numbers[0]) < 3:
            stem = re.sub(r'\d+', '#', body)
            found.setdefault((stem, unit), {}).setdefault(int(numbers[0]), place)
    return [
        Six(*key, tuple(places[leg] for leg in sorted(places)))
        for key, places in found.items()
        if sorted(places) in (list(range(6)), list(range(1, 7)))
    ]


def has_legs(names: Sequence[str], chosen: Mapping[str, str]) -> bool:
    """Tell whether there are six strokes or lengths among the names."""
    return any(
        six.role in {'strokes', 'lengths', ''} or _is_chosen(six, chosen) for six in sixes(names)
    )


def leg_log(
    table: LogTable,
    platform: Platform,
    *,
    chosen: Mapping[str, str] | None = None,
    start_ns: int = 0,
) -> LegLog:
    """Read the legs of a table, in SI units.

    Args:
        table: Columns with their names, and the units that the user said.
        platform: Whose legs they are.
        chosen: Stem for each role that is not known by its name, as ``{'forces': 'ch#'}``.
        start_ns: When the log begins, where it has no date [ns since the epoch].

    Raises:
        NoLegLog: If strokes or lengths are not there or fit no limits, or several columns could be
            what is wanted.
        ConfigurationError: If the legs of the platform are cranks or carriages.
    """
    if platform.geometry.rods is not None:
        raise ConfigurationError('--platform', platform.name, 'a platform of linear legs')
    groups, chosen = sixes(table.names), chosen or {}
    roles = 'strokes', 'lengths', ''
    moved = [six for role in roles for six in _of(groups, role, chosen, table)]
    if not moved:
        raise NoLegLog(
            f'{table.place}: no six strokes or lengths among {", ".join(table.names)}: say which '
            'they are, as --name strokes=pos#'
        )
    remarks: list[str] = []
    strokes = _strokes(moved[0], table, platform, chosen, remarks)
    forces, taken = None, moved[:1]
    for six in _of(groups, 'forces', chosen, table):
        forces = _forces(six, table, platform, strokes, remarks)
        taken.append(six)
    remarks += _left_out([six for six in groups if six not in taken], table)
    stamps = table.stamps(start_ns)
    # What reading the times found odd is among those of the table only now.
    return LegLog(stamps, strokes, forces, (*table.remarks, *remarks))


def _left_out(groups: list[Six], table: LogTable) -> list[str]:
    """Say which columns of legs are not taken, and what can be made of torques."""
    if not groups:
        return []
    ends = [(table.names[six.places[0]], table.names[six.places[-1]]) for six in groups]
    told = ', '.join(f'{first} to {last}' for first, last in ends)
    remarks = [f'{table.place}: not taken: {told}']
    if any(six.is_torque for six in groups):
        remarks.append(
            'torques of motors are no forces of legs: with a screw a force is 2π times torque and '
            'gear ratio by lead, less what friction takes; turn them into N and import them as '
            '--name forces=NAME#'
        )
    return remarks


def _is_chosen(six: Six, chosen: Mapping[str, str]) -> str | None:
    """Return the role for which the user named six columns."""
    for role in UNITS:
        if role in chosen and bare(split_unit(chosen[role])[0]) == bare(six.stem):
            return role
    return None


def bare(stem: str) -> str:
    """Return a stem without its number: ``pos#``, ``pos_#`` and ``pos`` mean the same."""
    return re.sub('[#_]', '', stem)


def _of(groups: list[Six], role: str, chosen: Mapping[str, str], table: LogTable) -> list[Six]:
    """Return the one group of a role, or none."""
    named = [six for six in groups if _is_chosen(six, chosen) == role]
    if role in chosen and not named:
        stems = ', '.join(six.stem for six in groups) or 'none'
        raise NoLegLog(f'{table.place}: no six columns {chosen[role]}, there are {stems}')
    found = named or [s for s in groups if s.role == role and not _is_chosen(s, chosen)]
    if len(found) > 1:
        stems = ', '.join(f'{six.stem} [{six.unit}]' for six in found)
        raise NoLegLog(
            f'{table.place}: {len(found)} groups of six could be the {role or "legs"}: {stems}; '
            f'say which one, as --name {role or "strokes"}={found[0].stem}'
        )
    return found


def _strokes(
    six: Six, table: LogTable, platform: Platform, chosen: Mapping[str, str], remarks: list[str]
) -> Array:
    """Return strokes [m] of columns that are strokes or lengths, in whatever unit."""
    role = _is_chosen(six, chosen) or six.role
    values = table.numbers(list(six.places))
    readings = [] if role == 'strokes' else _readings('lengths', six, table)
    # The letter l alone is also what strokes are called.
    short = role == 'lengths' and not _is_chosen(six, chosen) and not re.search(SPELLED, six.stem)
    retracted, limits = platform.geometry.retracted_length, platform.limits.stroke

    def as_strokes(kind: str, unit: str) -> Array:
        return values * LENGTHS[unit] - (retracted if kind == 'lengths' else 0.0)

    def fitting_of(readings: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [each for each in readings if share_inside(as_strokes(*each), platform) > 0.5]

    good = fitting_of(readings)
    if role != 'lengths' or (short and not good):
        readings = [*_readings('strokes', six, table), *readings]
        good = fitting_of(readings)
    # In a smaller unit, strokes in m would fit as well, as a platform that hardly moves.
    largest = max((LENGTHS[unit] for _, unit in good), default=0.0)
    good = [(kind, unit) for kind, unit in good if LENGTHS[unit] == largest]
    if len(good) > 1:
        told = ' or '.join(f'{kind} in {unit}' for kind, unit in good)
        raise NoLegLog(
            f'{table.place}: {six.stem} can be {told}: say which, as --name {good[0][0]}='
            f'{six.stem} --unit {good[0][0]}={good[0][1]}'
        )
    kind, unit = good[0] if good else readings[0]
    strokes = as_strokes(kind, unit)
    if not good:
        raise NoLegLog(_outside(six, table, platform, values, readings))
    if len(readings) > 1:
        remarks.append(f'{six.stem}: assumed to be {kind} in {unit}, which fit {platform.name}')
    outside = (strokes < limits[:, 0]) | (strokes > limits[:, 1])
    if outside.any():
        row, leg = np.argwhere(outside)[0]
        remarks.append(
            f'warning: {int(outside.any(axis=1).sum())} of {len(strokes)} samples lie outside the '
            f'limits of {platform.name}: leg {leg + 1} has a stroke of {strokes[row, leg]:.4g} m '
            f'in sample {row + 1}, outside [{limits[leg, 0]:g}, {limits[leg, 1]:g}] m'
        )
    return np.asarray(strokes)


def _readings(kind: str, six: Six, table: LogTable) -> list[tuple[str, str]]:
    """Return six columns as strokes or lengths, in the unit that is said or in all likely ones."""
    unit = table.units.get(kind, six.unit)
    if unit and unit not in LENGTHS:
        raise NoLegLog(f'{table.place}: {kind} in {unit!r}, known are {", ".join(LENGTHS)}')
    return [(kind, unit) for unit in ([unit] if unit else GUESSED[kind])]


def _outside(
    six: Six,
    table: LogTable,
    platform: Platform,
    values: Array,
    readings: list[tuple[str, str]],
) -> str:
    """Say that no reading of six columns lies inside the limits, and which platform's they are."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    kinds = {kind for kind, _ in readings}
    limits, retracted = platform.limits.stroke, platform.geometry.retracted_length
    bounds = []
    for kind in sorted(kinds):
        least, most = limits.T + (retracted if kind == 'lengths' else 0.0)
        bounds.append(f'{kind} of [{least.min():.4g}, {most.max():.4g}] m')
    units = ', '.join(dict.fromkeys(unit for _, unit in readings))
    better = dict.fromkeys(
        name
        for kind, unit in readings
        for name in fitting(values * LENGTHS[unit], lengths=kind == 'lengths')
        if name != platform.name
    )
    hint = (
        f' They fit {" and ".join(better)} better'
        if better
        else f' Or in another unit? Say which, as --unit {max(kinds)}=mm'
    )
    if kinds == {'lengths'}:
        hint += f'; or are they strokes? Say so, as --name strokes={six.stem}'
    return (
        f'{table.place}: {six.stem} goes from {low:.6g} to {high:.6g} {units}, and '
        f'{platform.name} has {" or ".join(bounds)}: is this recording of another platform?{hint}'
    )


def _forces(
    six: Six, table: LogTable, platform: Platform, strokes: Array, remarks: list[str]
) -> Array:
    """Return forces [N]; what they carry tells an unknown unit and a turned sign."""
    values = table.numbers(list(six.places))
    unit = table.units.get('forces', six.unit)
    if unit and unit not in FORCES:
        raise NoLegLog(f'{table.place}: forces in {unit!r}, known are {", ".join(FORCES)}')
    carried, weight = _carried(platform, strokes, values), _weight(platform)
    low, high = BELIEVED
    if not unit:
        fits = (
            u for u in GUESSED['forces'] if low * weight <= carried * FORCES[u] <= high * weight
        )
        unit = next(fits, 'n')
        remarks.append(f'{six.stem}: assumed to be forces in {unit.replace("n", "N")}')
    carried *= FORCES[unit]
    if not low * weight <= carried <= high * weight and np.isfinite([carried, weight]).all():
        hint = (
            'turn their signs: forces are positive where a drive pushes its joints apart'
            if low * weight <= -carried <= high * weight
            else 'check their unit and zero, and --platform'
        )
        remarks.append(
            f'warning: the forces carry {carried:.4g} N, and what is described as {platform.name} '
            f'weighs {weight:.4g} N: {hint}'
        )
    return values * FORCES[unit]


def _weight(platform: Platform) -> float:
    """Return what all that moves weighs [N]; NaN if the description has no masses."""
    masses = platform.masses
    if masses is None:
        return float('nan')
    payload = 0.0 if masses.payload is None else masses.payload.mass
    total = masses.platform.mass + payload + 6.0 * (masses.cylinder.mass + masses.rod.mass)
    return total * float(np.linalg.norm(masses.gravity))


def _carried(platform: Platform, strokes: Array, forces: Array) -> float:
    """Return what the forces carry against gravity, median [their unit]; NaN if unknown."""
    whole = np.flatnonzero(np.isfinite(strokes).all(axis=1) & np.isfinite(forces).all(axis=1))
    if platform.masses is None or not whole.size:
        return float('nan')
    rows = whole[np.linspace(0, whole.size - 1, min(ROWS, whole.size)).astype(int)]
    geometry = platform.geometry
    found = forward_batch(geometry, geometry.retracted_length + strokes[rows])
    good = np.asarray(found.converged, dtype=np.bool_)
    if not good.any():
        return float('nan')
    directions = jacobian(geometry, found.position[good], found.quaternion_xyzw[good])[:, :, :3]
    gravity = platform.masses.gravity
    up = -gravity / np.linalg.norm(gravity)
    return float(np.median(np.einsum('nl,nlk,k->n', forces[rows][good], directions, up)))
