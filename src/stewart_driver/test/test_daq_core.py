# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Codes and volts, position loop, stuck sensors, card types: what needs no card."""

from __future__ import annotations

from pathlib import Path
import pickle

import numpy as np
import pytest
from stewart_driver.control.supervision import StuckDetector
from stewart_driver.daq.amplifiers import PositionLoop
from stewart_driver.daq.card import CodeRange
from stewart_driver.daq.card_type import find_card_type
from stewart_driver.daq.comedi_card import CARD
from stewart_driver.daq.options import DaqOptions, SensorOptions
from stewart_driver.errors import CardError, ConfigurationError, SensorFault

RANGES = [(-10.0, 10.0), (-5.0, 5.0), (-2.0, 2.0), (-1.0, 1.0), (0.0, 10.0), (0.0, 1.0)]
ALL = np.ones(6, dtype=bool)


@pytest.mark.parametrize(('lower', 'upper'), RANGES)
@pytest.mark.parametrize('last', [0xFFFF, 0x3FFF])
def test_every_code_comes_back_from_its_volts(lower: float, upper: float, last: int) -> None:
    scale = CodeRange(lower, upper, last)
    codes = np.arange(last + 1)

    volts = scale.volts(codes)

    assert (volts[0], volts[-1]) == pytest.approx((lower, upper))
    assert np.array_equal(scale.codes(np.clip(volts, lower, upper)), codes)


@pytest.mark.parametrize('volts', [10.0001, -10.0001, np.nan, np.inf])
def test_volts_outside_the_range_are_refused_with_the_range(volts: float) -> None:
    with pytest.raises(ConfigurationError, match=r'volts: expected -10 to 10 V, got'):
        CodeRange(-10.0, 10.0, 0x3FFF).codes(np.array([0.0, volts]))


def test_conversions_are_those_of_comedilib() -> None:
    comedi = pytest.importorskip('comedi.comedi', reason='python3-comedilib is not installed')
    comedi.comedi_set_global_oor_behavior(comedi.COMEDI_OOR_NUMBER)
    for (lower, upper), last in zip(RANGES, [0xFFFF, 0x3FFF] * 3, strict=True):
        scale, theirs = CodeRange(lower, upper, last), comedi.comedi_range()
        theirs.min, theirs.max = lower, upper
        codes = np.linspace(0, last, 999).astype(int)
        volts = np.linspace(lower, upper, 999)

        assert scale.volts(codes) == pytest.approx(
            [comedi.comedi_to_phys(code, theirs, last) for code in codes.tolist()], abs=1e-12
        )
        assert scale.codes(volts).tolist() == [
            comedi.comedi_from_phys(value, theirs, last) for value in volts.tolist()
        ]


def test_without_comedilib_the_card_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__('sys').modules, 'comedi.comedi', None)

    with pytest.raises(CardError, match='install python3-comedilib'):
        CARD.load()


@pytest.mark.installed
def test_unknown_card_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ConfigurationError, match=r"card: expected comedi.*, got 'usb'"):
        find_card_type('usb')


def test_a_real_card_survives_the_way_to_the_cyclic_process() -> None:
    again = pickle.loads(pickle.dumps(CARD))

    assert again == CARD
    assert again.time_of('/dev/comedi0') is None


def test_errors_survive_the_way_to_another_process() -> None:
    for error in (CardError('/dev/comedi0', 'gone'), SensorFault(3, 'still')):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'cycle_time': 0.0}, 'cycle_time'),
        ({'mode': 'force'}, "mode: expected a text out of position, velocity, got 'force'"),
        ({'stuck_cycles': 0}, 'stuck_cycles'),
        ({'input_range': (1.0,)}, 'input_range'),
        ({'longest_call': np.nan}, 'longest_call'),
        ({'input_channels': (0, 1, 2, 3, 4, 4)}, 'input_channels: expected six different'),
        ({'reference': 'floating'}, 'reference: expected a text out of ground, common, diff'),
        ({'output_channels': (0, 1)}, 'output_channels'),
    ],
)
def test_options_that_cannot_be_used_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        DaqOptions(**change)  # type: ignore[arg-type]


@pytest.mark.parametrize('content', [None, 'platform: ex800'])
def test_sensors_without_a_calibration_are_refused(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / 'rig.yaml'
    if content is not None:
        path.write_text(content)

    with pytest.raises(ConfigurationError, match=r'rig_file: expected a calibration file with'):
        SensorOptions(rig_file=str(path) if content else '').calibration()


def track(loop: PositionLoop, target: float, offset: float, steps: int) -> tuple[float, float]:
    """Return largest and last error of an ideal amplifier with an offset in its rate [m/s]."""
    stroke, worst, rate = np.zeros(6), 0.0, np.zeros(6)
    for _ in range(steps):
        rate = loop.rates(np.full(6, target), np.zeros(6), stroke, ALL, 0.004)
        stroke = stroke + 0.004 * (rate + offset)
        worst = max(worst, float(stroke[0] - target))
    return worst, float(stroke[0] - target)


def test_loop_removes_the_offset_of_an_amplifier() -> None:
    loop = PositionLoop(gain=12.0, integral_time=0.5, rate_limit=0.6)

    _, left = track(loop, 0.0, offset=0.01, steps=1500)

    assert abs(left) < 1e-6


def test_integral_rests_while_the_rate_is_at_its_limit() -> None:
    # 0.15 m at 0.05 m/s: three seconds at the limit, which would wind up 45 mm/s per second.
    loop = PositionLoop(gain=12.0, integral_time=0.5, rate_limit=0.05)

    beyond, left = track(loop, 0.15, offset=0.0, steps=2500)

    # With wind-up it is 127 mm.
    assert beyond < 1e-3
    assert abs(left) < 1e-5


def test_leg_without_a_trusted_sensor_coasts_on_the_rate_of_its_target() -> None:
    loop = PositionLoop(gain=12.0, integral_time=0.5, rate_limit=0.6)
    trusted = ALL.copy()
    trusted[2] = False

    rates = loop.rates(np.full(6, 0.1), np.full(6, 0.03), np.full(6, 0.09), trusted, 0.004)

    assert rates[2] == 0.03
    assert np.delete(rates, 2) == pytest.approx(0.03 + 12.0 * 0.01)


def feed(detector: StuckDetector, measured: np.ndarray, commanded: np.ndarray) -> int | None:
    """Return at which cycle leg 4 is found stuck, and that no other ever is."""
    for cycle, (seen, asked) in enumerate(zip(measured, commanded, strict=True)):
        strokes = np.full(6, asked)
        strokes[3] = seen
        stuck = detector.look(strokes, np.full(6, asked))
        assert not np.delete(stuck, 3).any()
        if stuck[3]:
            return cycle
    return None


def test_constant_reading_under_a_moving_command_is_stuck_and_noise_does_not_hide_it() -> None:
    commanded = 0.05 + 0.1 * 0.004 * np.arange(200)
    measured = 0.05 + np.random.default_rng(2).normal(0.0, 2e-5, 200)

    cycle = feed(StuckDetector(2e-4, 5e-3, 25), measured, commanded)

    # 5 mm at 0.1 m/s and 4 ms are 12.5 cycles, so that the 25 cycles decide.
    assert cycle == 25


def test_sensor_that_follows_a_step_after_a_rest_is_not_stuck() -> None:
    commanded = np.where(np.arange(400) < 200, 0.05, 0.06)
    late = np.concatenate([np.full(10, 0.05), commanded[:-10]])

    assert feed(StuckDetector(2e-4, 5e-3, 25), late, commanded) is None


@pytest.mark.parametrize('rate', [0.0, 0.0005, 0.1])
def test_leg_that_moves_late_slowly_or_rests_is_not_stuck(rate: float) -> None:
    commanded = 0.05 + rate * 0.004 * np.arange(2000)
    late = np.concatenate([np.full(10, 0.05), commanded[:-10]])

    assert feed(StuckDetector(2e-4, 5e-3, 25), late, commanded) is None
