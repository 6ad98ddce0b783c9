# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""States of a drive, the words 6040h and 6041h, and the modes (IEC 61800-7-201, CiA 402-2)."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class State(IntEnum):
    """States of the drive, each with the statusword bits 0 to 3, 5 and 6 that report it."""

    NOT_READY_TO_SWITCH_ON = 0x0000
    SWITCH_ON_DISABLED = 0x0040
    READY_TO_SWITCH_ON = 0x0021
    SWITCHED_ON = 0x0023
    OPERATION_ENABLED = 0x0027
    QUICK_STOP_ACTIVE = 0x0007
    FAULT_REACTION_ACTIVE = 0x000F
    FAULT = 0x0008


class Status(IntFlag):
    """Bits of the statusword beside the state; 12 and 13 as the cyclic modes have them."""

    VOLTAGE_ENABLED = 1 << 4
    REMOTE = 1 << 9
    TARGET_REACHED = 1 << 10
    INTERNAL_LIMIT = 1 << 11
    TARGET_FOLLOWED = 1 << 12
    FOLLOWING_ERROR = 1 << 13


class Control(IntEnum):
    """Controlwords that a master sends; a fault is reset by the rising edge of bit 7."""

    DISABLE_VOLTAGE = 0x0000
    QUICK_STOP = 0x0002
    SHUTDOWN = 0x0006
    SWITCH_ON = 0x0007
    ENABLE_OPERATION = 0x000F
    FAULT_RESET = 0x0080


class Mode(IntEnum):
    """Modes of operation 6060h and 6061h; bit n − 1 of 6502h says whether a drive has mode n."""

    HOMING = 6
    CYCLIC_SYNCHRONOUS_POSITION = 8


class StatuswordError(ValueError):
    """A statusword names no state."""

    def __init__(self, statusword: int) -> None:
        super().__init__(f'statusword 0x{statusword:04X} names no state of CiA 402')


# In these, bit 5 (quick stop) says nothing.
_WITHOUT_BIT_5 = {
    State.NOT_READY_TO_SWITCH_ON,
    State.SWITCH_ON_DISABLED,
    State.FAULT_REACTION_ACTIVE,
    State.FAULT,
}
# A cycle decodes six words, so all answers are made once.
_STATES = tuple(
    next((s for s in State if word & (0x4F if s in _WITHOUT_BIT_5 else 0x6F) == s), None)
    for word in range(0x80)
)


def decode_state(statusword: int) -> State:
    """Read the state out of a statusword; raises `StatuswordError`.

    Examples:
        >>> decode_state(0x1637).name
        'OPERATION_ENABLED'
    """
    state = _STATES[statusword & 0x7F]
    if state is None:
        raise StatuswordError(statusword)
    return state
