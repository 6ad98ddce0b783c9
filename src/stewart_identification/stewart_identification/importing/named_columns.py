# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the columns of an IMU's log are called, and in which units they are.

Columns are known by their names, in any order and in the spellings of several versions of the
vendor's program; units come from the brackets behind the names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import re

import numpy as np
from stewart_identification.importing.imu_log import NoImuLog
from stewart_kinematics.motion import Array

STANDARD_GRAVITY = 9.80665
QUANTITIES: dict[str, tuple[str, ...]] = {
    'acceleration': ('acc', 'a', 'acceleration', '加速度'),
    'angular velocity': ('as', 'w', 'gyro', 'angularvelocity', '角速度'),
    'angle': ('angle', 'ang', 'euler', '角度'),
}
"""How the columns of a vector begin, before x, y or z, in the versions of the vendor's program."""
QUATERNION = ('q', 'quaternions', 'quaternion', '四元数')
TIMES = ('time', 'times', 'chiptime', '时间', '片上时间')
DEVICE = ('devicename', 'address', 'device', '设备名称')

_UNIT = re.compile(r'[(\[（](.*?)[)\]）]')


def plain(name: str) -> str:
    """Return a column's name in small letters, without unit, blanks and underscores."""
    return re.sub(r'[\s_\-.]', '', _UNIT.sub('', name)).lower()


def unit_of(name: str) -> str:
    """Return what stands in brackets behind a column's name, in small letters."""
    found = _UNIT.search(name)
    return found.group(1).strip().lower().replace(' ', '') if found else ''


def in_si(values: Array, unit: str, quantity: str, place: str) -> Array:
    """Convert accelerations, angular velocities or angles to m/s², rad/s, rad.

    Args:
        values: As in the file.
        unit: As in the file, in small letters; empty for the vendor's: g and degrees per second.
        quantity: One of `QUANTITIES`.
        place: File, for the message.

    Raises:
        NoImuLog: If the unit is unknown.
    """
    factors = {
        'acceleration': {
            '': STANDARD_GRAVITY,
            'g': STANDARD_GRAVITY,
            'm/s2': 1.0,
            'm/s²': 1.0,
            'm/s^2': 1.0,
            'mg': 1e-3 * STANDARD_GRAVITY,
        },
        'angular velocity': {
            '': np.pi / 180.0,
            'deg/s': np.pi / 180.0,
            '°/s': np.pi / 180.0,
            'dps': np.pi / 180.0,
            'rad/s': 1.0,
        },
        'angle': {'': np.pi / 180.0, 'deg': np.pi / 180.0, '°': np.pi / 180.0, 'rad': 1.0},
    }[quantity]
    if unit not in factors:
        known = ', '.join(sorted(filter(None, factors)))
        raise NoImuLog(f'{place}: {quantity} in {unit!r}, known are {known}')
    return np.asarray(values * factors[unit])


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """Columns of numbers with their names.

    Attributes:
        place: File, and line of the names where it has lines, for messages.
        names: As the file has them.
        numbers: Returns some columns by their places, shape (n, k).
    """

    place: str
    names: list[str]
    numbers: Callable[[list[int]], Array]

    def vector(self, quantity: str) -> Array | None:
        """Return a vector of `QUANTITIES` in SI units, (n, 3); None if it is not there.

        Raises:
            NoImuLog: If its unit is unknown.
        """
        places = vector_places(self.names, quantity)
        if places is None:
            return None
        unit = unit_of(self.names[places[0]])
        return in_si(self.numbers(places), unit, quantity, self.place)

    def needed(self, quantity: str) -> Array:
        """Return a vector of `QUANTITIES` in SI units, shape (n, 3).

        Raises:
            NoImuLog: If its columns are not there, or its unit is unknown.
        """
        found = self.vector(quantity)
        if found is None:
            names = ', '.join(self.names)
            raise NoImuLog(f'{self.place}: no columns of the {quantity} among {names}')
        return found

    def quaternion(self) -> Array | None:
        """Return w, x, y, z, the vendor's order, shape (n, 4); None if they are not there."""
        places = _places(self.names, QUATERNION, '0123')
        return None if places is None else self.numbers(places)


def vector_places(names: list[str], quantity: str) -> list[int] | None:
    """Return the places of x, y, z of one of `QUANTITIES`; None if the vector is not there."""
    return _places(names, QUANTITIES[quantity], 'xyz')


def _places(names: list[str], beginnings: tuple[str, ...], endings: str) -> list[int] | None:
    short = [plain(name) for name in names]
    for beginning in beginnings:
        wanted = [f'{beginning}{ending}' for ending in endings]
        if all(name in short for name in wanted):
            return [short.index(name) for name in wanted]
    return None
