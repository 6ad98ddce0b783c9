# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How logs become a bag: ``/imu/data`` and ``/actuator_states``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from stewart_bags.rows import RowMessages
from stewart_bags.series import LEGS, vector
from stewart_bags.whole_bags import whole_bag
from stewart_bags.writing import Storage
from stewart_identification.importing.imu_log import ImuLog
from stewart_identification.importing.leg_log import LegLog

TURN = vector('orientation', 'xyzw').paths
RATE, FORCE = vector('angular_velocity').paths, vector('linear_acceleration').paths


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
        store, blocks = writer.typestore, []
        if imu is not None:
            columns, rows = RATE + FORCE, np.hstack([imu.angular_velocity, imu.specific_force])
            constants = {'header.frame_id': frame, 'orientation.w': 1.0}
            if imu.quaternion_xyzw is None:
                constants['orientation_covariance'] = np.array([-1.0, *np.zeros(8)])
            else:
                columns, rows = columns + TURN, np.hstack([rows, imu.quaternion_xyzw])
            made = RowMessages(store, 'sensor_msgs/msg/Imu', columns, constants)
            blocks.append(('/imu/data', made, imu.stamps_ns, rows))
        if legs is not None:
            arrays = {'position': legs.strokes}
            if legs.forces is not None:
                arrays['effort'] = legs.forces
            made = RowMessages(
                store,
                'sensor_msgs/msg/JointState',
                tuple(arrays),
                {'name': LEGS},
                dict.fromkeys(arrays, len(LEGS)),
            )
            blocks.append(
                ('/actuator_states', made, legs.stamps_ns, np.hstack([*arrays.values()]))
            )
        for topic, made, _, _ in blocks:
            writer.add_topic(topic, made.msgtype)
        writer.write_blocks(
            [(topic, stamps, made.serialise(stamps, rows)) for topic, made, stamps, rows in blocks]
        )
        return writer.count
