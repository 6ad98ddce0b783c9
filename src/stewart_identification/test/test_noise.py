# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of strokes and forces is told whatever the drives filter, repeat or leave out."""

from __future__ import annotations

from dataclasses import replace
import html

import numpy as np
import pytest
from recordings_made import excitation, PAYLOAD, recorded, Run, run_rig
from scipy.signal import butter, lfilter
from stewart_identification.identifiability import Verdict
from stewart_identification.identify import identify
from stewart_identification.outcome import Outcome
from stewart_identification.recording.checks import repeats
from stewart_identification.recording.from_bag import experiment_from, Extraction
from stewart_identification.recording.legs import LegPiece
from stewart_identification.recording.low_pass import LowPass
from stewart_identification.recording.noise import leg_noise, LegNoise, stroke_level
from stewart_identification.report import render
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

SIGMA = 0.5
"""Of the forces [N]."""


@pytest.fixture(scope='module')
def fast(ex800: Platform) -> Run:
    """Ten seconds at 1 kHz, of forces without noise."""
    return run_rig(ex800, excitation(ex800), PAYLOAD, rate=1000.0)


def noise_of(run: Run, forces: Array, *, held: tuple[float, float] = (1.0, 1.0)) -> LegNoise:
    smoother = LowPass(float(run.time[1]), 5.0, 15.0)
    return leg_noise([LegPiece(run.time, run.strokes, forces)], smoother, held)


def white(run: Run, seed: int) -> Array:
    return np.random.default_rng(seed).normal(0.0, SIGMA, run.forces.shape)


def first_order(values: Array, corner: float, period: float = 1e-3) -> Array:
    """Return what an amplifier of so many hertz makes of values."""
    pole = np.exp(-2.0 * np.pi * corner * period)
    return np.asarray(lfilter([1.0 - pole], [1.0, -pole], values, axis=0))


def repeated(values: Array, every: int) -> Array:
    """Return values that are new every so many samples only."""
    return values[every * (np.arange(len(values)) // every)]


def identified(run: Run, platform: Platform) -> Outcome:
    seven_seconds = recorded(run.part(slice(7000)))
    found = experiment_from(seven_seconds, platform, Extraction(rate=20.0))
    return identify([found], platform)


@pytest.mark.parametrize('corner', [np.inf, 200.0, 100.0, 50.0])
@pytest.mark.parametrize('seed', [1, 2])
def test_level_of_forces_behind_a_filter_is_that_inside_the_band(
    corner: float, seed: int, fast: Run
) -> None:
    """The mean above 20 Hz was less than half of it at 100 Hz; and friction shows there."""
    noise = white(fast, seed)
    seen = noise if np.isinf(corner) else first_order(noise, corner)
    found = noise_of(fast, fast.forces + seen).forces
    # What filters do is found for all legs at once, what is left is each leg's own chance.
    assert found.sigmas.mean() == pytest.approx(SIGMA, rel=0.1)
    assert found.sigmas == pytest.approx(SIGMA, rel=0.2)
    assert (found.fall > 1.0) == (corner == 50.0)


@pytest.mark.parametrize(
    'rate', [100.0, *(pytest.param(rate, marks=pytest.mark.slow) for rate in (1000.0, 200.0))]
)
@pytest.mark.parametrize('encoder_noise', [pytest.param(1e-6, marks=pytest.mark.slow), 2e-5])
def test_dry_friction_is_no_noise_of_the_forces(
    encoder_noise: float, rate: float, ex800: Platform
) -> None:
    """Its steps are stronger than the noise up to 40 Hz; noisy strokes do not explain them."""
    rubbing = replace(PAYLOAD, coulomb_friction=20.0)
    motion = excitation(ex800, duration=7.0)
    run = run_rig(ex800, motion, rubbing, rate=rate, encoder_noise=encoder_noise)
    found = noise_of(run, run.forces + white(run, 1))
    assert found.forces.sigmas.mean() == pytest.approx(SIGMA, rel=0.12)
    assert found.forces.fall == 1.0
    assert found.strokes.sigmas.mean() == pytest.approx(encoder_noise, rel=0.4)


@pytest.mark.parametrize('corner', [20.0, 10.0])
def test_level_of_forces_is_unknown_where_the_filter_cuts_the_motion(
    corner: float, fast: Run
) -> None:
    found = noise_of(fast, fast.forces + first_order(white(fast, 1), corner)).forces
    assert np.isnan(found.sigmas).all()
    assert found.fall > 1.5
    steep = lfilter(*butter(2, 30.0, fs=1000.0), white(fast, 1), axis=0)
    assert np.isnan(noise_of(fast, fast.forces + steep).forces.sigmas).all()


@pytest.mark.parametrize('every', [4, 10])
def test_repeated_forces_count_once(every: int, fast: Run) -> None:
    seen = repeated(fast.forces + white(fast, 1), every)
    assert repeats(seen)[0] == every
    found = noise_of(fast, seen, held=(1.0, float(every))).forces
    # As white noise sampled at 1 kHz that is as strong inside the pass band.
    assert found.sigmas.mean() == pytest.approx(SIGMA * np.sqrt(every), rel=0.1)


@pytest.mark.parametrize('held', [1.6, 2.5])
def test_strokes_that_repeat_now_and_then_count_once(held: float) -> None:
    """One in so many rows was taken, which met repeats: 30 µm of noise for 1."""
    time = 0.01 * np.arange(3000)
    new = np.floor(np.floor(np.arange(3000) / held) * held).astype(int)
    noise = np.random.default_rng(1).normal(0.0, 1e-6, (3000, 6))
    strokes = (0.03 * np.sin(np.pi * time)[:, None] + noise)[new]
    told, step = repeats(strokes)
    assert np.isnan(step)
    assert told == pytest.approx(held, rel=0.01)
    found = stroke_level([LegPiece(time, strokes, strokes)], LowPass(0.01, 5.0, 15.0), told)
    assert 0.5e-6 < found.sigmas.mean() < 4e-6


def test_values_that_are_new_each_time_or_stand_still_are_no_repeats(fast: Run) -> None:
    steps = 5e-6 * np.rint(fast.strokes / 5e-6)
    still = np.concatenate([steps, np.tile(steps[-1], (5000, 1)), steps])
    assert repeats(still)[0] == 1.0
    third = fast.strokes[(np.arange(9000) * 3 // 10)]
    assert repeats(third)[0] == pytest.approx(10.0 / 3.0, rel=1e-3)
    assert repeats(np.full((5, 6), 1.0))[0] == 1.0


@pytest.mark.parametrize('noise', [0.0, 0.1])
@pytest.mark.parametrize('step', [1.0, np.linspace(1.0, 1.5, 6), 5.0])
def test_rounded_forces_are_no_slow_ones(step: float | Array, noise: float, fast: Run) -> None:
    """A drive of 1000 N tells 1 N: forces changed "only every 3.39 samples"."""
    forces = step * np.rint((fast.forces + noise * white(fast, 1)) / step)
    held, told = repeats(forces)
    assert held == 1.0
    assert told == pytest.approx(np.max(step))


@pytest.mark.parametrize('every', [3, 10])
def test_slow_forces_are_no_rounded_ones(every: int, fast: Run) -> None:
    """All that a log has is rounded, to its last digit."""
    slow = repeated(fast.forces, every)
    for seen in (slow, np.round(slow, 3)):
        held, step = repeats(seen)
        assert held == pytest.approx(every, rel=0.01)
        assert np.isnan(step)


@pytest.mark.parametrize('every', [3, 10])
def test_forces_may_be_slow_and_rounded(every: int, fast: Run) -> None:
    """With 1 N, new values that are rounded to the old ones made them slower than they are."""
    assert repeats(np.rint(repeated(fast.forces, every))) == (every, 1.0)
    # One leg alone does not make all coarse.
    mixed = repeated(fast.forces, every)
    mixed[:, 2] = np.rint(mixed[:, 2])
    held, step = repeats(mixed)
    assert held == pytest.approx(every, rel=0.01)
    assert np.isnan(step)


def test_rounded_forces_are_identified_and_their_step_is_told(fast: Run, ex800: Platform) -> None:
    found = identified(replace(fast, forces=np.rint(fast.forces)), ex800)
    assert any('efforts are rounded to steps of 1 N' in said for said in found.remarks)
    assert not any('change only every' in said for said in found.remarks)
    assert not found.fit.lacking


@pytest.mark.parametrize('rate', [200.0, 50.0, 38.0, 32.0])
def test_white_noise_of_strokes_is_found_beside_a_motion(rate: float) -> None:
    time = np.arange(0.0, 10.0, 1.0 / rate)
    noise = np.random.default_rng(1).normal(0.0, 2e-5, (len(time), 6))
    moving = 0.03 * np.sin(2.0 * np.pi * 3.0 * time)[:, None]
    piece = LegPiece(time, moving + noise, np.full((len(time), 6), np.nan))
    found = leg_noise([piece], LowPass(1.0 / rate, 5.0, 15.0))
    assert found.strokes.sigmas.mean() == pytest.approx(2e-5, rel=0.1)
    assert np.isnan(found.forces.sigmas).all()


@pytest.mark.parametrize('corner', [50.0, 20.0])
def test_noise_of_strokes_behind_a_filter_is_not_taken_for_less(corner: float, fast: Run) -> None:
    """A mean over all that a recording of 1 kHz carries was a sixth of it."""
    rng = np.random.default_rng(1)
    noise = first_order(rng.normal(0.0, 1e-4, fast.strokes.shape), corner)
    found = noise_of(replace(fast, strokes=fast.strokes + noise), fast.forces).strokes
    # From 15 to 25 Hz a filter of 20 Hz leaves 0.71 of it.
    assert np.all(found.sigmas > 0.65 * 1e-4)
    assert np.all(found.sigmas < 1.25 * 1e-4)


@pytest.mark.slow
def test_forces_that_were_filtered_or_repeated_are_no_misfit(fast: Run, ex800: Platform) -> None:
    filtered = fast.forces + first_order(white(fast, 1), 50.0)
    slow = repeated(fast.forces + white(fast, 2), 10)
    for name, forces, text in (
        ('filtered', filtered, 'dB next to the motion, as behind a filter or of much dry'),
        ('slow', slow, 'efforts change only every 10 samples, at 100 Hz, and count so often'),
    ):
        found = identified(replace(fast, forces=forces), ex800)
        assert any(text in said for said in found.remarks), name
        assert 0.8 < found.fit.whole < found.fit.limit, name


def test_forces_whose_noise_is_not_known_are_not_tested_and_it_is_said(
    fast: Run, ex800: Platform
) -> None:
    forces = fast.forces + first_order(white(fast, 1), 10.0)
    found = identified(replace(fast, forces=forces), ex800)
    assert np.isnan(found.fit.whole)
    assert not found.fit.lacking
    assert str(found.fit).endswith('is not known, so the model was not tested')
    assert any('it is not known, so the model is not tested' in said for said in found.remarks)
    assert found.verdict.endswith(' the model was not tested')
    tested = replace(found, fit=replace(found.fit, noise=found.fit.left))
    assert 'tested' not in tested.verdict


def test_strokes_that_come_too_slowly_to_tell_their_noise_determine_nothing(
    fast: Run, ex800: Platform
) -> None:
    run = replace(fast, strokes=repeated(fast.strokes, 40), forces=fast.forces + white(fast, 1))
    found = identified(run, ex800)
    assert found.body is None
    assert found.unknown == tuple(item.name for item in found.parameters[:10])
    mass = found.parameters[0]
    assert mass.verdict is Verdict.UNCERTAIN
    assert np.isnan(found.fit.whole)
    assert found.verdict == f'none of the ten parameters is determined: {mass.note}'
    assert html.escape(mass.note) in render(found)
    assert mass.note == (
        '/actuator_states: strokes come too slowly to tell the noise of the encoders from the '
        'motion: record them at 30 Hz or more, or lower the pass band'
    )
    assert any('strokes change only every 40 samples, at 25 Hz' in said for said in found.remarks)


def test_forces_that_come_too_slowly_are_not_tested_and_it_is_said(
    fast: Run, ex800: Platform
) -> None:
    found = identified(replace(fast, forces=repeated(fast.forces, 40)), ex800)
    assert np.isnan(found.fit.whole)
    assert any('efforts come too slowly to tell their noise' in said for said in found.remarks)
