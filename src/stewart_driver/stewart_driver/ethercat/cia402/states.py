# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""States of a drive and what the statusword 6041h says of them."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class State(IntEnum):
    """States of the drive, each with the statusword bits 0 to 3, 5 and 6 that report it.

    IEC 61800-7-201 (CiA 402-2), figure "Power drive system finite state automaton".
    """

    NOT_READY_TO_SWITCH_ON = 0x0000
    SWITCH_ON_DISABLED = 0x0040
    READY_TO_SWITCH_ON = 0x0021
    SWITCHED_ON = 0x0023
    OPERATION_ENABLED = 0x0027
    QUICK_STOP_ACTIVE = 0x0007
    FAULT_REACTION_ACTIVE = 0x000F
    FAULT = 0x0008


class Status(IntFlag):
    """Bits of the statusword; bits 12 and 13 as the cyclic synchronous modes have them."""

    READY_TO_SWITCH_ON = 1 << 0
    SWITCHED_ON = 1 << 1
    OPERATION_ENABLED = 1 << 2
    FAULT = 1 << 3
    VOLTAGE_ENABLED = 1 << 4
    NO_QUICK_STOP = 1 << 5
    SWITCH_ON_DISABLED = 1 << 6
    WARNING = 1 << 7
    REMOTE = 1 << 9
    INTERNAL_LIMIT = 1 << 11
    TARGET_FOLLOWED = 1 << 12
    FOLLOWING_ERROR = 1 << 13


WITH_QUICK_STOP_BIT, WITHOUT_QUICK_STOP_BIT = 0x006F, 0x004F

# Where bit 5 says nothing, it is masked out.
STATUSWORD: dict[State, tuple[int, int]] = {
    State.NOT_READY_TO_SWITCH_ON: (WITHOUT_QUICK_STOP_BIT, 0x0000),
    State.SWITCH_ON_DISABLED: (WITHOUT_QUICK_STOP_BIT, 0x0040),
    State.READY_TO_SWITCH_ON: (WITH_QUICK_STOP_BIT, 0x0021),
    State.SWITCHED_ON: (WITH_QUICK_STOP_BIT, 0x0023),
    State.OPERATION_ENABLED: (WITH_QUICK_STOP_BIT, 0x0027),
    State.QUICK_STOP_ACTIVE: (WITH_QUICK_STOP_BIT, 0x0007),
    State.FAULT_REACTION_ACTIVE: (WITHOUT_QUICK_STOP_BIT, 0x000F),
    State.FAULT: (WITHOUT_QUICK_STOP_BIT, 0x0008),
}


class StatuswordError(ValueError):
    """A statusword names no state."""

    def __init__(self, statusword: int) -> None:
        """Show the word."""
        super().__init__(f'statusword 0x{statusword:04X} names no state of CiA 402')
        self.statusword = statusword


# A cycle decodes six words, so all answers are made once.
_STATES: tuple[State | None, ...] = tuple(
    next((state for state, (mask, value) in STATUSWORD.items() if word & mask == value), None)
    for word in range(0x80)
)


def decode_state(statusword: int) -> State:
    """Read the state out of a statusword.

    Args:
        statusword: Object 6041h.

    Returns:
        State of the drive.

    Raises:
        StatuswordError: If the bits 0 to 3, 5 and 6 fit no state.

    Examples:
        >>> decode_state(0x1637).name
        'OPERATION_ENABLED'
    """
    state = _STATES[statusword & 0x7F]
    if state is None:
        raise StatuswordError(statusword)
    return state
