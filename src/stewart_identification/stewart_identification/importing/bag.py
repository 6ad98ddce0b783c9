# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How logs become a bag: ``/imu/data`` and ``/actuator_states``."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from pathlib import Path
from typing import Any

import numpy as np
from stewart_bags.series import LEGS
from stewart_bags.whole_bags import whole_bag
from stewart_bags.writing import Storage
from stewart_identification.importing.imu_log import ImuLog
from stewart_identification.importing.leg_log import LegLog

IMU, ACTUATORS = '/imu/data', '/actuator_states'
Message = tuple[int, str, Any]


def write_logs(
    path: Path,
    origin: str,
    *,
    imu: ImuLog | None = None,
    legs: LegLog | None = None,
    frame: str = 'imu_link',
    storage: Storage = Storage.MCAP,
) -> int:
    """Write logs as one bag, in the order of their stamps; return how many messages.

    Raises:
        BagExists, WriteFailed: If the path is taken, or the disk takes no more.
    """
    with whole_bag(path, storage, imported_from=origin) as writer:
        types = writer.typestore.types
        parts = [
            *([] if imu is None else [_imu_messages(types, imu, frame)]),
            *([] if legs is None else [_leg_messages(types, legs)]),
        ]
        for stamp, topic, message in merge(*parts, key=lambda item: item[0]):
            writer.write(topic, stamp, message)
        return writer.count


def _header(types: Any, stamp: int, frame: str) -> Any:
    time = types['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000))
    return types['std_msgs/msg/Header'](time, frame)


def _imu_messages(types: Any, log: ImuLog, frame: str) -> Iterator[Message]:
    nothing, unknown = np.zeros(9), np.concatenate([[-1.0], np.zeros(8)])
    vector, turn = types['geometry_msgs/msg/Vector3'], types['geometry_msgs/msg/Quaternion']
    attitude = log.quaternion_xyzw
    for row, stamp in enumerate(log.stamps_ns.tolist()):
        message = types['sensor_msgs/msg/Imu'](
            _header(types, stamp, frame),
            turn(*([0.0, 0.0, 0.0, 1.0] if attitude is None else attitude[row].tolist())),
            unknown if attitude is None else nothing,
            vector(*log.angular_velocity[row].tolist()),
            nothing,
            vector(*log.specific_force[row].tolist()),
            nothing,
        )
        yield stamp, IMU, message


def _leg_messages(types: Any, log: LegLog) -> Iterator[Message]:
    nothing, names = np.empty(0), list(LEGS)
    for row, stamp in enumerate(log.stamps_ns.tolist()):
        effort = nothing if log.forces is None else log.forces[row]
        message = types['sensor_msgs/msg/JointState'](
            _header(types, stamp, ''), names, log.strokes[row], nothing, effort
        )
        yield stamp, ACTUATORS, message
