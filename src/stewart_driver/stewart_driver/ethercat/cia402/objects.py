# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Object indices of CiA 301, ETG.1000.6 and CiA 402 that drives and masters here use."""

from __future__ import annotations

# Communication area.
DEVICE_TYPE = 0x1000
ERROR_REGISTER = 0x1001
DEVICE_NAME = 0x1008
HARDWARE_VERSION = 0x1009
SOFTWARE_VERSION = 0x100A
IDENTITY = 0x1018  # 1 vendor, 2 product, 3 revision, 4 serial number
SYNC_ERROR_SETTINGS = 0x10F1  # 2: limit of the sync error counter
FIRST_RECEIVE_MAP = 0x1600
FIRST_TRANSMIT_MAP = 0x1A00
SYNC_MANAGER_TYPES = 0x1C00
RECEIVE_ASSIGNMENT = 0x1C12
TRANSMIT_ASSIGNMENT = 0x1C13
OUTPUT_SYNCHRONISATION = 0x1C32  # 1 type, 2 cycle time [ns]
INPUT_SYNCHRONISATION = 0x1C33

# What 1C32:1 and 1C33:1 read.
FREE_RUN, SYNCHRONOUS_WITH_FRAME, DC_SYNC0 = 0, 1, 2

# Drive profile area.
ABORT_CONNECTION_OPTION = 0x6007
ERROR_CODE = 0x603F
CONTROLWORD = 0x6040
STATUSWORD = 0x6041
QUICK_STOP_OPTION = 0x605A
SHUTDOWN_OPTION = 0x605B
DISABLE_OPERATION_OPTION = 0x605C
FAULT_REACTION_OPTION = 0x605E
MODE = 0x6060
MODE_DISPLAY = 0x6061
POSITION_ACTUAL = 0x6064
FOLLOWING_ERROR_WINDOW = 0x6065
FOLLOWING_ERROR_TIMEOUT = 0x6066  # [ms]
VELOCITY_ACTUAL = 0x606C
TARGET_TORQUE = 0x6071
MAX_TORQUE = 0x6072  # [0.1 %]
TORQUE_ACTUAL = 0x6077  # [0.1 %]
TARGET_POSITION = 0x607A
HOME_OFFSET = 0x607C
SOFTWARE_POSITION_LIMIT = 0x607D  # 1 lower, 2 upper
MAX_PROFILE_VELOCITY = 0x607F
QUICK_STOP_DECELERATION = 0x6085
ENCODER_RESOLUTION = 0x608F  # 1 increments per 2 motor revolutions
GEAR_RATIO = 0x6091  # 1 motor revolutions per 2 shaft revolutions
HOMING_METHOD = 0x6098
POSITION_OFFSET = 0x60B0
VELOCITY_OFFSET = 0x60B1
TORQUE_OFFSET = 0x60B2  # [0.1 %]
TOUCH_PROBE_FUNCTION = 0x60B8
TOUCH_PROBE_STATUS = 0x60B9
TOUCH_PROBE_1_POSITIVE_EDGE = 0x60BA
TOUCH_PROBE_2_POSITIVE_EDGE = 0x60BC
INTERPOLATION_TIME = 0x60C2  # 1 units, 2 exponent of ten [s]
POSITIVE_TORQUE_LIMIT = 0x60E0
NEGATIVE_TORQUE_LIMIT = 0x60E1
FOLLOWING_ERROR_ACTUAL = 0x60F4
DIGITAL_INPUTS = 0x60FD
DIGITAL_OUTPUTS = 0x60FE  # 1 outputs, 2 mask
TARGET_VELOCITY = 0x60FF
SUPPORTED_MODES = 0x6502


def pack_mapping(index: int, subindex: int, bits: int) -> int:
    """Return the 32-bit entry of a PDO map.

    Examples:
        >>> hex(pack_mapping(CONTROLWORD, 0, 16))
        '0x60400010'
    """
    return index << 16 | subindex << 8 | bits


def unpack_mapping(entry: int) -> tuple[int, int, int]:
    """Split an entry of a PDO map into index, subindex and length [bit]."""
    return entry >> 16, entry >> 8 & 0xFF, entry & 0xFF
