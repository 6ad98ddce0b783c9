# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers and numbers of a slave controller that a master uses (ETG.1000.4, ETG.1000.6).

Written a second time, apart from those of the slaves: an error in either shows.
"""

from __future__ import annotations

SLAVE_TYPE = 0x0000
STATION = 0x0010
AL_CONTROL, AL_STATUS = 0x0120, 0x0130
# Status, two octets of nothing, and the status code behind it.
AL_STATUS_LENGTH = 6
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
