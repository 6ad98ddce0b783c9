# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Objects of an Omron 1S servo drive, R88D-1SN…-ECT.

Identity, the maps 1701h, 1B01h, 1600h and 1A00h and the need for SYNC0 (AssignActivate 0300h) are
those of the ESI file, revisions 0x00010000 to 0x00010004; 1702h is that of the user's manual. The
encoder of 23 bit, one revolution of the motor per revolution of the gear and the limits below are
assumptions.

"""

from __future__ import annotations

from dataclasses import dataclass

from stewart_driver.ethercat.cia402 import Mode, objects
from stewart_simulation.ethercat.eeprom import Identity
from stewart_simulation.ethercat.object_dictionary import (
    AbortCode,
    Access,
    Entry,
    ObjectDictionary,
    OCTETS,
    SdoAbort,
)
from stewart_simulation.ethercat.process_data import ProcessData, RECEIVE, TRANSMIT

OMRON = 0x00000083
NAME = 'R88D-1SN04H-ECT'
R88D_1SN04H = Identity(OMRON, 0xB0, 0x00010004, 0)
SERVO_DRIVE = 0x00020192
COUNTS_PER_REVOLUTION = 1 << 23
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1

RECEIVE_MAPS = {
    0x1701: (0x60400010, 0x607A0020, 0x60B80010, 0x60FE0120),
    0x1702: (
        *(0x60400010, 0x607A0020, 0x60FF0020, 0x60710010),
        *(0x60600008, 0x60B80010, 0x607F0020),
    ),
}
TRANSMIT_MAPS = {
    0x1B01: (
        *(0x603F0010, 0x60410010, 0x60640020, 0x60770010, 0x60F40020),
        *(0x60B90010, 0x60BA0020, 0x60BC0020, 0x60FD0020),
    ),
}
FREE_RECEIVE_MAP = (0x60400010, 0x607A0020, 0x60B80010)
FREE_TRANSMIT_MAP = (
    *(0x60410010, 0x60640020, 0x60B90010, 0x60BA0020),
    *(0x60BC0020, 0x603F0010, 0x60FD0020),
)


@dataclass(frozen=True)
class DriveType:
    """
    What a drive of the segment is.

    Attributes
    ----------
    identity : Identity
        In the EEPROM and in 1018h.
    name : str
        Order code.
    mailbox : int
        Length of each mailbox [octet].
    free_maps : bool
        Whether 1600h and 1A00h can be written; if not, writing aborts with 0x06010002.
    needs_sync0 : bool
        Whether SAFEOP is refused without distributed clocks (AL status code 0x30).

    """

    identity: Identity = R88D_1SN04H
    name: str = NAME
    mailbox: int = 128
    free_maps: bool = True
    needs_sync0: bool = True


def dictionary_of(drive: DriveType) -> tuple[ObjectDictionary, ProcessData]:
    """Make the objects of a drive, with the values it has after switching on."""
    dictionary = ObjectDictionary()
    _add_communication(dictionary, drive)
    _add_profile(dictionary)
    _add_settings(dictionary)
    process_data = ProcessData(dictionary)
    for index, fields in {**RECEIVE_MAPS, **TRANSMIT_MAPS}.items():
        process_data.add_map(index, fields, free=False)
    process_data.add_map(0x1600, FREE_RECEIVE_MAP, free=drive.free_maps)
    process_data.add_map(0x1A00, FREE_TRANSMIT_MAP, free=drive.free_maps)
    process_data.assign(RECEIVE, 0x1701)
    process_data.assign(TRANSMIT, 0x1B01)
    return dictionary, process_data


def _add_communication(dictionary: ObjectDictionary, drive: DriveType) -> None:
    identity = drive.identity
    dictionary.variable(objects.DEVICE_TYPE, Entry('I', SERVO_DRIVE))
    dictionary.variable(objects.ERROR_REGISTER, Entry('B', 0))
    dictionary.variable(objects.DEVICE_NAME, Entry(OCTETS, drive.name.encode('ascii')))
    dictionary.variable(objects.HARDWARE_VERSION, Entry(OCTETS, b'software'))
    dictionary.variable(objects.SOFTWARE_VERSION, Entry(OCTETS, b'stewart_simulation'))
    numbers = (identity.vendor, identity.product, identity.revision, identity.serial)
    dictionary.record(objects.IDENTITY, *(Entry('I', x) for x in numbers))
    dictionary.record(objects.SYNC_ERROR_SETTINGS, Entry('I', 0), Entry('H', 4, Access.PREOP))
    dictionary.record(objects.SYNC_MANAGER_TYPES, *(Entry('B', x) for x in (1, 2, 3, 4)))
    for index in (objects.OUTPUT_SYNCHRONISATION, objects.INPUT_SYNCHRONISATION):
        dictionary.record(
            index, Entry('H', objects.SYNCHRONOUS_WITH_FRAME, Access.PREOP), Entry('I', 0)
        )


def _add_profile(dictionary: ObjectDictionary) -> None:
    """Add what is exchanged in every cycle."""
    received = Access.ALWAYS | Access.RECEIVE_MAP
    sent = Access.TRANSMIT_MAP
    for index, kind in (
        (objects.CONTROLWORD, 'H'),
        (objects.TARGET_POSITION, 'i'),
        (objects.TARGET_VELOCITY, 'i'),
        (objects.TARGET_TORQUE, 'h'),
        (objects.POSITION_OFFSET, 'i'),
        (objects.VELOCITY_OFFSET, 'i'),
        (objects.TORQUE_OFFSET, 'h'),
        (objects.TOUCH_PROBE_FUNCTION, 'H'),
    ):
        dictionary.variable(index, Entry(kind, 0, received))
    for index, kind in (
        (objects.ERROR_CODE, 'H'),
        (objects.STATUSWORD, 'H'),
        (objects.MODE_DISPLAY, 'b'),
        (objects.POSITION_ACTUAL, 'i'),
        (objects.VELOCITY_ACTUAL, 'i'),
        (objects.TORQUE_ACTUAL, 'h'),
        (objects.TOUCH_PROBE_STATUS, 'H'),
        (objects.TOUCH_PROBE_1_POSITIVE_EDGE, 'i'),
        (objects.TOUCH_PROBE_2_POSITIVE_EDGE, 'i'),
        (objects.FOLLOWING_ERROR_ACTUAL, 'i'),
        (objects.DIGITAL_INPUTS, 'I'),
    ):
        dictionary.variable(index, Entry(kind, 0, sent))
    dictionary.record(objects.DIGITAL_OUTPUTS, Entry('I', 0, received), Entry('I', 0, received))
    dictionary.variable(objects.MODE, Entry('b', 0, received))
    dictionary.guards[objects.MODE] = check_mode


def check_mode(_subindex: int, value: int) -> None:
    """Accept the mode that is simulated, and none."""
    if value not in {Mode.NONE, Mode.CYCLIC_SYNCHRONOUS_POSITION}:
        raise SdoAbort(AbortCode.VALUE)


def _add_settings(dictionary: ObjectDictionary) -> None:
    """Add what is set once."""
    setting = Access.ALWAYS
    for index, entry in (
        (objects.QUICK_STOP_OPTION, Entry('h', 2, setting, 0, 7)),
        (objects.SHUTDOWN_OPTION, Entry('h', 0, setting)),
        (objects.DISABLE_OPERATION_OPTION, Entry('h', 0, setting)),
        (objects.FAULT_REACTION_OPTION, Entry('h', 2, setting)),
        (objects.FOLLOWING_ERROR_WINDOW, Entry('I', COUNTS_PER_REVOLUTION, setting)),
        (objects.FOLLOWING_ERROR_TIMEOUT, Entry('H', 0, setting)),
        (objects.MAX_TORQUE, Entry('H', 3000, setting | Access.RECEIVE_MAP)),
        (objects.HOME_OFFSET, Entry('i', 0, setting)),
        (
            objects.MAX_PROFILE_VELOCITY,
            Entry('I', 100 * COUNTS_PER_REVOLUTION, setting | Access.RECEIVE_MAP),
        ),
        (objects.QUICK_STOP_DECELERATION, Entry('I', 1000 * COUNTS_PER_REVOLUTION, setting, 1)),
        (objects.HOMING_METHOD, Entry('b', 0, setting)),
        (objects.POSITIVE_TORQUE_LIMIT, Entry('H', 3000, setting | Access.RECEIVE_MAP)),
        (objects.NEGATIVE_TORQUE_LIMIT, Entry('H', 3000, setting | Access.RECEIVE_MAP)),
        (
            objects.SUPPORTED_MODES,
            Entry('I', 1 << (Mode.CYCLIC_SYNCHRONOUS_POSITION - 1)),
        ),
    ):
        dictionary.variable(index, entry)
    bounds = (Entry('i', LOWEST, setting), Entry('i', HIGHEST, setting))
    dictionary.record(objects.SOFTWARE_POSITION_LIMIT, *bounds)
    dictionary.record(objects.ENCODER_RESOLUTION, Entry('I', COUNTS_PER_REVOLUTION), Entry('I', 1))
    dictionary.record(objects.GEAR_RATIO, Entry('I', 1, Access.PREOP), Entry('I', 1, Access.PREOP))
    dictionary.record(
        objects.INTERPOLATION_TIME,
        Entry('B', 1, Access.PREOP, 1, 255),
        Entry('b', -3, Access.PREOP, -6, 0),
    )
