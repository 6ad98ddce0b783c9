# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of wave spectra and of the seas drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories.spectrum import Jonswap, significant_height
from stewart_kinematics.trajectories.waves import GRAVITY, OrbitalWave

SPECTRA = [Jonswap(1.5, 7.0), Jonswap(0.2, 2.5, 6.0), Jonswap(3.0, 9.0, 1.0)]


@pytest.mark.parametrize('spectrum', SPECTRA)
def test_significant_height_is_four_roots_of_the_energy(spectrum: Jonswap) -> None:
    grid = np.linspace(0.2, 60.0, 600_001) * spectrum.peak_frequency
    energy = trapezoid(spectrum.density(grid), grid)
    # The tail beyond 60 peak frequencies holds 1e-7 of the energy.
    assert 4.0 * np.sqrt(energy) == pytest.approx(spectrum.significant_height, rel=1e-5)


@pytest.mark.parametrize('spectrum', SPECTRA)
def test_density_peaks_at_the_peak_period(spectrum: Jonswap) -> None:
    grid = np.linspace(0.5, 2.0, 150_001) * spectrum.peak_frequency
    peak = grid[np.argmax(spectrum.density(grid))]
    assert 2.0 * np.pi / peak == pytest.approx(spectrum.peak_period, rel=2e-5)


def test_pierson_moskowitz_has_its_closed_form() -> None:
    height, period = 3.0, 9.0
    frequency, peak = np.array([0.5, 0.7, 1.2]), 2.0 * np.pi / period
    expected = (
        5 / 16 * height**2 * peak**4 / frequency**5 * np.exp(-1.25 * (peak / frequency) ** 4)
    )
    found = Jonswap(height, period, 1.0).density(frequency)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_enhancement_raises_the_peak_over_pierson_moskowitz() -> None:
    sharp, flat = Jonswap(1.0, 6.0, 3.3), Jonswap(1.0, 6.0, 1.0)
    peak = sharp.peak_frequency
    ratio = float(sharp.density(peak) / flat.density(peak))
    # 3.3 before the energy is made equal; the usual fit for that is 1 - 0.287 ln 3.3 = 0.657.
    assert ratio == pytest.approx(3.3 * 0.657, rel=0.01)


@pytest.mark.parametrize('bins', ['equal_energy', 'equal_frequency'])
@pytest.mark.parametrize('spectrum', SPECTRA)
def test_sea_has_the_height_and_obeys_deep_water(spectrum: Jonswap, bins: str) -> None:
    sea = spectrum.components(80, 7, bins=bins)
    assert significant_height(sea) == pytest.approx(spectrum.significant_height, rel=1e-12)
    for wave in sea:
        assert wave.angular_frequency**2 == pytest.approx(GRAVITY * wave.wave_number)


def test_elevation_of_a_long_run_has_height_and_period() -> None:
    spectrum = Jonswap(1.5, 7.0)
    wave = OrbitalWave(spectrum.components(200, 11), Pose.identity())
    time = np.arange(0.0, 4000.0, 0.25)
    eta = wave.elevation(time)
    # Random frequencies leave a few per cent over 570 waves.
    assert 4.0 * eta.std() == pytest.approx(1.5, rel=0.03)
    power = np.abs(np.fft.rfft(eta * np.hanning(eta.size))) ** 2
    smooth = np.convolve(power, np.ones(15) / 15, mode='same')
    peak = np.fft.rfftfreq(eta.size, 0.25)[np.argmax(smooth)]
    assert 1.0 / peak == pytest.approx(7.0, rel=0.08)


def test_equal_frequency_bins_are_highest_at_the_peak() -> None:
    sea = Jonswap(1.5, 7.0).components(100, 3, bins='equal_frequency')
    assert max(sea, key=lambda wave: wave.amplitude).period == pytest.approx(7.0, rel=0.05)


def test_equal_energy_bins_have_one_amplitude_inside_the_band() -> None:
    sea = Jonswap(1.5, 7.0).components(50, 3, band=(0.6, 2.5))
    amplitudes = {round(wave.amplitude, 12) for wave in sea}
    ratios = [7.0 / wave.period for wave in sea]
    assert len(amplitudes) == 1
    assert min(ratios) >= 0.6
    assert max(ratios) <= 2.5
    assert ratios == sorted(ratios)


def test_same_seed_gives_the_same_sea() -> None:
    spectrum = Jonswap(1.0, 6.0)
    assert spectrum.components(30, 5) == spectrum.components(30, np.random.default_rng(5))
    assert spectrum.components(30, 5) != spectrum.components(30, 6)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ((0.0, 6.0), 'significant_height must be greater than 0 and at most 1e.100 m'),
        ((1.0, np.nan), 'peak_period must be greater than 0 and at most 1e.100 s'),
        ((1.0, 6.0, 0.5), 'peak_enhancement must be 1 to 10, got 0.5'),
    ],
)
def test_unusable_spectra_are_refused(values: tuple[float, ...], message: str) -> None:
    with pytest.raises(TrajectoryError, match=message):
        Jonswap(*values)


def test_unusable_requests_are_refused() -> None:
    spectrum = Jonswap(1.0, 6.0)
    for count in (0, 10_001):
        with pytest.raises(TrajectoryError, match=f'made of 1 to 10000 waves, got {count}'):
            spectrum.components(count, 1)
    with pytest.raises(TrajectoryError, match='band must ascend from above 0, got 2 to 1'):
        spectrum.components(5, 1, band=(2, 1))
    with pytest.raises(TrajectoryError, match="got 'equal_length'"):
        spectrum.components(5, 1, bins='equal_length')  # type: ignore[arg-type]


def test_sea_that_would_break_is_refused() -> None:
    with pytest.raises(TrajectoryError, match='breaks'):
        Jonswap(5.0, 3.0).components(5, 1)
