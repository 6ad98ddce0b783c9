# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the columns of tables of samples: one for each quantity, with its unit."""

TIME = 'time_s'
POSE = ('x_m', 'y_m', 'z_m', 'qx', 'qy', 'qz', 'qw')
RPY = ('roll_deg', 'pitch_deg', 'yaw_deg')
"""R = R_z(yaw) R_y(pitch) R_x(roll), beside the quaternion or instead of it."""

TWIST = tuple(f'{q}{axis}_base_{u}' for q, u in (('v', 'mps'), ('w', 'radps')) for axis in 'xyz')
ACCELERATION = tuple(
    f'{q}{axis}_base_{u}' for q, u in (('a', 'mps2'), ('alpha', 'radps2')) for axis in 'xyz'
)
LENGTH, STROKE, RATE, LEG_ACCELERATION = (
    tuple(f'{quantity}_{leg}_{unit}' for leg in range(1, 7))
    for quantity, unit in (('leg', 'm'), ('stroke', 'm'), ('leg', 'mps'), ('leg', 'mps2'))
)

MOTION = (TIME, *POSE, *RPY, *TWIST, *ACCELERATION)
"""What a table of motions may have."""
