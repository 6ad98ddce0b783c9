# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the columns of an IMU's log are called, and in which units they are.

Columns are known by their names, in any order and in the spellings of several versions of the
vendor's program; units come from the brackets behind the names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import re

import numpy as np
from stewart_identification.importing.imu_log import (
    attitude_of,
    gravity_at_rest,
    ImuLog,
    NoImuLog,
    Stamps,
)
from stewart_kinematics.motion import Array

STANDARD_GRAVITY = 9.80665
QUANTITIES: dict[str, tuple[str, ...]] = {
    'acceleration': (
        *('acc', 'a', 'acceleration', '加速度'),
        *('accel', 'accelerometer', 'linearacceleration', 'beschleunigung'),
    ),
    'angular velocity': (
        *('as', 'w', 'gyro', 'angularvelocity', '角速度'),
        *('gyr', 'gyroscope', 'angularrate', 'winkelgeschwindigkeit', 'drehrate'),
    ),
    'angle': ('angle', 'ang', 'euler', '角度', 'winkel'),
}
"""What the columns of a vector are called, beside x, y or z: the vendor's words, then others'."""
QUATERNION = ('q', 'quaternions', 'quaternion', '四元数')
TIMES = ('time', 'times', 'chiptime', '时间', '片上时间', 't', 'timestamp', 'stamp', 'zeit')
DATES = ('date', 'datum', 'day', '日期')
DEVICE = ('devicename', 'address', 'device', '设备名称')

ACCELERATIONS = {
    'g': STANDARD_GRAVITY,
    'm/s2': 1.0,
    'mg': 1e-3 * STANDARD_GRAVITY,
}
ANGLES = {'deg': np.pi / 180.0, '°': np.pi / 180.0, 'rad': 1.0}
UNITS = {
    'acceleration': ACCELERATIONS,
    'angular velocity': {
        **{f'{unit}/s': k for unit, k in ANGLES.items()},
        'dps': np.pi / 180.0,
        'mdps': 1e-3 * np.pi / 180.0,
    },
    'angle': ANGLES,
}
"""Factors into m/s², rad/s and rad; the first is the vendor's, where a header has none."""
OURS = {
    'acceleration': (('fx', 'fy', 'fz'), ('m/s2',)),
    'angular velocity': (('p', 'q', 'r'), tuple(UNITS['angular velocity'])),
}
"""As this suite and flight logs write vectors, all in one of these units: an fx in another one is
a force, and a p without one may be a pressure."""
NEAR_GRAVITY = (0.8, 1.2)
"""Specific force at rest, in units of gravity, of a sensor whose unit is understood."""
ABOUT_GRAVITY = (0.5, 2.0)
"""Its median in motion."""

_UNIT = re.compile(r'[(\[（](?!\d+[)\]）])(.*?)[)\]）]')
_ENDINGS = re.compile(
    '_(m|mm|cm|um|µm|in|n|kn|lbf|kgf|mps|mps2|g|mg|rad|radps|radps2|deg|degps|dps|mdps|nm|s|ms|us|ns)$'
)
_SPELLINGS = (
    (r'[\s·*]', ''),
    ('[º˚]', '°'),
    ('²', '2'),
    ('¹', '1'),
    ('⁻', '-'),
    (r'\^', ''),
    ('-1$', '/'),
    ('-2$', '//'),
    (r'^(.+?)s(//?)$', r'\1\2s'),
    ('//s$|/s/s$', '/s2'),
    ('s(ec|ek)$', 's'),
    ('^degrees?', 'deg'),
    ('(?<=[dmg])ps', '/s'),
)
"""Other spellings of units, as ``rad s^-1``, ``º/sec`` and ``mps2``, each to be replaced."""


def plain(name: str) -> str:
    """Return a column's name in small letters, without unit, blanks and underscores.

    Of a path as ``/imu/data/angular_velocity/x``, or ``field.angular_velocity.x`` as rostopic
    writes it, the last two parts remain.
    """
    name = _UNIT.sub('', name)
    if name.startswith('/'):
        name = ''.join(name.split('/')[-2:])
    if name.startswith('field.'):
        name = ''.join(name.split('.')[-2:])
    return re.sub(r'[\s_\-.#%]', '', name).lower()


def unit_of(name: str) -> str:
    """Return what stands in brackets behind a column's name, in small letters."""
    found = _UNIT.search(name)
    return spelt(found.group(1)) if found else ''


def spelt(unit: str) -> str:
    """Return a unit in small letters as this module spells it: ``rad s⁻¹`` is rad/s."""
    unit = unit.lower()
    if unit in {'dps', 'mdps'}:
        return unit
    for other, ours in _SPELLINGS:
        unit = re.sub(other, ours, unit)
    return unit


def split_unit(name: str) -> tuple[str, str]:
    """Split a name as ``Actuator 1 [mm]`` or ``leg_1_mm``, in small letters, blanks as ``_``.

    The name may say its unit both ways, as under a line of units.
    """
    body = re.sub(r'[^\w#]+', '_', _UNIT.sub('', name).lower()).strip('_')
    unit, ending = unit_of(name), _ENDINGS.search(body)
    if ending is None or unit not in {'', spelt(ending.group(1))}:
        return body, unit
    return body[: ending.start()], spelt(ending.group(1))


@dataclass(frozen=True, eq=False)
class LogTable:
    """Columns of numbers with their names.

    Attributes:
        place: File, and line of the names where it has lines, for messages.
        names: As the file has them.
        numbers: Returns some columns by their places, shape (n, k).
        stamps: Returns when the rows were taken; a log without a date begins at its argument
            [ns since the epoch].
        origin: File and layout, kept in the bag.
        inventory: What there is, for messages.
        units: What the user says of units, by quantity.
        remarks: What was odd.
    """

    place: str
    names: list[str]
    numbers: Callable[[list[int]], Array]
    stamps: Callable[[int], Stamps]
    origin: str
    inventory: str
    units: Mapping[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def has_imu(self) -> bool:
        """Whether there are accelerations."""
        return vector_places(self.names, 'acceleration') is not None

    def imu(self, start_ns: int = 0) -> ImuLog:
        """Return the samples of the IMU, in SI units.

        Raises:
            NoImuLog: If a vector is not there, its unit is unknown, or a time makes no sense.
        """
        (force, unit), turning = map(self._needed, ('acceleration', 'angular velocity'))
        stamps, remarks = self.stamps(start_ns), list(self.remarks)
        # At rest gravity is exact; in motion it is what is felt for the most part.
        usual, when, likely = gravity_at_rest(stamps, force), 'at rest', NEAR_GRAVITY
        if not np.isfinite(usual):
            usual, when, likely = _usual(force), 'for the most part', ABOUT_GRAVITY
        low, high = (STANDARD_GRAVITY * share for share in likely)
        if not unit:
            # Most programs log g; gravity tells.
            scaled = {u: usual * ACCELERATIONS[u] for u in ('g', 'm/s2', 'mg')}
            found = next((u for u, norm in scaled.items() if low <= norm <= high), None)
            unit = found or 'g'
            if unit != 'g':
                remarks.append(f'{self.place}: accelerations have no unit, {unit} fits gravity')
            elif found is None:
                remarks.append(f'warning: {self.place}: accelerations have no unit, assumed g')
        felt = usual * ACCELERATIONS[unit]
        if felt < low or felt > high:
            remarks.append(
                f'warning: {self.place}: {when} the specific force is '
                f'{felt / STANDARD_GRAVITY:.3g} times gravity, expected {likely[0]:g} to '
                f'{likely[1]:g}: is it in {unit}, or is gravity taken off? Say otherwise as '
                '--unit acceleration=m/s2'
            )
        rates, turn = turning
        if not turn:
            # Who logs m/s² logs rad/s; the vendor's programs log neither.
            turn = 'rad/s' if unit.startswith('m/s') else 'deg/s'
            remarks.append(f'{self.place}: angular velocities have no unit, assumed {turn}')
        angles = self._vector('angle')
        quaternion = _places(self.names, QUATERNION, '0123')
        return ImuLog(
            stamps,
            force * ACCELERATIONS[unit],
            self._in_si('angular velocity', rates, turn),
            attitude_of(
                None if quaternion is None else self.numbers(quaternion),
                None if angles is None else self._in_si('angle', *angles),
            ),
            self.origin,
            tuple(remarks),
        )

    def _vector(self, quantity: str) -> tuple[Array, str] | None:
        """Return a vector of `QUANTITIES` as logged, (n, 3), and its unit, empty if unknown."""
        places = vector_places(self.names, quantity)
        if places is None:
            return None
        unit = self.units.get(quantity) or split_unit(self.names[places[0]])[1]
        if unit and unit not in UNITS[quantity]:
            known = ', '.join(sorted(UNITS[quantity]))
            raise NoImuLog(f'{self.place}: {quantity} in {unit!r}, known are {known}')
        return self.numbers(places), unit

    def _needed(self, quantity: str) -> tuple[Array, str]:
        found = self._vector(quantity)
        if found is None:
            raise NoImuLog(f'{self.place}: no {quantity} among the {self.inventory}')
        return found

    def _in_si(self, quantity: str, values: Array, unit: str) -> Array:
        factors = UNITS[quantity]
        return values * factors[unit or next(iter(factors))]


def _usual(force: Array) -> float:
    known = force[np.isfinite(force).all(axis=1)]
    return float(np.median(np.linalg.norm(known, axis=1))) if known.size else float('nan')


def vector_places(names: list[str], quantity: str) -> list[int] | None:
    """Return the places of x, y, z of one of `QUANTITIES`; None if the vector is not there."""
    axes, units = OURS.get(quantity, ((), ()))
    split = [split_unit(name) for name in names]
    for unit in units:
        if all((axis, unit) in split for axis in axes):
            return [split.index((axis, unit)) for axis in axes]
    # A .mat file's g is gravity; gx, gy, gz beside each other are a gyroscope.
    words = QUANTITIES[quantity] + (('g',) if quantity == 'angular velocity' else ())
    return _places(names, words, 'xyz')


def _places(names: list[str], words: tuple[str, ...], axes: str) -> list[int] | None:
    short = [plain(name) for name in names]
    bare = [plain(split_unit(name)[0]) for name in names]
    for word in words:
        for pattern in ('{0}{1}', '{1}{0}', '{1}轴{0}', '{0}{1}轴'):
            wanted = [pattern.format(word, axis) for axis in axes]
            for known in (short, bare):
                if all(name in known for name in wanted):
                    return [known.index(name) for name in wanted]
    return None
