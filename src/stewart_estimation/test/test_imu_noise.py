# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from functools import partial
import json
from pathlib import Path
import re

import numpy as np
import pytest
from scipy.signal import butter, lfilter
from stewart_bags.writing import BagWriter
from stewart_estimation.allan import (
    allan_deviation,
    bridged_stretch,
    degrees_of_freedom,
    longest_stretch,
    overlapping,
)
from stewart_estimation.rest import oddities
from stewart_estimation.samples import ImuSeries
from stewart_estimation.verbs import imu_noise
from stewart_estimation.verbs.measurements import (
    ANGULAR_VELOCITY,
    BadRecording,
    SPECIFIC_FORCE,
)
from stewart_kinematics.errors import ConfigurationError
from stewart_tables.columns import TIME
from stewart_tables.csv_tables import write_table
from typed_words import typed
import yaml

run = partial(typed, imu_noise)
SIZES = np.array([1, 10, 100])


def nist() -> np.ndarray:
    """The 1000 numbers of NIST SP 1065, section 12.4: a linear congruential generator."""
    number, found = 1234567890, []
    for _ in range(1000):
        found.append(number / 2147483647)
        number = 16807 * number % 2147483647
    return np.array(found)


def test_deviations_are_those_of_the_handbook() -> None:
    # NIST SP 1065, table of the 1000-point suite: overlapping Allan deviation, tau 1, 10, 100 s.
    printed = [2.922319e-01, 9.159953e-02, 3.241343e-02]
    np.testing.assert_allclose(overlapping(nist(), 1.0, SIZES), printed, rtol=3e-7)


def test_intervals_hold_as_often_as_they_say() -> None:
    rng, held = np.random.default_rng(1), []
    for _ in range(200):
        found = allan_deviation(rng.normal(size=2000), 0.01, confidence=0.9)
        true = 0.1 / np.sqrt(found.tau)
        held.append((found.lower < true) & (found.upper > true))
    share = np.mean(held, axis=0)
    assert np.all(share[found.freedom > 10] > 0.83)
    assert np.all(share[found.freedom > 10] < 0.97)


@pytest.mark.parametrize('kind', ['white', 'quantised', 'low-passed'])
def test_the_error_of_a_density_is_as_large_as_it_says(kind) -> None:
    rng, off = np.random.default_rng(11), []
    for seed in range(60):
        if kind == 'low-passed':
            found = allan_deviation(low_passed(4000, seed=seed)[:, 0], 0.005)
        else:
            samples = rng.normal(size=4000) + 0.2 * (kind == 'quantised') * np.diff(
                rng.normal(size=4001)
            )
            found = allan_deviation(samples, 1.0)
        off.append((found.density - 1.0) / found.density_error)
    assert np.mean(np.abs(off) < 2.0) > 0.9


def test_known_noise_is_found_and_written_for_the_filter(tmp_path, capsys) -> None:
    rng, period, count = np.random.default_rng(2), 0.01, 100_000
    densities = np.array([2e-3, 3e-3, 1e-3, 1e-4, 2e-4, 3e-4])
    walks = np.array([6e-4, 6e-4, 6e-4, 4e-5, 4e-5, 4e-5])
    white = densities / np.sqrt(period) * rng.normal(size=(count, 6))
    drift = np.cumsum(walks * np.sqrt(period) * rng.normal(size=(count, 6)), axis=0)
    time = period * np.arange(count)
    rows = np.column_stack([time, white + drift + [0.1, 0.2, 9.81, 0.01, 0.02, 0.03]])
    # A gap early on: what lies before it is left out.
    rows = np.delete(rows, slice(1000, 1100), axis=0)
    write_table(tmp_path / 'rest.csv', (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), rows)
    words = ['--json', '--yaml', str(tmp_path / 'x.yaml'), '--plot', str(tmp_path / 'x.svg')]
    assert run(tmp_path / 'rest.csv', *words) == 0
    said = json.loads(capsys.readouterr().out)
    assert said['samples'] == count - 1100
    found = [said[axis] for axis, _ in imu_noise.AXES]
    for item, density, walk in zip(found, densities, walks, strict=True):
        assert abs(item['density'] - density) < 4.0 * item['density_error']
        assert item['density_error'] < 0.01 * density
        assert walk / 2.0 < item['walk'] < 2.0 * walk
        assert item['reached']
    lines = yaml.safe_load((tmp_path / 'x.yaml').read_text())['/**/state_estimator']
    told = lines['ros__parameters']
    assert told['imu_period'] == period
    assert told['specific_force_sigma'] == pytest.approx(3e-2, rel=0.02)
    assert told['angular_velocity_sigma'] == pytest.approx(3e-3, rel=0.02)
    assert (tmp_path / 'x.svg').stat().st_size > 5000


def low_passed(count, order=2, size=1, seed=6) -> np.ndarray:
    """Return (count, size) at 200 Hz, of the density 1, behind a low pass of 20 Hz."""
    white = np.random.default_rng(seed).normal(size=(count + 1000, size)) * np.sqrt(200.0)
    return lfilter(*butter(order, 20.0 / 100.0), white, axis=0)[1000:]


@pytest.mark.parametrize('order', [1, 2])
def test_density_of_a_sensor_with_a_low_pass_is_that_of_its_means(order) -> None:
    for column in low_passed(12_000, order, 6).T:
        found = allan_deviation(column, 0.005)
        assert 0.02 < found.density_error < 0.1
        assert abs(found.density - 1.0) < 3.0 * found.density_error
        assert 0.1 < found.white_from < 0.8
    assert allan_deviation(resting()[:, 1], 0.01).white_from == 0.01


def test_correlated_samples_are_told_and_no_noise_is_never_written(tmp_path, capsys) -> None:
    path, target = tmp_path / 'rest.csv', tmp_path / 'x.yaml'
    head, time = (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), 0.005 * np.arange(6000.0)
    noise = low_passed(6000, size=6) * np.repeat([1e-3, 1e-4], 3)
    still = [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]
    write_table(path, head, np.column_stack([time, noise + still]))
    assert run(path, '--yaml', target) == 0
    assert 'samples are correlated' in capsys.readouterr().err
    told = yaml.safe_load(target.read_text())['/**/state_estimator']['ros__parameters']
    assert told['specific_force_sigma'] == pytest.approx(1e-3 * np.sqrt(200.0), rel=0.25)
    # Differences of white noise have no density.
    noise = np.diff(np.random.default_rng(7).normal(size=(6001, 6)), axis=0) * 1e-2
    write_table(path, head, np.column_stack([time, noise + still]))
    with pytest.raises(ConfigurationError, match=r'specific force: density .*than its error'):
        run(path, '--yaml', tmp_path / 'none.yaml')
    assert not (tmp_path / 'none.yaml').exists()


def test_flat_part_is_the_bias_instability() -> None:
    # Flicker noise of the two-sided density b²/(2π f) has the Allan variance 2 ln 2 b²/π (IEEE Std
    # 952, annex C); counted over positive frequencies alone it is b²/(π f).
    rng, count, period, b = np.random.default_rng(3), 2**16, 0.1, 0.5
    frequency = np.fft.rfftfreq(count, period)[1:]
    spectrum = np.sqrt(b**2 / (np.pi * frequency) / (2.0 * period) * count / 2.0)
    noise = rng.normal(size=(2, frequency.size))
    samples = np.fft.irfft(np.concatenate([[0.0], spectrum * (noise[0] + 1j * noise[1])]), count)
    assert allan_deviation(samples, period).instability == pytest.approx(b, rel=0.15)


def test_what_has_no_noise_is_refused() -> None:
    for samples, words in ((np.zeros(10), '200 or more'), (np.ones(300), 'change')):
        with pytest.raises(ConfigurationError, match=words):
            allan_deviation(samples, 0.01)
    with pytest.raises(ConfigurationError, match='finite'):
        allan_deviation(np.full(300, np.nan), 0.01)


def test_a_gap_ends_a_stretch() -> None:
    stamps = np.delete(0.01 * np.arange(100.0), [30, 31])
    assert longest_stretch(stamps) == slice(30, 98)
    assert degrees_of_freedom(1000, np.array([1]))[0] > 500


@pytest.mark.parametrize('jitter', [1e-3, 3e-3, 'bursts'])
def test_stamps_that_jitter_have_no_gap_but_where_samples_are_missing(jitter) -> None:
    count = 20_000
    stamps = 0.005 * np.arange(count)
    if jitter == 'bursts':
        stamps = 0.02 * np.ceil(stamps / 0.02 - 1e-9) + 1e-4 * (np.arange(count) % 4)
    else:
        stamps = stamps + jitter * np.random.default_rng(2).normal(size=count)
    assert longest_stretch(np.sort(stamps)) == slice(0, count)
    stamps[15_000:] += 0.025
    found = longest_stretch(np.sort(stamps))
    assert found.start == 0
    assert abs(found.stop - 15_000) <= 4


@pytest.mark.parametrize('share', [0.02, 0.05, 0.1])
def test_samples_lost_at_random_leave_density_and_walk_as_they_are(share) -> None:
    density, walk, period, off, found = 1e-3, 3e-4, 0.01, [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        white = density / np.sqrt(period) * rng.normal(size=20_000)
        values = white + np.cumsum(walk * np.sqrt(period) * rng.normal(size=20_000))
        kept = rng.random(20_000) >= share
        stretch, lost = bridged_stretch(period * np.flatnonzero(kept))
        assert stretch == slice(0, kept.sum())
        ends = np.flatnonzero(kept)[[0, -1]]
        assert lost == np.ptp(ends) + 1 - kept.sum()
        found.append(allan_deviation(values[kept], period, lost=lost / (lost + kept.sum())))
        whole = allan_deviation(values, period)
        off.append((found[-1].density / whole.density - 1.0, found[-1].density - density))
    error = np.mean([item.density_error for item in found])
    # What loss adds is half its share: 1 to 5 %.
    assert abs(np.mean(off, axis=0)[0]) < 0.003
    assert abs(np.mean(off, axis=0)[1]) < error
    assert np.mean([item.walk for item in found]) == pytest.approx(walk, rel=0.15)
    true = [np.sqrt(density**2 / item.tau + walk**2 * item.tau / 3.0) for item in found]
    held = [
        np.mean((item.lower < at) & (item.upper > at))
        for item, at in zip(found, true, strict=True)
    ]
    assert np.mean(held) > 0.9


def test_a_radio_that_loses_samples_costs_neither_the_recording_nor_the_period(
    tmp_path, capsys
) -> None:
    path, words = tmp_path / 'rest.csv', ['--json', '--yaml', str(tmp_path / 'noise.yaml')]
    head, rng = (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), np.random.default_rng(8)
    rows = resting()
    write_table(path, head, rows[rng.random(6000) >= 0.1])
    assert run(path, *words) == 0
    told = capsys.readouterr()
    said = json.loads(told.out)
    assert (
        f'{said["samples_lost"]} of {said["samples_lost"] + said["samples"]} samples' in told.err
    )
    assert 500 < said['samples_lost'] < 700
    assert 'warning' not in told.err
    assert 'jitter' not in told.err
    assert 'correlated' not in told.err
    assert said['fx']['density'] == pytest.approx(0.02 * 0.1, rel=0.03)
    noise = yaml.safe_load((tmp_path / 'noise.yaml').read_text())['/**/state_estimator']
    assert noise['ros__parameters']['imu_period'] == pytest.approx(0.01)
    write_table(path, head, rows[rng.random(6000) >= 0.3])
    with pytest.raises(ConfigurationError, match='samples without a gap'):
        run(path, *words)
    # A logger that writes a row for them, too, has lost as many.
    gone = np.random.default_rng(8).random(6000) < 0.1
    rows[gone, 4] = np.nan
    write_table(path, head, rows)
    assert run(path, '--json') == 0
    assert json.loads(capsys.readouterr().out) == said


def test_an_end_before_the_beginning_is_refused(tmp_path) -> None:
    words = [str(tmp_path / 'rest.csv'), '--from', '5', '--until', '2']
    with pytest.raises(ConfigurationError, match='--until: expected more than --from, 5 s, got 2'):
        run(*words)


def resting(count=6000) -> np.ndarray:
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(count, 6)) * np.repeat([0.02, 1e-3], 3)
    noise += [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]
    return np.column_stack([0.01 * np.arange(count), noise])


def swaying(rows):
    rows[:, 1] += 0.3 * np.sin(rows[:, 0])


def stepped(rows):
    rows[4000:, 4] += 3e-3


def on_the_edge(rows):
    rows[:, 1] = 0.08 * (np.random.default_rng(9).random(len(rows)) < 0.42)


def spiked(rows):
    rows[::997, 2] += 50.0


def repeated(rows):
    rows[1::2, 1:] = rows[::2, 1:]


def rounded(rows):
    steps = np.repeat([0.08, 4e-3], 3)
    rows[:, 1:] = np.round(rows[:, 1:] / steps) * steps


def in_g(rows):
    rows[:, 1:4] /= 9.80665


def in_degrees(rows):
    rows[:, 4:] = np.degrees(rows[:, 4:])


def biased_in_degrees(rows):
    rows[:, 4:] = 0.1 * rows[:, 4:] + 0.3


def interrupted(rows):
    rows[3000:, 0] += 5.0


def sound(rows):
    pass


@pytest.mark.parametrize(
    ('spoil', 'warning'),
    [
        (swaying, 'fx changes by 0.5'),
        (stepped, 'p steps by 0.00322 rad/s about 39.5 s after the rest begins'),
        (on_the_edge, 'mostly repeat the value before'),
        (spiked, '13 samples jump'),
        (repeated, '50 % of the samples repeat the one before'),
        (rounded, 'fx, fy, fz, p, q, r mostly repeat the value before: steps are coarse'),
        (in_g, 'the specific force is 1 m/s² at rest, gravity is 9.81'),
        (in_degrees, 'noise of 0.0056 rad/s/√Hz, no gyroscope has more than 0.2 and 0.003: are'),
        (biased_in_degrees, 'the rates are 0.52 rad/s at rest'),
        (interrupted, 'gaps leave 3000 of 6000 samples'),
        (sound, ''),
    ],
)
def test_what_makes_the_noise_doubtful_is_said(tmp_path, capsys, spoil, warning) -> None:
    rows = resting()
    spoil(rows)
    write_table(tmp_path / 'rest.csv', (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), rows)
    assert run(tmp_path / 'rest.csv') == 0
    said = capsys.readouterr().err
    assert warning in said
    assert said.count('warning') == (1 if warning else 0)


def test_a_short_stretch_gives_no_parameters_and_jitter_is_called_so(tmp_path, capsys) -> None:
    rows = resting()
    rows[:, 0] += 2e-3 * np.random.default_rng(5).normal(size=len(rows))
    rows = rows[np.argsort(rows[:, 0])]
    write_table(tmp_path / 'rest.csv', (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), rows)
    assert run(tmp_path / 'rest.csv') == 0
    said = capsys.readouterr()
    assert 'stamps jitter by' in said.err
    assert 'warning' not in said.err
    assert '6000 samples' in said.out
    rows[:, 0] += 5.0 * (np.arange(len(rows)) // 400)
    write_table(tmp_path / 'rest.csv', (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), rows)
    words = [str(tmp_path / 'rest.csv'), '--yaml', str(tmp_path / 'noise.yaml')]
    with pytest.raises(ConfigurationError, match='--from and --until choose a part'):
        run(*words)
    assert not (tmp_path / 'noise.yaml').exists()


def test_a_step_beside_lost_samples_is_told_when_it_came() -> None:
    rows = resting()
    stepped(rows)
    rows = rows[np.random.default_rng(8).random(len(rows)) >= 0.2]
    (said,) = oddities(ImuSeries(rows[:, 0], rows[:, 1:4], rows[:, 4:]), 0.01)
    told = re.search(r'about (.*) s after', said)
    assert told is not None
    # By their number it was 32 s.
    assert float(told[1]) == pytest.approx(40.0, abs=1.5)


def test_times_in_milliseconds_and_a_dead_axis_are_refused(tmp_path) -> None:
    rows = resting() * [1e3, *[1.0] * 6]
    write_table(tmp_path / 'rest.csv', (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), rows)
    with pytest.raises(BadRecording, match='samples of the IMU are 10 s apart'):
        run(tmp_path / 'rest.csv')
    rows = resting() * [1, 1, 1, 1, 0, 1, 1]
    write_table(tmp_path / 'rest.csv', (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), rows)
    with pytest.raises(ConfigurationError, match='p at rest: expected values that change'):
        run(tmp_path / 'rest.csv')


def write_imu(path: Path, seconds: int | None, sigma: float = 0.01) -> None:
    """Write noise at rest, 100 samples/s received, stamped alike [s], or all but the first."""
    noise = sigma * np.random.default_rng(5).normal(size=(2000, 6))
    with BagWriter(path) as writer:
        types = writer.typestore.types
        vector, turn = types['geometry_msgs/msg/Vector3'], types['geometry_msgs/msg/Quaternion']
        unknown, here = np.zeros(9), turn(0.0, 0.0, 0.0, 1.0)
        for number, (fx, fy, fz, *rates) in enumerate(noise.tolist()):
            received = 10**9 + 10**7 * number
            stamp = divmod(received * bool(number), 10**9) if seconds is None else (seconds, 0)
            header = types['std_msgs/msg/Header'](
                types['builtin_interfaces/msg/Time'](*stamp), 'imu'
            )
            felt, turning = vector(fx, fy, 9.81 + fz), vector(*rates)
            message = types['sensor_msgs/msg/Imu'](
                header, here, unknown, turning, unknown, felt, unknown
            )
            writer.write('/imu/data', received, message)


def test_stamps_that_stand_are_called_so(tmp_path) -> None:
    write_imu(tmp_path / 'bag', 7)
    with pytest.raises(ConfigurationError, match='stamps: expected stamps that increase, got 7'):
        run(tmp_path / 'bag')


def test_a_sensor_that_tells_no_numbers_is_refused(tmp_path) -> None:
    write_imu(tmp_path / 'bag', 0, np.nan)
    with pytest.raises(ConfigurationError, match='samples of the IMU: expected some that are'):
        run(tmp_path / 'bag')


def test_samples_that_nobody_stamped_are_taken_when_they_were_received(tmp_path, capsys) -> None:
    write_imu(tmp_path / 'bag', 0)
    assert run(tmp_path / 'bag', '--json') == 0
    said = capsys.readouterr()
    assert "/imu/data: all stamps are zero, the bag's own times are used" in said.err
    found = json.loads(said.out)
    assert found['period_s'] == pytest.approx(0.01)
    assert found['fx']['density'] == pytest.approx(0.01 * 0.1, rel=0.1)


def test_time_counts_from_the_first_sample_that_is_stamped(tmp_path, capsys) -> None:
    write_imu(tmp_path / 'bag', None)
    assert run(tmp_path / 'bag', '--json', '--until', '10') == 0
    assert json.loads(capsys.readouterr().out)['samples'] == pytest.approx(1000, abs=1)
