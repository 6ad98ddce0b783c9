# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the standards say of a drive's objects, states and words: CiA 301, ETG.1000.6, CiA 402.

Written for the simulated drives alone; whoever drives them has tables of its own.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

# Communication area.
DEVICE_TYPE, ERROR_REGISTER, IDENTITY = 0x1000, 0x1001, 0x1018
DEVICE_NAME, HARDWARE_VERSION, SOFTWARE_VERSION = 0x1008, 0x1009, 0x100A
SYNC_ERROR_SETTINGS = 0x10F1  # 2: limit of the sync error counter
DIAGNOSIS_HISTORY = 0x10F3  # 5: flags, bit 0 lets emergencies out
SYNC_MANAGER_TYPES = 0x1C00
RECEIVE_ASSIGNMENT, TRANSMIT_ASSIGNMENT = 0x1C12, 0x1C13
OUTPUT_SYNCHRONISATION, INPUT_SYNCHRONISATION = 0x1C32, 0x1C33
SYNCHRONOUS_WITH_FRAME, DC_SYNC0 = 1, 2

# Drive profile area.
ABORT_CONNECTION_OPTION, ERROR_CODE = 0x6007, 0x603F
CONTROLWORD, STATUSWORD = 0x6040, 0x6041
QUICK_STOP_OPTION, SHUTDOWN_OPTION, DISABLE_OPTION = 0x605A, 0x605B, 0x605C
HALT_OPTION, FAULT_OPTION = 0x605D, 0x605E
MODE, MODE_DISPLAY = 0x6060, 0x6061
POSITION_ACTUAL, VELOCITY_ACTUAL, TORQUE_ACTUAL = 0x6064, 0x606C, 0x6077
FOLLOWING_ERROR_WINDOW, FOLLOWING_ERROR_TIMEOUT, FOLLOWING_ERROR_ACTUAL = 0x6065, 0x6066, 0x60F4
TARGET_POSITION, TARGET_VELOCITY, TARGET_TORQUE = 0x607A, 0x60FF, 0x6071
POSITION_OFFSET, VELOCITY_OFFSET, TORQUE_OFFSET = 0x60B0, 0x60B1, 0x60B2
MAX_TORQUE, POSITIVE_TORQUE_LIMIT, NEGATIVE_TORQUE_LIMIT = 0x6072, 0x60E0, 0x60E1
HOME_OFFSET, HOMING_METHOD = 0x607C, 0x6098
SOFTWARE_POSITION_LIMIT, MAX_PROFILE_VELOCITY = 0x607D, 0x607F
PROFILE_DECELERATION, QUICK_STOP_DECELERATION = 0x6084, 0x6085
ENCODER_RESOLUTION, GEAR_RATIO, INTERPOLATION_TIME = 0x608F, 0x6091, 0x60C2
TOUCH_PROBE_FUNCTION, TOUCH_PROBE_STATUS = 0x60B8, 0x60B9
TOUCH_PROBE_1, TOUCH_PROBE_2 = 0x60BA, 0x60BC
DIGITAL_INPUTS, DIGITAL_OUTPUTS, SUPPORTED_MODES = 0x60FD, 0x60FE, 0x6502

NO_MODE, CYCLIC_SYNCHRONOUS_POSITION = 0, 8


class State(IntEnum):
    """States of the drive; each is the bits 0 to 3, 5 and 6 of its statusword."""

    NOT_READY_TO_SWITCH_ON = 0x00
    SWITCH_ON_DISABLED = 0x40
    READY_TO_SWITCH_ON = 0x21
    SWITCHED_ON = 0x23
    OPERATION_ENABLED = 0x27
    QUICK_STOP_ACTIVE = 0x07
    FAULT_REACTION_ACTIVE = 0x0F
    FAULT = 0x08


class Status(IntEnum):
    """Further bits of the statusword; 12 and 13 as in the cyclic synchronous modes."""

    VOLTAGE_ENABLED = 0x0010
    REMOTE = 0x0200
    AT_REST = 0x0400
    INTERNAL_LIMIT = 0x0800
    TARGET_FOLLOWED = 0x1000
    FOLLOWING_ERROR = 0x2000


class Control(IntEnum):
    """Bits of the controlword."""

    SWITCH_ON = 0x01
    ENABLE_VOLTAGE = 0x02
    NO_QUICK_STOP = 0x04
    ENABLE_OPERATION = 0x08
    FAULT_RESET = 0x80


@lru_cache(maxsize=4096)
def next_state(state: State, word: int, before: int) -> State:
    """Return where a controlword leads from a state; the same where it asks for nothing allowed.

    Args:
        word, before: Object 6040h now, and when it was looked at last.
    """
    reset = word & Control.FAULT_RESET
    if state is State.FAULT:
        rising = reset and not before & Control.FAULT_RESET
        return State.SWITCH_ON_DISABLED if rising else state
    if reset or state in {State.NOT_READY_TO_SWITCH_ON, State.FAULT_REACTION_ACTIVE}:
        return state
    if not word & Control.ENABLE_VOLTAGE:
        return State.SWITCH_ON_DISABLED
    moving = state in {State.OPERATION_ENABLED, State.QUICK_STOP_ACTIVE}
    if not word & Control.NO_QUICK_STOP:
        return State.QUICK_STOP_ACTIVE if moving else State.SWITCH_ON_DISABLED
    if state is State.QUICK_STOP_ACTIVE:
        both = Control.SWITCH_ON | Control.ENABLE_OPERATION
        return State.OPERATION_ENABLED if word & both == both else state
    if not word & Control.SWITCH_ON:
        return State.READY_TO_SWITCH_ON
    if state is State.SWITCH_ON_DISABLED:
        return state
    if state is State.READY_TO_SWITCH_ON or not word & Control.ENABLE_OPERATION:
        return State.SWITCHED_ON
    return State.OPERATION_ENABLED


def unpack_mapping(entry: int) -> tuple[int, int, int]:
    """Split an entry of a PDO map into index, subindex and length [bit]."""
    return entry >> 16, entry >> 8 & 0xFF, entry & 0xFF
