# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Both sides of the wire against the standards, each by itself: CiA 402, CiA 301, ETG.1000.6.

What is right is written here as numbers; neither the drive's tables nor the driver's are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from stewart_driver.ethercat.cia402 import objects, states
from stewart_simulation.ethercat import profile

# Statusword: mask, value. Where bit 5 says nothing it is not in the mask.
STATES = {
    'NOT_READY_TO_SWITCH_ON': (0x4F, 0x00),
    'SWITCH_ON_DISABLED': (0x4F, 0x40),
    'READY_TO_SWITCH_ON': (0x6F, 0x21),
    'SWITCHED_ON': (0x6F, 0x23),
    'OPERATION_ENABLED': (0x6F, 0x27),
    'QUICK_STOP_ACTIVE': (0x6F, 0x07),
    'FAULT_REACTION_ACTIVE': (0x4F, 0x0F),
    'FAULT': (0x4F, 0x08),
}
BITS = {
    'VOLTAGE_ENABLED': 4,
    'REMOTE': 9,
    'INTERNAL_LIMIT': 11,
    'TARGET_FOLLOWED': 12,
    'FOLLOWING_ERROR': 13,
}
SHUTDOWN, SWITCH_ON, ENABLE, QUICK_STOP, DISABLE_VOLTAGE, RESET = 0x06, 0x07, 0x0F, 0x02, 0, 0x80
# Number, source, controlword, target; 0, 1, 13 and 14 are made by the drive itself.
ARROWS = (
    (2, 'SWITCH_ON_DISABLED', SHUTDOWN, 'READY_TO_SWITCH_ON'),
    (3, 'READY_TO_SWITCH_ON', SWITCH_ON, 'SWITCHED_ON'),
    (4, 'SWITCHED_ON', ENABLE, 'OPERATION_ENABLED'),
    (5, 'OPERATION_ENABLED', SWITCH_ON, 'SWITCHED_ON'),
    (6, 'SWITCHED_ON', SHUTDOWN, 'READY_TO_SWITCH_ON'),
    (7, 'READY_TO_SWITCH_ON', DISABLE_VOLTAGE, 'SWITCH_ON_DISABLED'),
    (7, 'READY_TO_SWITCH_ON', QUICK_STOP, 'SWITCH_ON_DISABLED'),
    (8, 'OPERATION_ENABLED', SHUTDOWN, 'READY_TO_SWITCH_ON'),
    (9, 'OPERATION_ENABLED', DISABLE_VOLTAGE, 'SWITCH_ON_DISABLED'),
    (10, 'SWITCHED_ON', DISABLE_VOLTAGE, 'SWITCH_ON_DISABLED'),
    (10, 'SWITCHED_ON', QUICK_STOP, 'SWITCH_ON_DISABLED'),
    (11, 'OPERATION_ENABLED', QUICK_STOP, 'QUICK_STOP_ACTIVE'),
    (12, 'QUICK_STOP_ACTIVE', DISABLE_VOLTAGE, 'SWITCH_ON_DISABLED'),
    (15, 'FAULT', RESET, 'SWITCH_ON_DISABLED'),
    (16, 'QUICK_STOP_ACTIVE', ENABLE, 'OPERATION_ENABLED'),
)
WAYS: dict[str, tuple[int, ...]] = {
    'SWITCH_ON_DISABLED': (),
    'READY_TO_SWITCH_ON': (SHUTDOWN,),
    'SWITCHED_ON': (SHUTDOWN, SWITCH_ON),
    'OPERATION_ENABLED': (SHUTDOWN, SWITCH_ON, ENABLE),
    'QUICK_STOP_ACTIVE': (SHUTDOWN, SWITCH_ON, ENABLE, QUICK_STOP),
    'FAULT': (),
}
OBJECTS = {
    'IDENTITY': 0x1018,
    'SYNC_ERROR_SETTINGS': 0x10F1,
    'RECEIVE_ASSIGNMENT': 0x1C12,
    'TRANSMIT_ASSIGNMENT': 0x1C13,
    'OUTPUT_SYNCHRONISATION': 0x1C32,
    'INPUT_SYNCHRONISATION': 0x1C33,
    'ERROR_CODE': 0x603F,
    'CONTROLWORD': 0x6040,
    'STATUSWORD': 0x6041,
    'QUICK_STOP_OPTION': 0x605A,
    'SHUTDOWN_OPTION': 0x605B,
    'HALT_OPTION': 0x605D,
    'MODE': 0x6060,
    'MODE_DISPLAY': 0x6061,
    'POSITION_ACTUAL': 0x6064,
    'FOLLOWING_ERROR_WINDOW': 0x6065,
    'FOLLOWING_ERROR_TIMEOUT': 0x6066,
    'VELOCITY_ACTUAL': 0x606C,
    'MAX_TORQUE': 0x6072,
    'TORQUE_ACTUAL': 0x6077,
    'TARGET_POSITION': 0x607A,
    'SOFTWARE_POSITION_LIMIT': 0x607D,
    'MAX_PROFILE_VELOCITY': 0x607F,
    'PROFILE_DECELERATION': 0x6084,
    'QUICK_STOP_DECELERATION': 0x6085,
    'ENCODER_RESOLUTION': 0x608F,
    'GEAR_RATIO': 0x6091,
    'POSITION_OFFSET': 0x60B0,
    'VELOCITY_OFFSET': 0x60B1,
    'TORQUE_OFFSET': 0x60B2,
    'INTERPOLATION_TIME': 0x60C2,
    'POSITIVE_TORQUE_LIMIT': 0x60E0,
    'NEGATIVE_TORQUE_LIMIT': 0x60E1,
    'FOLLOWING_ERROR_ACTUAL': 0x60F4,
    'DIGITAL_INPUTS': 0x60FD,
    'DIGITAL_OUTPUTS': 0x60FE,
    'TARGET_VELOCITY': 0x60FF,
    'SUPPORTED_MODES': 0x6502,
}
FOR_DRIVES_ALONE = {
    'ABORT_CONNECTION_OPTION': 0x6007,
    'DISABLE_OPTION': 0x605C,
    'FAULT_OPTION': 0x605E,
    'DIAGNOSIS_HISTORY': 0x10F3,
}
FOR_THE_DRIVER_ALONE = {
    # With its subindex: how many frames may be missed (ETG.1020).
    'SYNC_ERROR_LIMIT': (0x10F1, 2),
    'ABORT_CONNECTION_OPTION': 0x6007,
    'DISABLE_OPERATION_OPTION': 0x605C,
    'FAULT_REACTION_OPTION': 0x605E,
    'HOME_OFFSET': 0x607C,
    'POLARITY': 0x607E,
    'FEED_CONSTANT': 0x6092,
    'HOMING_METHOD': 0x6098,
    'HOMING_SPEEDS': 0x6099,
    'HOMING_ACCELERATION': 0x609A,
    # A type of 1C32h, no object.
    'DC_SYNC0': 2,
}


def test_the_segment_imports_nothing_of_the_driver() -> None:
    sources = Path(profile.__file__).parent.glob('*.py')
    texts = {path.name: path.read_text(encoding='utf-8') for path in sources}

    assert 'drive.py' in texts
    assert [name for name, text in texts.items() if 'stewart_driver' in text] == []


def test_objects_have_the_indices_of_the_standards() -> None:
    assert {name: getattr(profile, name) for name in OBJECTS} == OBJECTS


def test_the_drivers_objects_have_the_indices_of_the_standards() -> None:
    known = {name: value for name, value in vars(objects).items() if name.isupper()}
    standard = {**OBJECTS, **FOR_THE_DRIVER_ALONE}

    assert known == {name: standard[name] for name in known}


def test_the_drives_further_objects_have_the_indices_of_the_standards() -> None:
    assert {name: getattr(profile, name) for name in FOR_DRIVES_ALONE} == FOR_DRIVES_ALONE


@pytest.mark.parametrize('side', [profile, states])
def test_bits_of_the_statusword_are_those_of_the_standard(side: ModuleType) -> None:
    assert {name: int(side.Status[name]) for name in BITS} == {n: 1 << b for n, b in BITS.items()}


@pytest.mark.parametrize('name', STATES)
def test_the_driver_reads_every_word_of_a_state(name: str) -> None:
    mask, value = STATES[name]
    for word in range(0x80):
        fits = word & mask == value
        try:
            read = states.decode_state(word).name
        except states.StatuswordError:
            read = ''
        assert fits == (read == name)


@pytest.mark.parametrize('name', WAYS)
def test_a_drive_makes_the_transitions_of_the_standard_and_no_other(
    name: str, build: Callable[..., Any]
) -> None:
    """Every controlword of the low octet, in every state that a master can bring a drive to."""
    wanted = {word: target for _, source, word, target in ARROWS if source == name}
    for word in (SHUTDOWN, SWITCH_ON, ENABLE, QUICK_STOP, DISABLE_VOLTAGE, RESET):
        bench = build(1).op()
        bench.sdo_write(1, 0x605A, 0, b'\x06\x00')
        for step in WAYS[name]:
            bench.run(4, lambda _, step=step: [(step, 0)])
        if name == 'FAULT':
            bench.segment.slaves[0].drive.fault(0x2310)
            bench.run(4, lambda _: [(0, 0)])
        mask, value = STATES[name]
        assert bench.cycle([(word, 0)])[0][1] & mask == value
        target = wanted.get(word, name)
        if (name, word) == ('READY_TO_SWITCH_ON', ENABLE):
            # Bits 0 to 2 ask for transition 3; in SWITCHED ON they ask for 4.
            target = 'OPERATION_ENABLED'
        rows = bench.run(4, lambda _, word=word: [(word, 0)])
        mask, value = STATES[target]
        assert rows[0][1] & mask == value, (name, word)
