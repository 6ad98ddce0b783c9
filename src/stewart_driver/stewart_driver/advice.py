# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What to do about a fault, by the sentence that says what it is."""

from __future__ import annotations

import re

RESET = 'then `stewart drive reset-fault`'
UNKNOWN = 'read the log of the driver from this instant on and find the cause'

# By the first digits of the error code, the longest that fit (CiA 402: groups of causes).
BY_CODE = {
    '1': 'read the display of the drive and its manual',
    '2': 'power off; measure motor cable and motor for a short circuit or earth leakage',
    '31': 'measure the mains at the drive: voltage and all phases',
    '32': 'measure the mains; if it came while braking, look at the brake resistor',
    '33': 'power off; measure motor cable and motor',
    '4': 'let the drive cool down; look at its fan, the air around it and the load',
    '5': 'power the drive off and on; if it comes back, have the drive repaired',
    '51': 'measure the 24 V supply of the drive',
    '5441': 'close the enable contact (STO); find out who opened it',
    '6': 'power the drive off and on; compare its parameters with the commissioning',
    '7': 'look at plugs and cables of motor and encoder',
    '7121': 'power off; move the leg by hand and look for what blocks it',
    '73': 'look at the encoder and its cable; afterwards `stewart calibrate-drives --check`',
    '75': 'power the drive off and on; if it comes back, have the drive repaired',
    '8': 'look at what the drive monitors, by its manual',
    '81': 'look at the EtherCAT cables and plugs; `stewart drives scan` must find six',
    '82': 'take the drive type file that fits the drives: `stewart drives scan` names them',
    '83': 'look for a blocked leg or too much load',
    '84': 'look for too much load, or lower rate_limit',
    '85': 'look for a blocked leg or too much load',
    '8611': 'look for a blocked leg or too much load; move slower',
    '8612': 'bring the leg inside: `stewart drive override on`, then `stewart jog leg`',
    '8613': 'home again: `stewart drive home`',
    '87': 'give the driver a real-time priority or a longer cycle_time',
    '8A': 'have the worn part replaced',
    '9': 'look at what is wired to the external error input of the drive',
    'F': 'read the display of the drive and its manual',
}

# What stands in a sentence, and what to do; the first that fits counts.
BY_SENTENCE = tuple(
    (re.compile(pattern), action)
    for pattern, action in (
        (r'\bSTO\b|safe torque off', 'find out who opened the safety circuit, and close it'),
        (
            r'has been silent for|before it comes',
            'is controller_manager alive, its joint_state_broadcaster active, its clock right?',
        ),
        (
            r'position sensor of leg \d',
            'look at sensor, plug and supply; `stewart calibrate-daq` if it was changed',
        ),
        (
            r'analogue card',
            'look at card, cables and kernel driver (comedi); is another program on it?',
        ),
        (
            r'error 0x00(1A|2C|32|33)\b',
            'give the driver a real-time priority or a longer cycle_time: frames missed SYNC0',
        ),
        (
            r'error 0x00(1D|1E|24|25)\b',
            "compare the drive type's maps with the drive's manual: many need an even length",
        ),
        (
            r'is lost, EtherCAT|slaves? answers?|not every drive reaches',
            'look at supply and cables of the drives; `stewart drives scan` must find six',
        ),
        (
            r'no (complete )?frame|network interface|the bus on',
            'look at cable and port between this computer and the first drive',
        ),
        (r'refuses object', 'take the drive type that fits the drives (`stewart drives scan`)'),
        (
            r'is another one than on|zero offsets|from home',
            'calibrate: `stewart calibrate-drives`, after a look at why it changed',
        ),
        (
            r'measured stroke of leg \d is|outside its (stroke|range)|override',
            'bring it back: `stewart drive override on`, reset, enable, `stewart jog leg` inwards',
        ),
        (
            r'measured (stroke|rate) of leg \d|its encoder',
            'look at the encoder of this leg, its cable and its brake',
        ),
        (
            r'from its command',
            'power off; move the leg by hand and look for what blocks it; compare its force with '
            'the others',
        ),
        (
            r'from its setpoint',
            'look in `stewart view` which leg does not follow; is this the right --platform?',
        ),
        (
            r'of the cycles of the last second',
            'give the driver a real-time priority or a longer cycle_time; `driver: cycle` says '
            'what is late',
        ),
        (
            r'no command (in time|for)',
            'see why the setpoints came late: load of the computer, playout_delay',
        ),
        (r'not on after', 'look at the drives that are named: mains, STO, their displays'),
        (
            r'left operation by (themselves|itself)',
            'look at the displays of the drives: mains, STO, a fault of their own',
        ),
        (
            r'sources|contradict|two ',
            'let one node publish joint_commands: `ros2 topic info -v joint_commands`',
        ),
        (r'no error code', BY_CODE['1']),
        (
            r'did not come to rest|no cycle has run|cyclic process|control loop',
            'look at the log; lower the load of the computer; start the driver again',
        ),
    )
)
REPORTED = re.compile(r'reports fault 0x([0-9A-F]{4})')


def advice(reason: str) -> str:
    """Say what to do about a fault.

    Returns:
        Actions in their order, the last of which resets the fault.

    Examples:
        >>> advice('drive of leg 2 reports fault 0x5441: enable contact open')
        'close the enable contact (STO); find out who opened it; then `stewart drive reset-fault`'
    """
    return f'{_action(reason)}; {RESET}'


def _action(reason: str) -> str:
    reported = REPORTED.search(reason)
    if reported:
        code = reported.group(1)
        for length in range(4, 0, -1):
            if code[:length] in BY_CODE:
                return BY_CODE[code[:length]]
    return next((action for found, action in BY_SENTENCE if found.search(reason)), UNKNOWN)
