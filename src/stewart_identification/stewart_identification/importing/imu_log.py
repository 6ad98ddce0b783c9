# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An IMU's log in SI units, whatever it was read from, and how it becomes a bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array

TOPIC = '/imu/data'
LATEST_NS = (1 << 31) * 1_000_000_000
"""The seconds of a stamp have 31 bits, until January 2038."""

Stamps = np.ndarray[tuple[int], np.dtype[np.int64]]


class NoImuLog(StewartError):
    """A file is no log of an IMU that can be understood."""


@dataclass(frozen=True, eq=False)
class ImuLog:
    """What an IMU said, n samples.

    Attributes:
        stamps_ns (n,): As the log has them; a log that only counts seconds begins where the caller
            said [ns].
        specific_force, angular_velocity (n, 3): In sensor axes, +g upwards at rest [m/s²],
            [rad/s].
        quaternion_xyzw (n, 4): Attitude, where the log has it.
        origin: File and layout, kept in the bag.
        remarks: What was odd, one sentence each.
    """

    stamps_ns: Stamps
    specific_force: Array
    angular_velocity: Array
    quaternion_xyzw: Array | None
    origin: str
    remarks: tuple[str, ...] = ()


def stamps_at(times_ns: Sequence[int], place: str) -> Stamps:
    """Return times since the epoch [ns] as stamps, shape (n,); `place` is for messages.

    Raises:
        NoImuLog: If a message cannot hold one of them.
    """
    for number, time_ns in enumerate(times_ns, 1):
        if not 0 <= time_ns < LATEST_NS:
            raise NoImuLog(
                f'{place}: sample {number} is {time_ns / 1e9:.6g} s after 1970, a stamp of ROS '
                f'holds 0 to {LATEST_NS / 1e9:.0f} s'
            )
    return np.array(times_ns, np.int64)


def stamps_after(start_ns: int, seconds: Array, place: str) -> Stamps:
    """Return the stamps of a log that counts seconds, shape (n,) [ns since the epoch].

    Args:
        start_ns: When the first sample was taken [ns since the epoch].
        seconds (n,): As the log has them [s]; only their differences count.
        place: File, for the message.

    Raises:
        NoImuLog: If a time is not a number, or a message cannot hold it.
    """
    with np.errstate(all='ignore'):
        since = seconds - seconds[0]
    # Asked so that NaN is outside, too.
    outside = np.flatnonzero(~(np.abs(since) < LATEST_NS / 1e9))
    if outside.size:
        row = int(outside[0])
        raise NoImuLog(
            f'{place}: sample {row + 1} is {since[row]:.6g} s after the first, a stamp of ROS '
            f'holds 0 to {LATEST_NS / 1e9:.0f} s'
        )
    return stamps_at([start_ns + round(offset * 1e9) for offset in since.tolist()], place)


def attitude_of(quaternions: Array | None, angles: Array | None) -> Array | None:
    """Return attitudes x, y, z, w of norm 1, shape (n, 4), from what a log has.

    Args:
        quaternions (n, 4): w, x, y, z as logged.
        angles (n, 3): Roll, pitch, yaw [rad], R = R_z(yaw) R_y(pitch) R_x(roll).
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
    """Write a log as a bag with the topic ``/imu/data``; return how many messages.

    Raises:
        BagExists, WriteFailed: If the path is taken, or the disk takes no more.
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
