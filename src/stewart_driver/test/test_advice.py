# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever ends in FAULT is told with what to do about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stewart_driver.advice import advice, UNKNOWN
from stewart_driver.backend import Measurement
from stewart_driver.control.configuration import SupervisionSettings
from stewart_driver.control.state_machine import State
from stewart_driver.control.supervision import Supervisor
from stewart_driver.errors import CardError, DriveFault, LegFault, SensorFault
from stewart_driver.ethercat.cia402.error_codes import error_text, ERROR_TEXTS
from stewart_driver.ethercat.errors import (
    AlStatus,
    fault_text,
    NotOperational,
    SdoRefused,
    WrongCount,
)
from stewart_driver.legs import LegLimits

LIMITS = LegLimits(np.zeros(6), np.full(6, 0.6), rate=0.6, acceleration=6.0)
MATRIX = Path(__file__).parents[3] / 'docs' / 'fault_matrix.md'


def supervised() -> list[str]:
    """Let the supervision say what it can say of a measurement."""
    watch = Supervisor(LIMITS, SupervisionSettings())
    still, far = np.full(6, 0.3), np.full(6, 0.7)
    found = [
        watch.silence(0.0, 1.0),
        watch.measurement(Measurement(0.0, np.full(6, np.nan), still)),
        watch.measurement(Measurement(0.0, far, np.zeros(6))),
        watch.measurement(Measurement(0.002, still, np.zeros(6))),
        watch.tracking(1.0, 0.0),
        watch.tracking(0.0, 1.0),
    ]
    assert None not in found
    return [str(sentence) for sentence in found]


@pytest.mark.parametrize(
    ('code', 'action'), [(0x1A, 'real-time priority'), (0x25, 'maps'), (0x1B, 'supply and cables')]
)
def test_what_a_drive_says_of_its_state_chooses_the_action(code: int, action: str) -> None:
    status = AlStatus(0x14, code, 'some text')
    assert action in advice(str(LegFault(1, f'its drive is lost, EtherCAT: {status}')))
    assert action in advice(str(NotOperational('SAFEOP', [f'leg 1: {status}'])))


@pytest.mark.parametrize(
    'sentence',
    [
        *supervised(),
        str(DriveFault(5, 0, fault_text(0, (), AlStatus(8, 0, '')))),
        'leg 3 is 12.00 mm from its command, allowed are 10 mm',
        '60.0 % of the cycles of the last second were missed while moving, allowed are 50 %',
        'the drives have left operation by themselves',
        'the drives are not on after 5.00 s: leg 3 is SWITCHED_ON',
        'the legs did not come to rest within 0.9 s',
        'no cycle has run for 2.60 s while ENABLED, allowed are 2.5 s: the process was killed',
        'the cyclic process was killed by signal 9',
        'no complete frame has come back on eth1 for 60 ms',
        str(LegFault(2, 'its drive is lost, EtherCAT: does not answer')),
        str(WrongCount('eth1', (), 6)),
        str(SdoRefused(1, 0x6060, 0, 'it does not exist')),
        str(CardError('/dev/comedi0', 'it is closed')),
        str(SensorFault(1, 'it stays')),
    ],
)
def test_every_sentence_that_ends_in_fault_has_its_action(sentence: str) -> None:
    assert UNKNOWN not in advice(sentence)


def test_every_error_code_has_its_action() -> None:
    for code in ERROR_TEXTS:
        if code:
            fault = str(DriveFault(1, code, error_text(code)))
            assert UNKNOWN not in advice(fault), fault


def test_a_blocked_motor_is_not_an_open_enable_contact() -> None:
    assert 'by hand' in advice(str(DriveFault(4, 0x7121, error_text(0x7121))))
    assert 'STO' in advice(str(DriveFault(4, 0x5441, error_text(0x5441))))
    assert 'mains' in advice(str(DriveFault(4, 0x3130, error_text(0x3130))))


def test_every_fault_of_the_matrix_has_its_action() -> None:
    rows = [
        line.split('|')[4].strip()
        for line in MATRIX.read_text().splitlines()
        if f'| {State.FAULT.name} |' in line
    ]
    assert len(rows) > 20
    assert [row for row in rows if UNKNOWN in advice(row)] == []
