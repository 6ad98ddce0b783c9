# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The low-pass has no lag, one response for all derivatives, and says what it does."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.low_pass import LowPass


@pytest.mark.parametrize(('rate', 'passband'), [(100.0, 5.0), (200.0, 5.0), (500.0, 2.0)])
def test_sines_in_the_pass_band_come_out_with_their_derivatives(
    rate: float, passband: float
) -> None:
    smoother = LowPass(1.0 / rate, passband, 3.0 * passband)
    time = np.arange(round(4.0 * rate)) / rate
    omega = 2.0 * np.pi * 0.9 * passband

    found = smoother.apply(1.7 + np.sin(omega * time)[:, None], derivatives=2)[..., 0]

    inner = time[smoother.half_width : -smoother.half_width]
    expected = 1.7 + np.sin(omega * inner), np.cos(omega * inner), -np.sin(omega * inner)
    for order, signal in enumerate(expected):
        error = np.abs(found[order] / omega**order - signal).max()
        assert error <= smoother.ripple
    assert smoother.ripple < 1e-3
    basis = np.stack([np.ones_like(inner), np.sin(omega * inner), np.cos(omega * inner)], axis=1)
    _, along, across = np.linalg.lstsq(basis, found[0], rcond=None)[0]
    # Measured lag [s].
    assert abs(np.arctan2(across, along) / omega) < 1e-9


def test_phase_of_the_response_is_zero_in_the_whole_band() -> None:
    smoother = LowPass(0.01, 5.0, 15.0)
    frequency = np.linspace(0.1, 5.0, 50)

    for order in range(3):
        assert np.abs(np.angle(smoother.response(frequency, order))).max() < 1e-12


def test_above_the_stop_band_nothing_passes() -> None:
    smoother = LowPass(0.005, 5.0, 15.0)
    frequency = np.linspace(15.0, 100.0, 200)

    # Relative to the true derivative, which grows with the frequency.
    assert max(np.abs(smoother.response(frequency, n)).max() for n in range(3)) < 5e-4


def test_parabolas_pass_exactly_and_far_from_zero() -> None:
    smoother = LowPass(0.01, 5.0, 15.0)
    time = 0.01 * np.arange(200)

    value, rate, acceleration = smoother.apply(
        (1e3 + 2.0 * time + 3.0 * time**2)[:, None], derivatives=2
    )

    inner = time[smoother.half_width : -smoother.half_width]
    assert np.allclose(rate[:, 0], 2.0 + 6.0 * inner, atol=1e-8)
    assert np.allclose(acceleration[:, 0], 6.0, atol=1e-6)
    assert value.shape == (200 - 2 * smoother.half_width, 1)


def test_slow_and_short_signals_are_refused_with_numbers() -> None:
    with pytest.raises(UnusableRecording, match=r'every 50 ms carry 10 Hz .* need 15 Hz'):
        LowPass(0.05, 5.0, 15.0)
    with pytest.raises(UnusableRecording, match=r'more than 60 samples \(600 ms\), there are 12'):
        LowPass(0.01, 5.0, 15.0).apply(np.zeros((12, 1)))
