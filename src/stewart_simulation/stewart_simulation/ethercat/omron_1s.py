# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of an Omron 1S servo drive, R88D-1SN…-ECT.

Identity, the maps 1701h, 1B01h, 1600h and 1A00h and the need for SYNC0 (AssignActivate 0300h) are
those of the ESI file, revisions 0x00010000 to 0x00010004; 1702h is that of the user's manual. The
encoder of 23 bit, one revolution of the motor per revolution of the gear and the limits below are
assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stewart_simulation.ethercat import homing, profile
from stewart_simulation.ethercat.drive import MODES
from stewart_simulation.ethercat.eeprom import Identity
from stewart_simulation.ethercat.object_dictionary import (
    Access,
    Entry,
    ObjectDictionary,
    OCTETS,
    ProcessData,
    RECEIVE,
    TRANSMIT,
)

OMRON = 0x00000083
NAME = 'R88D-1SN04H-ECT'
R88D_1SN04H = Identity(OMRON, 0xB0, 0x00010004, 0)
SERVO_DRIVE = 0x00020192
COUNTS_PER_REVOLUTION = 1 << 23
# 10F1h:2; assumed to be what the standard's sample code has.
SYNC_ERROR_LIMIT = 4
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
SUPPORTED_MODES = sum(1 << (mode - 1) for mode in MODES)

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
    """What a drive of the segment is.

    Attributes:
        mailbox: Length of each mailbox [octet].
        free_maps: Whether 1600h and 1A00h can be written; if not, writing aborts with 0x06010002.
        homing: What its motor finds on its way home; None: the drive has no mode 6.
        needs_sync0: Whether SAFEOP is refused without distributed clocks (AL status code 0x30).
        unmappable: Objects that no writable map takes; each aborts with 0x06040041.
        absent: Objects of the profile that this drive does not have.
        has_serial: Whether 1018h has a serial number.
        emergencies: Whether it sends them unasked; else 10F3h:05 has to be 1 first.
        sync_error_limit: 10F1h:2 after switching on; 0 counts nothing.
        controlword_delay: How many targets later than 607Ah it obeys 6040h; negative: earlier.
        sto_is_fault: Whether a torque that is taken under power is a fault.
        enable_delay: How long it takes from SWITCHED ON to OPERATION ENABLED [s].
        request_delay: After what time it reads AL control [s]; what is written until then is lost.
        clock_bits: Of the times of its distributed clock, 32 or 64.
        complete_access: Whether a whole object is read and written at once, or 0x06010004 comes.
    """

    identity: Identity = R88D_1SN04H
    name: str = NAME
    mailbox: int = 128
    free_maps: bool = True
    needs_sync0: bool = True
    unmappable: frozenset[int] = frozenset()
    absent: frozenset[int] = frozenset()
    has_serial: bool = True
    emergencies: bool = False
    sync_error_limit: int = SYNC_ERROR_LIMIT
    controlword_delay: int = 2
    sto_is_fault: bool = False
    enable_delay: float = 0.0
    request_delay: float = 1e-3
    clock_bits: int = 64
    complete_access: bool = True
    homing: homing.HomingSwitches | None = None


# What is exchanged in every cycle; the mode may be set at any time, too.
RECEIVED, SENT, SETTING = Access.ALWAYS | Access.RECEIVE_MAP, Access.TRANSMIT_MAP, Access.ALWAYS
LIMIT = SETTING | Access.RECEIVE_MAP
# Index, kind and first value; who may write and map it; bounds of what may be written.
VARIABLES: tuple[tuple[int, str, int, Access, int | None, int | None], ...] = (
    (profile.DEVICE_TYPE, 'I', SERVO_DRIVE, Access.READ_ONLY, None, None),
    (profile.ERROR_REGISTER, 'B', 0, Access.READ_ONLY, None, None),
    *(
        (index, kind, 0, RECEIVED, None, None)
        for index, kind in (
            (profile.CONTROLWORD, 'H'),
            (profile.MODE, 'b'),
            (profile.TARGET_POSITION, 'i'),
            (profile.TARGET_VELOCITY, 'i'),
            (profile.TARGET_TORQUE, 'h'),
            (profile.POSITION_OFFSET, 'i'),
            (profile.VELOCITY_OFFSET, 'i'),
            (profile.TORQUE_OFFSET, 'h'),
            (profile.TOUCH_PROBE_FUNCTION, 'H'),
        )
    ),
    *(
        (index, kind, 0, SENT, None, None)
        for index, kind in (
            (profile.ERROR_CODE, 'H'),
            (profile.STATUSWORD, 'H'),
            (profile.MODE_DISPLAY, 'b'),
            (profile.POSITION_ACTUAL, 'i'),
            (profile.VELOCITY_ACTUAL, 'i'),
            (profile.TORQUE_ACTUAL, 'h'),
            (profile.TOUCH_PROBE_STATUS, 'H'),
            (profile.TOUCH_PROBE_1, 'i'),
            (profile.TOUCH_PROBE_2, 'i'),
            (profile.FOLLOWING_ERROR_ACTUAL, 'i'),
            (profile.DIGITAL_INPUTS, 'I'),
        )
    ),
    (profile.ABORT_CONNECTION_OPTION, 'h', 1, SETTING, 0, 3),
    (profile.QUICK_STOP_OPTION, 'h', 2, SETTING, 0, 7),
    (profile.SHUTDOWN_OPTION, 'h', 0, SETTING, 0, 1),
    (profile.DISABLE_OPTION, 'h', 1, SETTING, 0, 1),
    (profile.HALT_OPTION, 'h', 1, SETTING, 1, 3),
    (profile.FAULT_OPTION, 'h', 2, SETTING, 0, 4),
    (profile.FOLLOWING_ERROR_WINDOW, 'I', COUNTS_PER_REVOLUTION, SETTING, None, None),
    (profile.FOLLOWING_ERROR_TIMEOUT, 'H', 0, SETTING, None, None),
    (profile.HOME_OFFSET, 'i', 0, SETTING, None, None),
    (profile.HOMING_METHOD, 'b', 0, SETTING, None, None),
    (profile.MAX_TORQUE, 'H', 3000, LIMIT, None, None),
    (profile.POSITIVE_TORQUE_LIMIT, 'H', 3000, LIMIT, None, None),
    (profile.NEGATIVE_TORQUE_LIMIT, 'H', 3000, LIMIT, None, None),
    (profile.MAX_PROFILE_VELOCITY, 'I', 100 * COUNTS_PER_REVOLUTION, LIMIT, None, None),
    (profile.PROFILE_DECELERATION, 'I', 500 * COUNTS_PER_REVOLUTION, SETTING, 1, None),
    (profile.QUICK_STOP_DECELERATION, 'I', 500 * COUNTS_PER_REVOLUTION, SETTING, 1, None),
    (profile.SUPPORTED_MODES, 'I', SUPPORTED_MODES, Access.READ_ONLY, None, None),
)


def dictionary_of(drive: DriveType) -> tuple[ObjectDictionary, ProcessData]:
    """Make the objects of a drive, with the values it has after switching on."""
    dictionary = ObjectDictionary()
    for index, kind, value, access, lowest, highest in VARIABLES:
        dictionary.variable(index, Entry(kind, value, access, lowest, highest))
    dictionary.objects[profile.MODE][0].allowed = frozenset({profile.NO_MODE, *MODES})
    for index, text in (
        (profile.DEVICE_NAME, drive.name),
        (profile.HARDWARE_VERSION, 'software'),
        (profile.SOFTWARE_VERSION, 'stewart_simulation'),
    ):
        dictionary.variable(index, Entry(OCTETS, text.encode('latin-1')))
    for index, *entries in _records(drive):
        dictionary.record(index, *entries)
    if drive.homing is not None:
        homing.add_objects(dictionary)
    for index in drive.absent:
        dictionary.objects.pop(index, None)
    process_data = ProcessData(dictionary, drive.unmappable)
    fixed, free = {**RECEIVE_MAPS, **TRANSMIT_MAPS}, drive.free_maps
    for index, fields in {**fixed, 0x1600: FREE_RECEIVE_MAP, 0x1A00: FREE_TRANSMIT_MAP}.items():
        # A drive does not map what it does not have.
        there = [field for field in fields if field >> 16 not in drive.absent]
        process_data.add_map(index, there, free=free and index not in fixed)
    process_data.assign(RECEIVE, 0x1701)
    process_data.assign(TRANSMIT, 0x1B01)
    return dictionary, process_data


def _records(drive: DriveType) -> Iterator[tuple[Any, ...]]:
    """Yield index and entries of the objects with subindices from 1 on."""
    identity = drive.identity
    numbers = (identity.vendor, identity.product, identity.revision, identity.serial)
    known = numbers if drive.has_serial else numbers[:3]
    yield profile.IDENTITY, *(Entry('I', number) for number in known)
    limit = Entry('H', drive.sync_error_limit, Access.PREOP)
    yield profile.SYNC_ERROR_SETTINGS, Entry('I', 0), limit
    if not drive.emergencies:
        unused = (Entry('B', 0) for _ in range(4))
        yield profile.DIAGNOSIS_HISTORY, *unused, Entry('H', 0, Access.ALWAYS, 0, 1)
    yield profile.SYNC_MANAGER_TYPES, *(Entry('B', kind) for kind in (1, 2, 3, 4))
    for index in (profile.OUTPUT_SYNCHRONISATION, profile.INPUT_SYNCHRONISATION):
        mode = Entry('H', profile.SYNCHRONOUS_WITH_FRAME, Access.PREOP)
        yield index, mode, Entry('I', 0)
    yield profile.DIGITAL_OUTPUTS, Entry('I', 0, RECEIVED), Entry('I', 0, RECEIVED)
    bounds = (Entry('i', bound, SETTING) for bound in (LOWEST, HIGHEST))
    yield profile.SOFTWARE_POSITION_LIMIT, *bounds
    yield profile.ENCODER_RESOLUTION, Entry('I', COUNTS_PER_REVOLUTION), Entry('I', 1)
    yield profile.GEAR_RATIO, Entry('I', 1, Access.PREOP), Entry('I', 1, Access.PREOP)
    exponent = Entry('b', -3, Access.PREOP, -6, 0)
    yield profile.INTERPOLATION_TIME, Entry('B', 1, Access.PREOP, 1, 255), exponent
