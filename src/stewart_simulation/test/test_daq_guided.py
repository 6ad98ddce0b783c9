# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The guided run of a calibration, on a card whose inputs the test sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from stewart_driver.daq.card import AnalogCard, Wiring
from stewart_driver.daq.errors import CalibrationError
from stewart_driver.daq.guided import Guide
from stewart_simulation.daq_card.bench import Wire
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.faults import CardFaults
from stewart_simulation.daq_card.library import SimulatedComedi

SIX = np.array([-9.5, -4.0, -0.1, 0.3, 5.0, 9.9])


def test_guided_run_takes_points_and_asks_again_for_what_cannot_be_one() -> None:
    card = Card(CardSettings(noise_codes=0.0))
    analog = AnalogCard(
        SimulatedComedi(lambda _: Wire(card)),
        Wiring('bench'),
        drives=False,
        clock=lambda: 0.0,
        longest_call=1.0,
    )
    said: list[str] = []
    faults = CardFaults(card)

    def typed() -> Iterator[str]:
        for millimetres, volts in ((20.0, -6.0), (80.0, 0.0), (140.0, 6.0)):
            card.inputs(np.full(6, volts))
            yield f'{millimetres}\n'
        yield 'eighty\n'
        yield '1 2 3\n'
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
    assert len(refusals) == 6
    assert "expected one number or six, up to 1e+06 mm, got 'eighty'" in refusals[0]
    assert all("up to 1e+06 mm, got '" in text for text in refusals[1:4])
    assert 'the input of leg 2 scatters by 0.' in refusals[4]
    assert 'the input of leg 5, +10.0000 V, is at the end' in refusals[5]
    with pytest.raises(CalibrationError, match='at least 1, not 0'):
        Guide(analog, 0, said.append)
