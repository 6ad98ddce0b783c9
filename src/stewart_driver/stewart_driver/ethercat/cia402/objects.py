# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Indices of the objects in use (CiA 301, ETG.1000.6, CiA 402)."""

from __future__ import annotations

# Communication area.
IDENTITY = 0x1018  # 1 vendor, 2 product, 3 revision, 4 serial number
RECEIVE_ASSIGNMENT = 0x1C12
TRANSMIT_ASSIGNMENT = 0x1C13
OUTPUT_SYNCHRONISATION, INPUT_SYNCHRONISATION = 0x1C32, 0x1C33  # 1 type
# Type of both: work on SYNC0 of the distributed clocks.
DC_SYNC0 = 2
# Largest count of SYNC0 without new outputs (ETG.1020); index and subindex.
SYNC_ERROR_LIMIT = (0x10F1, 2)

# Drive profile area.
ABORT_CONNECTION_OPTION = 0x6007
ERROR_CODE = 0x603F
CONTROLWORD = 0x6040
STATUSWORD = 0x6041
QUICK_STOP_OPTION = 0x605A
SHUTDOWN_OPTION = 0x605B
DISABLE_OPERATION_OPTION = 0x605C
HALT_OPTION = 0x605D
FAULT_REACTION_OPTION = 0x605E
MODE = 0x6060
MODE_DISPLAY = 0x6061
POSITION_ACTUAL = 0x6064
FOLLOWING_ERROR_WINDOW = 0x6065
FOLLOWING_ERROR_TIMEOUT = 0x6066  # [ms]
VELOCITY_ACTUAL = 0x606C
TORQUE_ACTUAL = 0x6077  # [0.1 %]
TARGET_POSITION = 0x607A
HOME_OFFSET = 0x607C
SOFTWARE_POSITION_LIMIT = 0x607D  # 1 lower, 2 upper
POLARITY = 0x607E
PROFILE_DECELERATION = 0x6084  # [count/s²]
QUICK_STOP_DECELERATION = 0x6085  # [count/s²]
ENCODER_RESOLUTION = 0x608F  # 1 increments per 2 motor revolutions
GEAR_RATIO = 0x6091  # 1 motor revolutions per 2 shaft revolutions
FEED_CONSTANT = 0x6092  # 1 position units per 2 shaft revolutions
HOMING_METHOD = 0x6098
HOMING_SPEEDS = 0x6099  # 1 to the switch, 2 to its edge [count/s]
HOMING_ACCELERATION = 0x609A
TORQUE_OFFSET = 0x60B2  # [0.1 %]
INTERPOLATION_TIME = 0x60C2  # 1 units, 2 exponent of ten [s]
POSITIVE_TORQUE_LIMIT = 0x60E0
NEGATIVE_TORQUE_LIMIT = 0x60E1
DIGITAL_INPUTS = 0x60FD
SUPPORTED_MODES = 0x6502
