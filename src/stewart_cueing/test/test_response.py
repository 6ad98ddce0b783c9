# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Responses measured on the platform's motion are those of the filters' transfer functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stewart_cueing.vehicle.plotting import response_figure
from stewart_cueing.vehicle.response import (
    AMPLITUDES,
    FREQUENCIES,
    measured,
    Pair,
    PAIRS,
    PERIOD,
    played,
)
from stewart_cueing.vehicle.washout import GRAVITY, PRESETS, Washout, WashoutSettings
from stewart_cueing.verbs import cue
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion
from stewart_tables.csv_tables import read_table
from typed_words import typed


def closed_form(settings: WashoutSettings, pair: Pair, frequency: float, period: float) -> complex:
    """Return what the transfer functions of the washout's filters say of small inputs.

    Forces are rotated by the platform's attitude one period ago (delay D), so gravity enters their
    high-pass filters H: a force F gives H F (1 - D L) + L F with the low-pass L of the tilt, a
    pitch angle θ gives (D H - 1) g θ.
    """
    s, source = 1j * frequency, pair.source
    delay = np.exp(-s * period)
    lag = 1.0 / (1.0 + settings.smoothing * s)
    axis = pair.result if pair.result < 3 else 0
    w, wb = settings.force_frequency[axis], settings.return_frequency[axis]
    high = lag * s**3 / ((s * s + 2.0 * settings.force_damping * w * s + w * w) * (s + wb))
    t = settings.tilt_frequency
    low = t * t / (s * s + 2.0 * settings.tilt_damping * t * s + t * t)
    if source >= 3:
        w = settings.turn_frequency[source - 3]
        scale = settings.rate_scale[source - 3]
        angle = scale * lag * s / (s * s + 2.0 * settings.turn_damping * w * s + w * w)
        if pair.result >= 3:
            return complex(s * angle)
        return complex((1.0 if source == 4 else -1.0) * (delay * high - 1.0) * GRAVITY * angle)
    scale = settings.force_scale[source]
    if pair.result >= 3:
        return complex((-1.0 if source == 0 else 1.0) * scale * s * low / GRAVITY)
    return complex(scale * (high if source == 2 else high * (1.0 - delay * low) + low))


@pytest.mark.parametrize('source', range(6))
@pytest.mark.parametrize('name', ['srs', 'vigo'])
def test_the_measured_response_is_that_of_the_transfer_functions(name: str, source: int) -> None:
    centre, settings = load_platform(name).geometry.neutral_pose, PRESETS[name]

    def play(samples: Array) -> Motion:
        return Washout(settings, centre, PERIOD).run(samples)

    frequencies = FREQUENCIES[[3, 7, 9, 11]]
    found = measured(play, np.array(settings.head), source, frequencies, AMPLITUDES[source])
    for pair in PAIRS:
        if pair.source == source:
            expected = [closed_form(settings, pair, w, PERIOD) for w in frequencies]
            np.testing.assert_allclose(found[:, pair.result], expected, rtol=0.01)


def test_the_optimal_method_is_linear_and_as_symmetric_as_the_platform(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Vigo, turned by 120°, is itself: a linear and isotropic law treats sway like surge."""
    monkeypatch.setattr('stewart_cueing.vehicle.response.SETTLING', 2.0)
    guard, settings = MotionGuard(load_platform('vigo')), PRESETS['vigo']
    assert settings.force_scale[0] == settings.force_scale[1]

    def play(samples: Array) -> Motion:
        return played('optimal', guard, settings, samples)

    head, frequency = np.array(settings.head), FREQUENCIES[[9]]
    surge = measured(play, head, 0, frequency, 0.05)[0]
    sway = measured(play, head, 1, frequency, 0.1)[0]
    np.testing.assert_allclose(sway[[1, 3]], surge[[0, 4]] * [1.0, -1.0], rtol=0.02)
    np.testing.assert_allclose([*surge[[1, 3, 5]], *sway[[0, 4, 5]]], 0.0, atol=1e-3)
    assert 0.5 < abs(surge[0]) / settings.force_scale[0] < 1.0


@pytest.mark.slow
def test_the_verb_writes_the_responses_of_all_tests_at_all_frequencies(tmp_path: Path) -> None:
    target, picture = tmp_path / 'omct.csv', tmp_path / 'omct.svg'
    assert typed(cue, '--omct', '--platform', 'srs', '--plot', picture, '-o', target) == 0
    columns = ('test', 'frequency_radps', 'gain', 'phase_deg')
    rows = read_table(target, columns).take(columns)
    assert len(rows) == len(PAIRS) * len(FREQUENCIES)
    for number, frequency, gain, phase in rows:
        pair = PAIRS[round(number) - 1]
        expected = closed_form(PRESETS['srs'], pair, frequency, PERIOD)
        found = gain * np.exp(1j * np.radians(phase))
        assert abs(found - expected) < 0.01 * abs(expected)
    assert picture.read_text().startswith('<?xml')


def test_constant_forces_become_tilt_and_constant_rates_fade() -> None:
    """Limits of the transfer functions that need no simulation."""
    settings, slow = WashoutSettings(), 1e-4
    surge = closed_form(settings, PAIRS[5], slow, PERIOD)
    assert surge == pytest.approx(settings.force_scale[0], rel=1e-3)
    assert abs(closed_form(settings, PAIRS[4], slow, PERIOD)) < 1e-3
    assert closed_form(settings, PAIRS[9], 60.0, PERIOD) == pytest.approx(
        settings.force_scale[2] / (1.0 + 0.3j), abs=0.06
    )


def test_gains_are_drawn_over_more_than_a_decade() -> None:
    """Else every tick has a label, and these lie on each other."""
    level = np.full((len(PAIRS), len(FREQUENCIES)), 0.2, complex)
    for axes in response_figure({'washout': level}, 'srs').axes:
        if axes.get_yscale() == 'log':
            low, high = axes.get_ylim()
            assert high / low >= 19.9
            assert low < 0.2 < high
