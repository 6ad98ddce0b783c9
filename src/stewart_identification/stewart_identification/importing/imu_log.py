# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An IMU's log in SI units, whatever it was read from, and how it becomes a bag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import re

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array

STANDARD_GRAVITY = 9.80665
TOPIC = '/imu/data'


class NoImuLog(StewartError):
    """A file is no log of an IMU that can be understood."""


@dataclass(frozen=True, eq=False)
class ImuLog:
    """
    What an IMU said, n samples.

    Attributes
    ----------
    stamps_ns : ndarray of int, shape (n,)
        As the log has them; a log that only counts seconds begins where the caller said [ns].
    specific_force, angular_velocity : ndarray, shape (n, 3)
        In sensor axes, +g upwards at rest [m/s²], [rad/s].
    quaternion_xyzw : ndarray, shape (n, 4), or None
        Attitude, where the log has it.
    origin : str
        File and layout, kept in the bag.

    """

    stamps_ns: np.ndarray[tuple[int], np.dtype[np.int64]]
    specific_force: Array
    angular_velocity: Array
    quaternion_xyzw: Array | None
    origin: str


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


def vector_columns(names: list[str], beginnings: tuple[str, ...]) -> list[int] | None:
    """
    Find the three columns of a vector.

    Parameters
    ----------
    names : list of str
        All columns, as the file has them.
    beginnings : tuple of str
        What their plain names may begin with, before x, y, z.

    Returns
    -------
    list of int or None
        Places of x, y, z; None if the vector is not there.

    """
    short = [plain(name) for name in names]
    for beginning in beginnings:
        wanted = [f'{beginning}{axis}' for axis in 'xyz']
        if all(name in short for name in wanted):
            return [short.index(name) for name in wanted]
    return None


def quaternion_columns(names: list[str]) -> list[int] | None:
    """Return the places of w, x, y, z, the vendor's order; None if there is no quaternion."""
    short = [plain(name) for name in names]
    for beginning in QUATERNION:
        wanted = [f'{beginning}{number}' for number in range(4)]
        if all(name in short for name in wanted):
            return [short.index(name) for name in wanted]
    return None


def in_si(values: Array, unit: str, quantity: str, place: str) -> Array:
    """
    Convert accelerations or angular velocities.

    Parameters
    ----------
    values : ndarray
        As in the file.
    unit : str
        As in the file, in small letters; empty for the vendor's: g and degrees per second.
    quantity : str
        ``acceleration``, ``angular velocity`` or ``angle``.
    place : str
        File, for the message.

    Returns
    -------
    ndarray
        In m/s², rad/s, rad.

    Raises
    ------
    NoImuLog
        If the unit is unknown.

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


def attitude_of(quaternions: Array | None, angles: Array | None) -> Array | None:
    """
    Return attitudes from what a log has.

    Parameters
    ----------
    quaternions : ndarray, shape (n, 4), or None
        w, x, y, z as logged.
    angles : ndarray, shape (n, 3), or None
        Roll, pitch, yaw [rad], R = R_z(yaw) R_y(pitch) R_x(roll).

    Returns
    -------
    ndarray, shape (n, 4), or None
        x, y, z, w of norm 1.

    """
    if quaternions is not None:
        norm = np.linalg.norm(quaternions, axis=1, keepdims=True)
        # A sensor that has not begun to compute one sends zeros.
        if np.all(norm > 0.5):
            return np.asarray((quaternions / norm)[:, [1, 2, 3, 0]])
    if angles is None:
        return None
    return np.asarray(Rotation.from_euler('ZYX', angles[:, ::-1]).as_quat())


def write_log(
    log: ImuLog,
    path: Path,
    *,
    frame: str = 'imu_link',
    storage: Storage = Storage.MCAP,
    compression: Compression = Compression.NONE,
) -> int:
    """
    Write a log as a bag with the topic ``/imu/data``.

    Parameters
    ----------
    log : ImuLog
        What to write.
    path : Path
        Directory of the bag; must not exist.
    frame : str
        Frame of the header.
    storage, compression
        How the bag lies on disk.

    Returns
    -------
    int
        Messages written.

    Raises
    ------
    BagExists, WriteFailed
        If the path is taken, or the disk takes no more.

    """
    nothing, unknown = np.zeros(9), np.concatenate([[-1.0], np.zeros(8)])
    with BagWriter(
        path, storage=storage, compression=compression, custom_data={'imported_from': log.origin}
    ) as writer:
        types = writer.typestore.types
        header, time = types['std_msgs/msg/Header'], types['builtin_interfaces/msg/Time']
        vector, turn = types['geometry_msgs/msg/Vector3'], types['geometry_msgs/msg/Quaternion']
        imu = types['sensor_msgs/msg/Imu']
        for row, stamp in enumerate(log.stamps_ns.tolist()):
            attitude = log.quaternion_xyzw
            message = imu(
                header(time(*divmod(stamp, 1_000_000_000)), frame),
                turn(*([0.0, 0.0, 0.0, 1.0] if attitude is None else attitude[row].tolist())),
                unknown if attitude is None else nothing,
                vector(*log.angular_velocity[row].tolist()),
                nothing,
                vector(*log.specific_force[row].tolist()),
                nothing,
            )
            writer.write(TOPIC, stamp, message)
        return writer.count
