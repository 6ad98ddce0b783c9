# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The guided run of a calibration, on a card whose inputs the test sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.card_type import CardAccess
from stewart_driver.daq.guided import Guide
from stewart_driver.daq.options import SensorOptions
from stewart_driver.errors import CalibrationError, CardError, StewartError
from stewart_driver.rig_file import load_rig
from stewart_driver.verbs import calibrate_daq
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.daq_card.wire import InlineWire as Wire
from stewart_simulation.rig.faults import CardFaults
from typed_words import typed

SIX = np.array([-9.5, -4.0, -0.1, 0.3, 5.0, 9.9])


def test_guided_run_takes_points_and_asks_again_for_what_cannot_be_one() -> None:
    card = Card(CardSettings(noise_codes=0.0))
    analog = AnalogCard(
        SimulatedComedi(lambda _: Wire(card)),
        SensorOptions(device='bench', longest_call=1.0),
        drives=False,
        clock=lambda: 0.0,
    )
    said: list[str] = []
    faults = CardFaults(card)

    def typed() -> Iterator[str]:
        for millimetres, volts in ((20.0, -6.0), (80.0, 0.0), (140.0, 6.0)):
            card.inputs(np.full(6, volts))
            yield f'{millimetres}\n'
        yield 'eighty\n'
        yield '1 2 3\n'
        yield '8_0\n'
        yield '1e101\n'
        yield 'nan\n'
        faults.disturb(2, 0.1)
        yield '80\n'
        faults.mend()
        faults.saturate(5)
        yield '80\n'
        faults.mend()
        card.inputs(SIX)
        yield '1, 2, 3, 4, 5, 6\n'
        yield '\n'
        raise AssertionError('nothing is asked after an empty line')

    table = Guide(analog, 50, said.append).take(typed())

    assert table.strokes is not None
    assert table.inputs is not None
    assert table.strokes[:3, 0] == pytest.approx([0.02, 0.08, 0.14])
    assert table.strokes[3] == pytest.approx(1e-3 * np.arange(1, 7))
    assert table.inputs[:, 0] == pytest.approx([-6.0, 0.0, 6.0, SIX[0]], abs=1e-3)
    refusals = [text for text in said if text.startswith('not taken')]
    assert len(refusals) == 7
    assert "expected one number or six, up to 1e+06 mm, got 'eighty'" in refusals[0]
    assert all("up to 1e+06 mm, got '" in text for text in refusals[1:5])
    assert 'the input of leg 2 scatters by 0.' in refusals[5]
    assert 'the input of leg 5, +10.0000 V, is at the end' in refusals[6]
    with pytest.raises(CalibrationError, match='at least 1, not 0'):
        Guide(analog, 0, said.append)


class Person:
    """Brings the legs to three strokes, reads them off a ruler, and agrees or not."""

    def __init__(self, card: Card, answer: str) -> None:
        self._card, self._answer = card, answer

    def __iter__(self) -> Iterator[str]:
        for millimetres in (20.0, 80.0, 140.0):
            self._card.inputs((millimetres - 80.0) / (10.0 + np.arange(6.0)))
            yield f'{millimetres}\n'
        yield '\n'

    def readline(self) -> str:
        return self._answer


@pytest.mark.parametrize('answer', ['y\n', '\n'])
def test_guided_calibration_reads_the_inputs_that_the_driver_will_and_writes_when_told_to(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
) -> None:
    card = Card(CardSettings())
    access = CardAccess(SimulatedComedi(lambda _: Wire(card)))
    monkeypatch.setattr(calibrate_daq, 'ORDINARY', access)
    monkeypatch.setattr('sys.stdin', Person(card, answer))
    path, table = tmp_path / 'rig.yaml', tmp_path / 'points.csv'
    words = ['--rig-file', path, '--platform', 'ex800', '--device', 'bench']
    words += ['--channels', '5', '4', '3', '2', '1', '0', '--reference', 'ground']

    code = typed(calibrate_daq, *words, '--save-table', table)

    agreed = answer == 'y\n'
    assert code == (0 if agreed else 1)
    assert path.exists() == agreed
    assert len(table.read_text().splitlines()) == 4
    told = capsys.readouterr()
    assert 'point 4: bring the legs to rest' in told.err
    assert ('nothing was written' in told.err) == (not agreed)
    assert 'worst: leg' in told.out
    assert not card.digital_outputs[0]
    if agreed:
        found = load_rig(path).daq
        assert found is not None
        # Leg 1 is on the last input, leg 6 on the first.
        gains = [1e3 * channel.gain_m_per_v for channel in found.inputs]
        assert gains == pytest.approx([15.0, 14.0, 13.0, 12.0, 11.0, 10.0], rel=1e-3)
        offsets = [channel.offset_m for channel in found.inputs]
        assert offsets == pytest.approx([0.08] * 6, abs=2e-5)
        assert found.outputs == ()


class Unplugged(Person):
    """Somebody pulls the card out before the third point."""

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(super().__iter__()):
            if number == 2:
                raise CardError('bench', 'No such device')
            yield line


def test_points_that_were_typed_are_kept_whatever_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = Card(CardSettings())
    access = CardAccess(SimulatedComedi(lambda _: Wire(card)))
    monkeypatch.setattr(calibrate_daq, 'ORDINARY', access)
    monkeypatch.setattr('sys.stdin', Unplugged(card, ''))
    table = tmp_path / 'points.csv'
    words = ['--rig-file', tmp_path / 'rig.yaml', '--platform', 'ex800']
    with pytest.raises(CardError):
        typed(calibrate_daq, *words, '--device', 'bench', '--save-table', table)
    assert len(table.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['--channels', '0', '1', '2', '3', '4', '4'], 'input_channels: expected six different'),
        (['--range', '-3', '3'], 'no range -3 to 3 V; it has -10 to 10'),
    ],
)
def test_guided_calibration_refuses_inputs_that_the_card_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    card = Card(CardSettings())
    access = CardAccess(SimulatedComedi(lambda _: Wire(card)))
    monkeypatch.setattr(calibrate_daq, 'ORDINARY', access)
    command = ['--rig-file', tmp_path / 'rig.yaml', '--platform', 'ex800']

    with pytest.raises(StewartError, match=message):
        typed(calibrate_daq, *command, '--device', 'bench', *words)
