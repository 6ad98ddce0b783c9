# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and texts of the standard that a master uses (ETG.1000.4, ETG.1000.6, ETG.1020).

Written a second time, apart from those of the slaves: an error in either shows.
"""

from __future__ import annotations

from collections.abc import Mapping

SLAVE_TYPE = 0x0000
STATION = 0x0010
AL_CONTROL, AL_STATUS = 0x0120, 0x0130
ERROR_COUNTERS, ERROR_COUNTERS_LENGTH = 0x0300, 8
WATCHDOG_DIVIDER, PROCESS_WATCHDOG = 0x0400, 0x0420
EEPROM_OWNER, EEPROM_COMMAND, EEPROM_VALUE = 0x0500, 0x0502, 0x0508
FMMUS, FMMU_LENGTH, FMMU_NUMBER = 0x0600, 16, 4
MANAGERS, MANAGER_LENGTH, MANAGER_NUMBER = 0x0800, 8, 4
MANAGER_STATUS, MANAGER_ACTIVATE, MANAGER_DEVICE = 5, 6, 7
PORT_TIMES, LOCAL_TIME = 0x0900, 0x0918
SYSTEM_TIME, TIME_OFFSET, TIME_DELAY = 0x0910, 0x0920, 0x0928
SPEED_COUNTER, TIME_FILTER = 0x0930, 0x0934
SYNC_OWNER, SYNC_ACTIVATION, SYNC_START, SYNC0_CYCLE = 0x0980, 0x0981, 0x0990, 0x09A0

INIT, PREOP, SAFEOP, OP = 1, 2, 4, 8
ERROR_OR_ACKNOWLEDGE = 0x10

FIRST_STATION = 0x1001

# The object that says who a slave is; 4 is its serial number.
IDENTITY = 0x1018

# Texts of the codes that are told here; others are told as numbers.
AL_CODES: Mapping[int, str] = {
    0x0000: 'No error',
    0x0001: 'Unspecified error',
    0x0011: 'Invalid requested state change',
    0x0012: 'Unknown requested state',
    0x0013: 'Bootstrap not supported',
    0x0015: 'Invalid mailbox configuration',
    0x0016: 'Invalid mailbox configuration',
    0x0017: 'Invalid sync manager configuration',
    0x001A: 'Synchronization error',
    0x001B: 'Sync manager watchdog',
    0x001C: 'Invalid sync manager types',
    0x001D: 'Invalid output configuration',
    0x001E: 'Invalid input configuration',
    0x001F: 'Invalid watchdog configuration',
    0x002C: 'Fatal sync error',
    0x002D: 'No sync error',
    0x0030: 'Invalid DC SYNC configuration',
    0x0032: 'PLL error',
}

ABORTS: Mapping[int, str] = {
    0x05030000: 'toggle bit not changed',
    0x05040001: 'client/server command specifier not valid or unknown',
    0x06010002: 'attempt to write a read-only object',
    0x06010003: 'subindex cannot be written, subindex 0 must be 0 for write access',
    0x06010004: 'complete access is not supported for this object',
    0x06020000: 'the object does not exist in the object dictionary',
    0x06040041: 'the object cannot be mapped into the PDO',
    0x06040042: 'number and length of the objects to be mapped exceed the PDO length',
    0x06070010: 'data type does not match, length of the parameter does not match',
    0x06070012: 'data type does not match, length of the parameter is too high',
    0x06070013: 'data type does not match, length of the parameter is too low',
    0x06090011: 'subindex does not exist',
    0x06090030: 'value range of the parameter exceeded',
    0x06090031: 'value of the parameter is too high',
    0x06090032: 'value of the parameter is too low',
    0x08000022: 'data cannot be transferred because of the present device state',
}

MAILBOX_ERRORS: Mapping[int, str] = {
    1: 'syntax of the mailbox header is wrong',
    2: 'the protocol is not supported',
    3: 'the channel field contains a wrong value',
    4: 'the service is not supported',
    5: 'the header of the protocol is wrong',
    6: 'the length of the data is too short',
    7: 'no memory in the slave',
    8: 'the length of the data is inconsistent',
}
