# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers of an EtherCAT slave controller, as far as a master touches them (ETG.1000.4)."""

from __future__ import annotations

from enum import IntEnum

TYPE = 0x0000
FMMU_COUNT, SYNC_MANAGER_COUNT, RAM_SIZE, PORT_DESCRIPTOR = 0x0004, 0x0005, 0x0006, 0x0007
FEATURES = 0x0008  # bit 2: distributed clocks, bit 3: with 64 bits
STATION_ADDRESS, STATION_ALIAS = 0x0010, 0x0012
DL_CONTROL, DL_STATUS = 0x0100, 0x0110
AL_CONTROL, AL_STATUS, AL_STATUS_CODE = 0x0120, 0x0130, 0x0134
PDI_CONTROL = 0x0140
LOST_LINK_COUNTERS = 0x0310
WATCHDOG_DIVIDER, WATCHDOG_PROCESS_DATA = 0x0400, 0x0420
WATCHDOG_STATUS, WATCHDOG_COUNTER = 0x0440, 0x0442
EEPROM_CONFIGURATION, EEPROM_CONTROL, EEPROM_ADDRESS, EEPROM_DATA = 0x0500, 0x0502, 0x0504, 0x0508
FMMU, FMMU_SIZE = 0x0600, 16
SYNC_MANAGER, SYNC_MANAGER_SIZE = 0x0800, 8
RECEIVE_TIME, RECEIVE_TIME_UNIT = 0x0900, 0x0918
SYSTEM_TIME, SYSTEM_TIME_OFFSET, SYSTEM_TIME_DELAY = 0x0910, 0x0920, 0x0928
SYSTEM_TIME_DIFFERENCE, SPEED_COUNTER_START, FILTER_DEPTH = 0x092C, 0x0930, 0x0934
SYNC_CYCLIC_CONTROL, SYNC_ACTIVATION = 0x0980, 0x0981
SYNC0_START, SYNC0_CYCLE, SYNC1_CYCLE = 0x0990, 0x09A0, 0x09A4
PROCESS_MEMORY = 0x1000
MEMORY_SIZE = 0x3000

# What a master may write, as (first, one past the last).
WRITABLE = (
    (0x0010, 0x0012),
    (0x0100, 0x0104),
    (0x0120, 0x0122),
    (0x0200, 0x0202),
    (0x0300, 0x0314),
    (0x0400, 0x0402),
    (0x0410, 0x0412),
    (0x0420, 0x0422),
    (0x0442, 0x0444),
    (0x0500, 0x0510),
    (0x0600, 0x0680),
    (0x0900, 0x0904),
    (0x0910, 0x0918),
    (0x0920, 0x092C),
    (0x0930, 0x0936),
    (0x0980, 0x0982),
    (0x0990, 0x09A8),
    (PROCESS_MEMORY, MEMORY_SIZE),
    # Of a sync manager neither the status nor what the device's own side controls.
    *((at, at + 5) for at in range(0x0800, 0x0840, 8)),
    *((at + 6, at + 7) for at in range(0x0800, 0x0840, 8)),
)


class AlState(IntEnum):
    """States of the application layer."""

    INIT = 1
    PREOP = 2
    BOOT = 3
    SAFEOP = 4
    OP = 8


AL_STATE_BITS, AL_ERROR = 0x0F, 0x10


class AlCode(IntEnum):
    """AL status codes that this segment reports (ETG.1020)."""

    NO_ERROR = 0x0000
    INVALID_STATE_CHANGE = 0x0011
    UNKNOWN_STATE = 0x0012
    BOOTSTRAP_NOT_SUPPORTED = 0x0013
    INVALID_MAILBOX = 0x0016
    SYNC_ERROR = 0x001A
    WATCHDOG = 0x001B
    INVALID_OUTPUTS = 0x001D
    INVALID_INPUTS = 0x001E
    NO_SYNC = 0x002D
    INVALID_DC_SYNC = 0x0030
    CLOCK_NOT_SETTLED = 0x0032
