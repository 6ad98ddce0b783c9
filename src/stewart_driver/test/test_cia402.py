# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The drive profile against words written down by hand from IEC 61800-7-201.

The master and the simulated drives use the same tables; what is compared here is not made by them.
"""

from __future__ import annotations

import pytest
from stewart_driver.ethercat.cia402 import (
    command_for,
    Control,
    decode_state,
    error_text,
    GoalError,
    Mode,
    next_transition,
    objects,
    State,
    StatuswordError,
    supported_modes,
    TRANSITIONS,
)

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


# number, from, to, controlwords of the standard's table and what real masters add to them.
BY_WORD = [
    (2, SOD, RTSO, [0x0006, 0x000E, 0x0106]),
    (3, RTSO, SO, [0x0007, 0x000F]),
    (4, SO, OE, [0x000F, 0x001F, 0x010F]),
    (5, OE, SO, [0x0007]),
    (6, SO, RTSO, [0x0006]),
    (7, RTSO, SOD, [0x0000, 0x0002, 0x000B]),
    (8, OE, RTSO, [0x0006]),
    (9, OE, SOD, [0x0000, 0x000D]),
    (10, SO, SOD, [0x0000, 0x0002]),
    (11, OE, QSA, [0x0002, 0x000B]),
    (12, QSA, SOD, [0x0000]),
    (15, F, SOD, [0x0080, 0x008F, 0x0086]),
    (16, QSA, OE, [0x000F]),
]


@pytest.mark.parametrize(('number', 'source', 'target', 'words'), BY_WORD, ids=lambda x: str(x))
def test_words_make_the_transitions_of_the_standard(
    number: int, source: State, target: State, words: list[int]
) -> None:
    for word in words:
        arrow = next_transition(source, word)
        assert arrow is not None, f'{word:04X}'
        assert (arrow.number, arrow.target) == (number, target), f'{word:04X}'


@pytest.mark.parametrize(
    ('state', 'word'),
    [
        (NRSO, 0x0006),
        (SOD, 0x0007),
        (SOD, 0x000F),
        (SOD, 0x0000),
        (SOD, 0x0080),
        (RTSO, 0x0006),
        (RTSO, 0x0087),
        (SO, 0x0007),
        (OE, 0x000F),
        (QSA, 0x0002),
        (QSA, 0x0006),
        (FRA, 0x0080),
        (FRA, 0x0000),
        (F, 0x0000),
        (F, 0x0006),
        (F, 0x000F),
    ],
)
def test_other_words_leave_the_drive_where_it_is(state: State, word: int) -> None:
    assert next_transition(state, word) is None


def test_a_fault_is_reset_by_the_rising_edge_only() -> None:
    assert next_transition(F, 0x0080, previous=0x0080) is None
    arrow = next_transition(F, 0x0080, previous=0x000F)
    assert arrow is not None
    assert arrow.number == 15


def test_the_table_has_every_number_of_the_standard() -> None:
    """Number 0 is the start; 13 begins in every state but those of a fault."""
    assert {arrow.number for arrow in TRANSITIONS} == set(range(1, 17))
    own = {(arrow.number, arrow.source, arrow.target) for arrow in TRANSITIONS}
    assert {(1, NRSO, SOD), (14, FRA, F)} <= own
    assert {s for n, s, t in own if n == 13 and t is FRA} == {NRSO, SOD, RTSO, SO, OE, QSA}
    assert {(n, s, t) for n, s, t, _ in BY_WORD} == {k for k in own if k[0] not in {1, 13, 14}}


@pytest.mark.parametrize('number', [1, 13, 14])
def test_what_the_drive_decides_no_word_asks_for(number: int) -> None:
    for arrow in TRANSITIONS:
        if arrow.number == number:
            assert not any(arrow.asked_by(word, 0) for word in range(0x200))


def test_controlwords_are_those_of_the_standard() -> None:
    assert {word.name: word.value for word in Control} == {
        'DISABLE_VOLTAGE': 0x0000,
        'QUICK_STOP': 0x0002,
        'SHUTDOWN': 0x0006,
        'SWITCH_ON': 0x0007,
        'ENABLE_OPERATION': 0x000F,
        'FAULT_RESET': 0x0080,
    }


@pytest.mark.parametrize('goal', [SOD, RTSO, SO, OE])
@pytest.mark.parametrize('start', list(State))
def test_commands_lead_from_every_state_to_every_goal(start: State, goal: State) -> None:
    state, previous, way = start, 0, []
    for _ in range(8):
        word = command_for(state, goal)
        arrow = next_transition(state, word, previous)
        if arrow is None and state in {NRSO, FRA}:
            arrow = next(x for x in TRANSITIONS if x.source is state and x.number in {1, 14})
        previous = word
        if arrow is not None:
            state = arrow.target
            way.append(arrow.number)

    assert state is goal
    assert len(way) <= 5


def test_a_drive_is_enabled_by_06_07_0f() -> None:
    assert [command_for(state, OE) for state in (F, SOD, RTSO, SO, OE)] == [0x80, 6, 7, 15, 15]


def test_quick_stop_holds_where_it_is_and_switches_off_what_does_not_move() -> None:
    assert [command_for(state, QSA) for state in (OE, QSA)] == [2, 2]
    assert [command_for(state, QSA) for state in (SO, RTSO, SOD)] == [0, 0, 0]


@pytest.mark.parametrize('goal', [NRSO, FRA, F])
def test_a_goal_that_no_word_reaches_is_an_error(goal: State) -> None:
    with pytest.raises(GoalError, match=goal.name):
        command_for(OE, goal)


def test_modes_read_from_6502h() -> None:
    assert supported_modes(0x0080) == (Mode.CYCLIC_SYNCHRONOUS_POSITION,)
    assert supported_modes(0x03AD) == (
        Mode.PROFILE_POSITION,
        Mode.PROFILE_VELOCITY,
        Mode.PROFILE_TORQUE,
        Mode.HOMING,
        Mode.CYCLIC_SYNCHRONOUS_POSITION,
        Mode.CYCLIC_SYNCHRONOUS_VELOCITY,
        Mode.CYCLIC_SYNCHRONOUS_TORQUE,
    )


def test_map_entries_pack_as_in_the_esi_file_of_the_omron_1s() -> None:
    """ESI of R88D-1SN04H-ECT: 1701h maps 6040h, 607Ah, 60B8h and 60FEh:01."""
    entries = [0x60400010, 0x607A0020, 0x60B80010, 0x60FE0120]
    fields = [(0x6040, 0, 16), (0x607A, 0, 32), (0x60B8, 0, 16), (0x60FE, 1, 32)]

    assert [objects.pack_mapping(*field) for field in fields] == entries
    assert [objects.unpack_mapping(entry) for entry in entries] == fields


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
