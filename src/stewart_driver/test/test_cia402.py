# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The drive profile against words written down by hand from IEC 61800-7-201.

What is compared here is not made by the tables under test.
"""

from __future__ import annotations

import pytest
from stewart_driver.ethercat.cia402.error_codes import error_text
from stewart_driver.ethercat.cia402.states import Control, decode_state, State, StatuswordError

NRSO, SOD, RTSO, SO = (
    State.NOT_READY_TO_SWITCH_ON,
    State.SWITCH_ON_DISABLED,
    State.READY_TO_SWITCH_ON,
    State.SWITCHED_ON,
)
OE, QSA, FRA, F = (
    State.OPERATION_ENABLED,
    State.QUICK_STOP_ACTIVE,
    State.FAULT_REACTION_ACTIVE,
    State.FAULT,
)

# Statuswords as servo drives send them: with voltage (bit 4), remote (bit 9), warning (bit 7).
SEEN = {
    0x0000: NRSO,
    0x0210: NRSO,
    0x0250: SOD,
    0x0270: SOD,
    0x0231: RTSO,
    0x0233: SO,
    0x0237: OE,
    0x1237: OE,
    0x1637: OE,
    0x3A37: OE,
    0x12B7: OE,
    0x0217: QSA,
    0x021F: FRA,
    0x023F: FRA,
    0x0218: F,
    0x0238: F,
    0x0288: F,
}


@pytest.mark.parametrize('word', SEEN, ids=lambda word: f'{word:04X}')
def test_statuswords_of_real_drives_decode(word: int) -> None:
    assert decode_state(word) is SEEN[word]


def test_every_state_is_reported_by_its_own_value() -> None:
    for state in State:
        assert decode_state(state) is state


@pytest.mark.parametrize('word', [0x0001, 0x0003, 0x0027 & ~1, 0x0009, 0x0048, 0x0061, 0xFFFF])
def test_a_word_without_a_state_is_an_error_that_shows_it(word: int) -> None:
    with pytest.raises(StatuswordError, match=f'0x{word:04X}'):
        decode_state(word)


def test_controlwords_are_those_of_the_standard() -> None:
    assert {word.name: word.value for word in Control} == {
        'DISABLE_VOLTAGE': 0x0000,
        'QUICK_STOP': 0x0002,
        'SHUTDOWN': 0x0006,
        'SWITCH_ON': 0x0007,
        'ENABLE_OPERATION': 0x000F,
        'FAULT_RESET': 0x0080,
    }


@pytest.mark.parametrize(
    ('code', 'text'),
    [
        (0x8611, 'following error too large'),
        (0x8130, 'communication: no process data (watchdog)'),
        (0x2399, 'current at the output (group 23xxh)'),
        (0x7A01, 'additional module (group 7Axxh)'),
        (0xFF12, 'specific to the manufacturer (group FFxxh)'),
        (0x0042, 'unknown error code 0x0042'),
    ],
)
def test_error_codes_have_a_text_or_their_groups(code: int, text: str) -> None:
    assert error_text(code) == text
