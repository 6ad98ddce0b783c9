# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Texts of the error codes that drives report in 603Fh and in emergencies (CiA 301, CiA 402)."""

from __future__ import annotations

ERROR_TEXTS: dict[int, str] = {
    0x0000: 'no error',
    0x1000: 'generic error',
    0x2110: 'short circuit or earth leakage at the input',
    0x2120: 'earth leakage at the input',
    0x2130: 'short circuit at the input',
    0x2211: 'continuous over-current inside the drive, phase 1',
    0x2214: 'over-current inside the drive',
    0x2220: 'continuous over-current inside the drive',
    0x2230: 'short circuit or earth leakage inside the drive',
    0x2250: 'short circuit inside the drive',
    0x2310: 'continuous over-current at the output',
    0x2320: 'short circuit or earth leakage at the output',
    0x2330: 'earth leakage at the output',
    0x2340: 'short circuit at the output',
    0x3110: 'mains over-voltage',
    0x3120: 'mains under-voltage',
    0x3130: 'phase failure of the mains',
    0x3210: 'over-voltage of the DC link',
    0x3220: 'under-voltage of the DC link',
    0x3310: 'over-voltage at the output',
    0x4110: 'ambient temperature too high',
    0x4210: 'temperature of the drive too high',
    0x4220: 'temperature of the drive too low',
    0x4310: 'temperature of the power stage too high',
    0x5110: 'low-voltage supply',
    0x5210: 'measurement circuit',
    0x5300: 'control hardware',
    0x5400: 'power section',
    0x5430: 'input stage',
    0x5441: 'enable contact open',
    0x5530: 'data storage (EEPROM)',
    0x6010: 'software reset (watchdog)',
    0x6100: 'internal software',
    0x6320: 'parameter error',
    0x7100: 'power module',
    0x7110: 'brake chopper',
    0x7121: 'motor blocked',
    0x7122: 'motor error or commutation',
    0x7200: 'measurement module',
    0x7300: 'position sensor',
    0x7305: 'incremental sensor 1',
    0x7310: 'speed sensor',
    0x7320: 'position sensor',
    0x7380: 'position sensor: distance coding',
    0x7500: 'communication inside the drive',
    0x8100: 'communication',
    0x8110: 'communication: overrun',
    0x8130: 'communication: no process data (watchdog)',
    0x8180: 'communication: sync',
    0x8210: 'process data not processed: wrong length',
    0x8220: 'process data too long',
    0x8311: 'torque too high',
    0x8331: 'torque: wrong direction',
    0x8400: 'velocity control',
    0x8480: 'over-speed',
    0x8500: 'position control',
    0x8611: 'following error too large',
    0x8612: 'position outside the software limits',
    0x8613: 'homing failed',
    0x8700: 'synchronisation with SYNC0',
    0x8A00: 'wear of a component',
    0x9000: 'external error',
    0xF001: 'deceleration monitoring',
    0xF002: 'sub-synchronous run',
    0xF004: 'control deviation',
}

# The standard orders the codes by where the trouble is: the text of a group stands for every
# code in it that has none of its own.
ERROR_GROUPS: dict[int, str] = {
    0x10: 'generic error',
    0x20: 'current',
    0x21: 'current at the input',
    0x22: 'current inside the drive',
    0x23: 'current at the output',
    0x30: 'voltage',
    0x31: 'mains voltage',
    0x32: 'voltage of the DC link',
    0x33: 'output voltage',
    0x40: 'temperature',
    0x41: 'ambient temperature',
    0x42: 'temperature of the drive',
    0x43: 'temperature of the power stage',
    0x50: 'hardware',
    0x51: 'supply',
    0x52: 'measurement and control circuit',
    0x53: 'control circuit',
    0x54: 'power section',
    0x55: 'data storage',
    0x60: 'software',
    0x61: 'internal software',
    0x62: 'user software',
    0x63: 'parameters',
    0x70: 'additional module',
    0x71: 'power module or motor',
    0x72: 'measurement module',
    0x73: 'sensor',
    0x74: 'computation module',
    0x75: 'communication module',
    0x80: 'monitoring',
    0x81: 'communication',
    0x82: 'protocol',
    0x83: 'torque control',
    0x84: 'velocity control',
    0x85: 'position control',
    0x86: 'position control',
    0x87: 'synchronisation',
    0x90: 'external error',
    0xF0: 'additional function',
    0xFF: 'specific to the manufacturer',
}


def error_text(code: int) -> str:
    """Say what an error code means.

    Examples:
        >>> error_text(0x8611)
        'following error too large'
        >>> error_text(0x8342)
        'torque control (group 83xxh)'
    """
    if code in ERROR_TEXTS:
        return ERROR_TEXTS[code]
    group = code >> 8
    for candidate in (group, group & 0xF0):
        if candidate in ERROR_GROUPS:
            return f'{ERROR_GROUPS[candidate]} (group {group:02X}xxh)'
    return f'unknown error code 0x{code:04X}'
