# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rides import drive
from stewart_bags.writing import BagWriter
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.inputs import COLUMNS, read_ride, VehicleRide
from stewart_cueing.vehicle.methods import METHODS
from stewart_cueing.vehicle.perception import false_cues, felt, perceived
from stewart_cueing.vehicle.plotting import felt_against_wanted
from stewart_cueing.vehicle.ride import fitted, settings_for
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL, WashoutSettings
from stewart_cueing.verbs import cue
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion
from stewart_kinematics.motion_csv import read_motion
from stewart_tables.csv_tables import write_table
from stewart_tables.yaml_models import read_content, read_model
from typed_words import typed


def test_setpoints_of_a_ride_keep_the_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time = np.concatenate([np.arange(0.0, 1.5, 0.02), np.arange(2.6, 3.0, 0.02)])
    samples = np.tile(LEVEL, (time.size, 1))
    samples[:, 0] += 40.0 * (time > 1.0)
    source, target = tmp_path / 'ride.csv', tmp_path / 'setpoints.csv'
    write_table(source, ('time_s', *COLUMNS), np.column_stack([time, samples]))
    assert typed(cue, source, '--platform', 'vigo', '--gain', '4', '-o', target) == 0
    guard = MotionGuard(load_platform('vigo'))
    stamps = np.arange(590) / 200.0
    motion = read_motion(target).sample(stamps)
    assert len(guard.admit_run(motion, stamps).stroke) == len(stamps)
    assert np.ptp(motion.position[:, 0]) > 0.01
    told = capsys.readouterr().err
    assert 'nothing was recorded for 1.12 s from 1.480 s on: bridged linearly' in told
    assert '% of the legs used' in told
    assert 'input beyond force_limit in 6' in told
    assert 'beyond rate_limit in 0.0 %' in told


def test_a_platform_at_rest_feels_gravity_and_nothing_is_perceived() -> None:
    rest = Motion.at_rest(load_platform('srs').geometry.neutral_pose, (50,))
    given = felt(rest, np.array([0.1, 0.2, 1.0]))
    np.testing.assert_allclose(given, np.tile(LEVEL, (50, 1)), atol=1e-12)
    np.testing.assert_allclose(perceived(given, 0.005), 0.0, atol=1e-12)


def test_a_cue_the_other_way_is_false() -> None:
    wanted, given = np.zeros((10, 6)), np.zeros((10, 6))
    wanted[:, 0], given[2:5, 0], given[7:, 0] = 1.0, -1.0, 1.0
    found = false_cues(wanted, given, 0.1)
    assert (found.count, found.seconds) == (1, pytest.approx(0.3))


def ride_of(path: Path, time: list[float], force: list[float]) -> VehicleRide:
    """Write a ride with these forces along x to a file, and read it."""
    samples = np.tile(LEVEL, (len(time), 1))
    samples[:, 0] = force
    write_table(path, ('time_s', *COLUMNS), np.column_stack([time, samples]))
    return read_ride(path)


def imu_bag(bag: Path, stamped: bool = True, unknown: str = '') -> Path:
    """Write a second of an IMU at rest, whose field `unknown` is said to be not measured."""
    with BagWriter(bag) as writer:
        types = writer.typestore.types
        time, vector = types['builtin_interfaces/msg/Time'], types['geometry_msgs/msg/Vector3']
        header, imu = types['std_msgs/msg/Header'], types['sensor_msgs/msg/Imu']
        level = types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
        none, missing = np.zeros(9), -np.eye(9)[0]
        of_rate = missing if unknown == 'angular_velocity' else none
        of_force = missing if unknown == 'linear_acceleration' else none
        for number in range(100):
            now = 10_000_000 * number
            at = header(time(0, now * stamped), 'vehicle')
            still, force = vector(0.0, 0.0, 0.0), vector(0.5, 0.0, GRAVITY)
            writer.write('/imu/data', now, imu(at, level, none, still, of_rate, force, of_force))
    return bag


@pytest.mark.parametrize('stamped', [True, False])
def test_a_bag_is_a_ride_with_its_own_times_where_stamps_are_zero(
    tmp_path: Path, stamped: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    bag, target = imu_bag(tmp_path / 'bag', stamped), tmp_path / 'setpoints.csv'
    assert typed(cue, bag, '--platform', 'vigo', '-o', target) == 0
    told = capsys.readouterr().err
    assert ' samples, 0.99 s' in told
    assert ('all stamps are zero' in told) is not stamped


@pytest.mark.parametrize('unknown', ['linear_acceleration', 'angular_velocity'])
def test_a_bag_of_which_half_is_not_measured_is_no_ride(tmp_path: Path, unknown: str) -> None:
    bag, target = imu_bag(tmp_path / 'bag', unknown=unknown), tmp_path / 'setpoints.csv'
    with pytest.raises(VehicleInputError, match=f'100 of 100 messages .* that {unknown} is not'):
        typed(cue, bag, '-o', target)
    assert not target.exists()


def test_of_one_instant_the_last_sample_counts_and_rows_with_gaps_are_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # As a logger names its files that knows no endings.
    source, target = tmp_path / 'ride.txt', tmp_path / 'setpoints.csv'
    time = [5.0, 5.0, 5.02, 5.03, 5.04, 5.04, 5.04]
    ride = ride_of(source, time, [0.0, 0.5, 1.0, np.nan, 1.0, 1.0, 2.0])
    assert ride.time == pytest.approx([0.0, 0.02, 0.04])
    assert ride.samples[:, 0].tolist() == [0.5, 1.0, 2.0]
    assert typed(cue, source, '--platform', 'vigo', '-o', target) == 0
    told = capsys.readouterr().err
    assert f'{source}: 1 of 7 samples are not finite: left out' in told
    assert f'{source}: 3 of 7 samples have the time of the next one: left out' in told


def test_rates_that_may_be_in_degrees_and_holes_are_told_in_one_line_each() -> None:
    time, samples = np.arange(300.0) * 0.02, np.tile(LEVEL, (300, 1))
    for begin in range(10, 200, 10):
        time[begin:] += 2.0
    time[250:] += 5.0
    samples[50:, 5] = 5.0
    holes, degrees = VehicleRide(time, samples).remarks
    (slow,) = VehicleRide(np.arange(300.0), np.tile(LEVEL, (300, 1))).remarks
    assert slow.startswith('1 s between two samples')
    assert 'in milliseconds?' in slow
    assert holes == (
        'nothing was recorded for 5.02 s from 42.980 s on, 19 more times for over 0.2 s: bridged '
        'linearly'
    )
    time, level = np.arange(300.0), np.tile(LEVEL, (300, 1))
    (short,) = VehicleRide(0.01 * time + 0.5 * (time > 99), level).remarks
    assert short == 'nothing was recorded for 0.51 s from 0.990 s on: bridged linearly'
    assert not VehicleRide(0.1 * time + 0.3 * (time > 99), level).remarks
    (two,) = VehicleRide(0.01 * time + 0.5 * (time > 99) + 0.6 * (time > 199), level).remarks
    assert 'for 0.61 s from 2.490 s on, 1 more time for over 0.2 s: bridged' in two
    assert degrees.endswith('turn with 5 rad/s or more: are the rates in deg/s?')


@pytest.mark.parametrize(
    ('time', 'force', 'words'),
    [
        ([0.0, 0.2, 0.1], [0.0, 0.0, 0.0], r'ride\.csv:4: time must not go back'),
        ([0.0], [0.0], 'expected two samples of six numbers or more, got 1$'),
        # As a spreadsheet writes times since 1970.
        ([0.0] * 3, [0.0] * 3, 'got 1; 2 of 3 samples have the time of the next one: left out'),
        ([0.0, 0.1, 0.2], [np.nan] * 3, 'got 0; 3 of 3 samples are not finite: left out'),
    ],
)
def test_a_log_that_contradicts_itself_is_refused_with_the_line(
    tmp_path: Path, time: list[float], force: list[float], words: str
) -> None:
    with pytest.raises(VehicleInputError, match=words):
        ride_of(tmp_path / 'ride.csv', time, force)


def test_a_sensor_that_has_not_begun_measures_no_free_fall() -> None:
    time, samples = np.arange(100.0) * 0.02, np.tile(LEVEL, (100, 1))
    samples[:40], samples[70] = 0.0, 0.0
    ride = VehicleRide.recorded(time, samples, [''] * 100)
    assert ride.time[-1] == pytest.approx(59 * 0.02)
    np.testing.assert_array_equal(ride.at_rate(200.0)[1], np.tile(LEVEL, (237, 1)))
    assert ride.remarks == ('41 of 100 samples are six zeros, which no sensor measures: left out',)
    with pytest.raises(VehicleInputError, match='gravity is not removed'):
        VehicleRide.recorded(time, 0.0 * samples, [''] * 100)


def test_a_sensor_that_was_not_level_is_told() -> None:
    angle = np.radians(30.0)
    leaning = np.array([np.sin(angle), 0.0, np.cos(angle), 0.0, 0.0, 0.0]) * GRAVITY
    (said,) = VehicleRide(np.array([0.0, 0.1]), np.tile(leaning, (2, 1))).remarks
    assert said.startswith('the mean specific force is 30° from z (4.9 m/s² along x, 0 along y)')
    assert not VehicleRide(np.array([0.0, 0.1]), np.tile(LEVEL, (2, 1))).remarks


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('time(ms),ax(g),ay(g),az(g)\n0,0,0,1\n20,0,0,1\n', 'the columns time_s, '),
        ('#\ntime_s;fx_mps2\n0,0;0,0\n0,1;0,0\n', 'commas between the columns'),
    ],
)
def test_a_log_of_another_form_is_told_what_reads_it(
    text: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / 'phone.csv'
    path.write_text(text)
    words = rf'phone\.csv:[12]: expected {expected}.* stewart import makes a bag'
    with pytest.raises(ConfigurationError, match=words):
        read_ride(path)


def test_a_ride_that_is_shorter_than_a_period_is_refused(tmp_path: Path) -> None:
    ride = ride_of(tmp_path / 'ride.csv', [0.0, 0.002, 0.004], [0.0, 0.0, 0.0])
    with pytest.raises(VehicleInputError, match='ride of 4 ms is shorter than the 5 ms between'):
        ride.at_rate(200.0)


@pytest.mark.parametrize(
    ('time', 'value', 'words'),
    [
        ([0.0, 1.0, 1.0], LEVEL, r'sample 2 of 1\.000000 s follows one of 1\.000000 s'),
        ([0.0, 1.0, 2.0], -LEVEL, 'z is upwards'),
        ([0.0, 1.0, 2.0], LEVEL / GRAVITY, 'units are m/s²'),
        ([0.0, 1.0, 2.0], 3.2808 * LEVEL, 'units are m/s²'),
        ([0.0, 1.0, 2.0], 0.0 * LEVEL, 'gravity is not removed'),
        ([0.0, 1.0, 2.0], LEVEL * np.nan, 'not finite'),
        ([0.0, 1.0, 2.0, 9999.0], LEVEL, 'at most 3600 s'),
        ([0.0, 10000.0, 20000.0], LEVEL, 'are the times in milliseconds'),
        ([0.0, 20.0, 40.0], LEVEL, 'are the times in milliseconds'),
        ([0.0, 1.0, 2.0], LEVEL + 57.0 * np.eye(6)[4], 'turns with 57 rad/s.* in deg/s'),
        ([3.0, 4.0, 5.0], LEVEL + 1e6 * np.eye(6)[0], r'of 3\.000 s has 1e\+06 m/s², allowed'),
    ],
)
def test_what_is_no_ride_is_refused(time: list[float], value: np.ndarray, words: str) -> None:
    with pytest.raises(VehicleInputError, match=words):
        VehicleRide(np.array(time), np.tile(value, (len(time), 1)))


def turning(amplitude: float) -> VehicleRide:
    """Return a ride that only yaws, with rates up to an amplitude [rad/s]."""
    time = np.arange(0.0, 20.0, 0.01)
    samples = np.tile(LEVEL, (time.size, 1))
    samples[:, 5] += amplitude * np.sin(0.5 * time) * np.minimum(1.0, time)
    return VehicleRide(time, samples)


@pytest.mark.parametrize(
    ('amplitude', 'factor', 'reason'),
    [(0.1, 2.0, 'full scale'), (1.0, 0.95, 'rate_limit'), (0.0, None, 'does not move')],
)
def test_a_ride_is_fitted_to_the_limits_of_the_settings_and_never_larger_than_it_is(
    amplitude: float, factor: float | None, reason: str
) -> None:
    ride, platform, before = turning(amplitude), load_platform('ex800'), settings_for('ex800')
    if factor is None:
        with pytest.raises(VehicleInputError, match='nothing to fit: the ride does not move'):
            fitted(ride, platform, before)
        return
    settings, found, why = fitted(ride, platform, before)
    assert (found, why) == (pytest.approx(factor, rel=1e-3), reason)
    assert settings.rate_scale == pytest.approx([0.5 * factor] * 3, rel=1e-3)
    played = np.abs(settings.scales * (ride.samples - LEVEL))
    assert (played <= settings.bounds).all()


def test_the_fit_of_a_ride_that_the_platform_limits_says_so() -> None:
    platform, before = load_platform('ex800'), settings_for('ex800')
    settings, factor, reason = fitted(drive(10.0, 0.01), platform, before)
    assert reason == 'the limits of ex800'
    assert 0.0 < factor < 1.0 / before.scales.max()
    assert settings.force_scale[0] == pytest.approx(factor * before.force_scale[0])


def test_an_axis_that_is_not_played_does_not_limit_the_fit() -> None:
    before = replace(
        settings_for('ex800'), rate_scale=(0.25, 0.0, 0.5), rate_limit=(0.5, 0.5, 0.0)
    )
    ride = turning(1.0)
    samples = np.array(ride.samples)
    samples[:, 3] = samples[:, 4] = 0.1 * samples[:, 5]
    found = fitted(VehicleRide(ride.time, samples), load_platform('ex800'), before)
    assert found[1:] == (2.0, 'full scale')


def test_frequency_responses_tell_what_was_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        'stewart_cueing.verbs.cue.responses', lambda *_: np.ones((10, 12), complex)
    )
    target = tmp_path / 'omct.csv'
    words = ['--omct', '--washout', 'srs', '--platform', 'srs', '-o', target]
    with pytest.raises(ConfigurationError, match='--fit: expected a ride'):
        typed(cue, *words, '--fit')
    assert not target.exists()
    assert typed(cue, *words) == 0
    assert len(target.read_text().splitlines()) == 1 + 10 * 12
    said = capsys.readouterr().err
    assert said.endswith('10 tests at 12 frequencies, 0.1 to 15.849 rad/s: washout on srs\n')


def test_no_legend_of_what_is_felt_is_cut_off() -> None:
    """Those of the rates were wider than their panels, and ended at the edge of the picture."""
    time, given = np.arange(3.0), np.full((3, 6), 0.00123)
    ride: Any = SimpleNamespace(time=time, wanted_perceived=0.0 * given, given_perceived=given)
    figure = felt_against_wanted(dict.fromkeys(METHODS, ride))
    figure.draw_without_rendering()
    for axes in figure.axes:
        legend = axes.get_legend()
        assert legend is not None
        assert legend.get_window_extent().x1 <= axes.get_window_extent().x1 + 1.0


def test_a_file_changes_what_it_names_of_the_preset(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text('head: [0.1, 0, 1.2]\ntilt_rate: 0.1\n')
    preset = settings_for('vigo')
    assert settings_for('vigo', 1.0, str(path)) == replace(
        preset, head=(0.1, 0.0, 1.2), tilt_rate=0.1
    )
    assert settings_for('vigo', 1.0, 'srs') == settings_for('srs')
    page = Path(__file__).parents[3] / 'docs' / 'motion_cueing.md'
    path.write_text(page.read_text('utf-8').split('```yaml')[1].split('```')[0])
    every = read_model(path, WashoutSettings)
    assert every == replace(WashoutSettings(), tilt_rate=0.05236)
    assert read_content(path).keys() == asdict(every).keys()
    for text, words in (
        ('tilt_rat: 0.1', r'mine\.yaml: tilt_rat: .*did you mean tilt_rate'),
        ('head: [0, 0]', r'mine\.yaml: head: expected a list of 3 numbers'),
        ('smoothing: 0', r'mine\.yaml: smoothing: expected finite numbers above 0'),
        ('head: [0, 0, 1200]', r'mine\.yaml: head: expected numbers up to 10 m, got'),
        ('tilt_rate: 3', r'mine\.yaml: tilt_rate: expected numbers up to 1 rad/s, got 3'),
        ('rate_limit: [30, 30, 30]', r'rate_limit: expected numbers up to 10 rad/s, got'),
    ):
        path.write_text(text)
        with pytest.raises(ConfigurationError, match=words):
            settings_for('vigo', 1.0, str(path))
    with pytest.raises(ConfigurationError, match=r'washout: expected one of vigo, srs or .*srss'):
        settings_for('vigo', 1.0, 'srss')
