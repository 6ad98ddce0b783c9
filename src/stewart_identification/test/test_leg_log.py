# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Strokes and forces of other programs become a bag, and what had to be assumed is said."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries, read_joints, read_series
from stewart_identification.errors import ConfigurationError
from stewart_identification.importing.imu_log import NoImuLog
from stewart_identification.importing.leg_log import has_legs, leg_log, LegLog, NoLegLog, sixes
from stewart_identification.importing.text_log import number_in, text_table
from stewart_identification.verbs import import_log
from stewart_kinematics.model.platform import Platform
from typed_words import typed

run = partial(typed, import_log)
COUNT = 160
TIME = 0.005 * np.arange(COUNT)
PHASE = 2.0 * np.pi * 2.0 * TIME[:, None] + np.arange(6)
STROKES = 0.08 + 0.01 * np.sin(PHASE)
WEIGHT = 9.80665 * (6.8369 + 6 * (0.3592 + 0.1229))
# What the legs carry at the neutral pose of the EX800, each the same, and a motion about it.
FORCES = WEIGHT / 6 / (0.275 / 0.32537) + np.cos(PHASE)


def table(
    names: list[str], values: np.ndarray, *, separator: str = ',', decimal: str = '.'
) -> str:
    rows = [separator.join(f'{cell:.9g}'.replace('.', decimal) for cell in row) for row in values]
    return '\n'.join([separator.join(names), *rows, ''])


def named(*patterns: str, first: int = 1) -> list[str]:
    return [p.replace('#', str(leg)) for p in patterns for leg in range(first, first + 6)]


@pytest.fixture
def read(tmp_path: Path, ex800: Platform) -> Callable[..., LegLog]:
    def reading(text: str, platform: Platform = ex800, **how: dict[str, str]) -> LegLog:
        (tmp_path / 'legs.csv').write_text(text, encoding='utf-8')
        chosen = how.get('names', {})
        said = text_table(tmp_path / 'legs.csv', names=chosen, units=how.get('units'))
        return leg_log(said, platform, chosen=chosen)

    return reading


def in_metres(log: LegLog) -> None:
    assert np.allclose(log.strokes, STROKES, atol=1e-9)
    assert np.allclose(np.diff(log.stamps_ns), 5e6, atol=1)


@pytest.mark.parametrize(
    ('head', 'scale', 'offset', 'how'),
    [
        (['time_s', *named('stroke_#_m')], (1.0, 1.0), 0.0, {}),
        (['time_s', *named('leg_#_m')], (1.0, 1.0), 0.245, {}),
        (['Time (ms)', *named('Length# [mm]')], (1e3, 1e3), 0.245, {}),
        (['t[s]', *named('L#[mm]')], (1.0, 1e3), 0.245, {}),
        (['Timestamp [us]', *named('Actuator # Position (mm)', first=0)], (1e6, 1e3), 0.0, {}),
        (['time', *named('q#(cm)')], (1.0, 1e2), 0.0, {}),
        (['time', *named('stroke_#_in')], (1.0, 1.0 / 0.0254), 0.0, {}),
        (['时间', *named('杆长#(mm)')], (1.0, 1e3), 0.245, {}),
        (['t', *named('stroke[#] (mm)', first=0)], (1.0, 1e3), 0.0, {}),
        (
            ['t', *named('x#')],
            (1.0, 1e3),
            0.0,
            {'names': {'strokes': 'x#'}, 'units': {'strokes': 'mm'}},
        ),
        (
            ['moment', *named('leg length #')],
            (1e3, 1e3),
            0.245,
            {'names': {'time': 'moment'}, 'units': {'time': 'ms', 'lengths': 'mm'}},
        ),
    ],
)
@pytest.mark.parametrize(('separator', 'decimal'), [(',', '.'), (';', ','), ('\t', '.')])
def test_names_and_units_are_understood(
    head: list[str],
    scale: tuple[float, float],
    offset: float,
    how: dict[str, dict[str, str]],
    separator: str,
    decimal: str,
    read: Callable[..., LegLog],
) -> None:
    values = np.column_stack([TIME * scale[0], (STROKES + offset) * scale[1]])

    log = read(table(head, values, separator=separator, decimal=decimal), **how)

    in_metres(log)
    assert log.forces is None
    assert [text for text in log.remarks if 'assumed' in text] == (
        ['leg_#: assumed to be lengths in m, which fit ex800'] if 'leg_1_m' in head else []
    ) + (
        ['actuator_#_position: assumed to be strokes in mm, which fit ex800']
        if 'Timestamp [us]' in head
        else []
    )


@pytest.mark.parametrize(
    ('pattern', 'scale', 'assumed'),
    [
        ('F#[N]', 1.0, False),
        ('force_#_kn', 1e-3, False),
        ('leg_#_n', 1.0, False),
        ('Zylinder # Kraft [lbf]', 1.0 / 4.4482216, False),
        ('Load cell #', 1.0, True),
        ('f#', 1e-3, True),
    ],
)
def test_forces_come_along_and_their_unit_is_found_by_what_they_carry(
    pattern: str, scale: float, assumed: bool, read: Callable[..., LegLog]
) -> None:
    values = np.column_stack([TIME, STROKES, FORCES * scale, 0.0 * STROKES])
    log = read(table(['t', *named('stroke_#_m', pattern, 'cmd_#_m')], values))

    in_metres(log)
    assert log.forces is not None
    assert np.allclose(log.forces, FORCES, rtol=1e-6)
    assert any('assumed to be forces in' in text for text in log.remarks) is assumed
    assert not any('warning' in text for text in log.remarks)


@pytest.mark.parametrize('time', ['Zeit', 'time_ms'])
def test_units_in_a_line_of_their_own(time: str, read: Callable[..., LegLog]) -> None:
    values = np.column_stack([TIME * 1e3, STROKES * 1e3, FORCES])
    text = table([time, *named('Stroke #', 'Force #')], values, separator=';')
    first, rest = text.split('\n', 1)
    units = ';'.join(['ms', *(6 * ['mm']), *(6 * ['N'])])
    log = read(f'recorded by somebody\n{first}\n{units}\n{rest}')
    in_metres(log)
    assert log.remarks == ()


def test_what_has_no_unit_is_read_as_what_fits_the_platform(read: Callable[..., LegLog]) -> None:
    values = np.column_stack([TIME, (STROKES + 0.245) * 1e3])
    log = read(table(['t', *named('leg #')], values))
    in_metres(log)
    assert log.remarks == ('leg_#: assumed to be lengths in mm, which fit ex800',)


def test_the_letter_l_may_be_strokes_and_a_word_may_not(read) -> None:
    values = np.column_stack([TIME, 1e3 * STROKES])
    log = read(table(['t[s]', *named('L# [mm]')], values))
    in_metres(log)
    assert log.remarks == ('l#: assumed to be strokes in mm, which fit ex800',)
    spelled = table(['t[s]', *named('Length# [mm]')], values)
    with pytest.raises(NoLegLog, match=r'or are they strokes. Say so, as --name strokes=length#'):
        read(spelled)
    in_metres(read(spelled, names={'strokes': 'length#'}))


def test_signs_that_are_turned_and_forces_that_carry_nothing_are_told(
    read: Callable[..., LegLog],
) -> None:
    head = ['t', *named('stroke_#_m', 'F#[N]')]
    told = [
        ' '.join(read(table(head, np.column_stack([TIME, STROKES, forces]))).remarks)
        for forces in (-FORCES, 0.01 * FORCES)
    ]
    assert 'warning: the forces carry -9' in told[0]
    assert 'turn their signs' in told[0]
    assert 'weighs 95.41 N: check their unit and zero' in told[1]


def test_lengths_of_another_platform_name_it(read: Callable[..., LegLog]) -> None:
    vigo = Platform.from_yaml('vigo')
    right = np.column_stack([TIME, 1.4 + 0.1 * np.sin(PHASE)])
    head = ['t', *named('length_#_m')]
    assert read(table(head, right), vigo).remarks == ()
    with pytest.raises(NoLegLog, match=r'goes from 1\.3\d* to 1\.\d* m, and ex800') as caught:
        read(table(head, right))
    assert 'lengths of [0.245, 0.405] m' in str(caught.value)
    assert 'is this recording of another platform? They fit vigo better' in str(caught.value)
    other = np.column_stack([TIME, STROKES + 0.245])
    with pytest.raises(NoLegLog, match=r'and vigo has lengths .*They fit ex800 better'):
        read(table(head, other), vigo)
    with pytest.raises(NoLegLog, match='Or in another unit'):
        read(table(head, np.column_stack([TIME, 1e4 * (1.0 + STROKES)])))


def test_some_samples_outside_the_limits_are_a_warning(read: Callable[..., LegLog]) -> None:
    strokes = STROKES.copy()
    strokes[7, 3] = 0.2
    log = read(table(['t', *named('s#[m]')], np.column_stack([TIME, strokes])))
    assert log.remarks == (
        'warning: 1 of 160 samples lie outside the limits of ex800: leg 4 has a stroke of 0.2 m '
        'in sample 8, outside [0, 0.16] m',
    )


@pytest.mark.parametrize(
    ('head', 'message'),
    [
        (['t', *named('q#[m]', 'stroke#[m]')], '2 groups of six could be the strokes: q#'),
        (['t', *named('L#[m]', 'Stroke#[m]')][:9], 'no six columns Stroke#, there are l#'),
    ],
)
def test_what_is_not_clear_is_asked_for(
    head: list[str], message: str, read: Callable[..., LegLog]
) -> None:
    values = np.column_stack([TIME, STROKES, STROKES])[:, : len(head)]
    with pytest.raises(NoImuLog, match=message):
        read(table(head, values), names={} if len(head) > 9 else {'strokes': 'Stroke#'})


@pytest.mark.parametrize(
    ('cell', 'number'),
    [('0,125', 0.125), ('1.234,5', 1234.5), ('1,234.5', 1234.5), ('-2e-3', -2e-3), ('7', 7.0)],
)
def test_the_last_sign_is_the_decimal_one(cell: str, number: float) -> None:
    assert number_in(cell) == number


def test_quoted_cells_and_times_with_a_zone_are_read(read: Callable[..., LegLog]) -> None:
    head = ','.join(f'"{name}"' for name in ['time', *named('Leg# length (mm)', 'F_leg#')])
    rows = [
        ','.join(
            [
                f'"2026-01-14T00:30:00.{5 * row:03d}+01:00"',
                *(f'"{1e3 * (cell + 0.245):.6f}"'.replace('.', ',') for cell in STROKES[row]),
                *(f'{cell:.9g}' for cell in FORCES[row]),
            ]
        )
        for row in range(100)
    ]
    log = read('\n'.join([head, *rows, '']))
    assert np.allclose(log.strokes, STROKES[:100], atol=1e-9)
    assert log.forces is not None
    assert np.allclose(log.forces, FORCES[:100])
    assert log.stamps_ns[1] == 1_768_347_000_005_000_000


def test_sixes_are_six() -> None:
    assert [six.stem for six in sixes(named('a#', 'b_#_mm', first=0))] == ['a#', 'b_#']
    assert sixes(named('a#')[:5]) == []
    assert sixes(named('adc1_#')) == []
    assert not has_legs(named('vel_#', 'F#[N]', 'motor_current_#', 'q#(deg)'), {})


def test_a_file_with_imu_and_legs_becomes_one_bag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imu = np.tile([0.0, 0.0, 9.81, 0.1, 0.0, 0.0], (COUNT, 1))
    head = ['time_s', *named('stroke_#_m', 'F#[N]'), 'ax', 'ay', 'az', 'wx', 'wy', 'wz']
    values = np.column_stack([TIME + 1.7e9, STROKES, FORCES, imu])
    (tmp_path / 'daq.csv').write_text(
        '\n'.join(
            [','.join(head), *(','.join(f'{cell:.14g}' for cell in row) for row in values), '']
        )
    )

    words = ['--unit', 'angular velocity=rad/s', '--platform', 'ex800']
    assert run(tmp_path / 'daq.csv', '-o', tmp_path / 'bag', *words) == 0

    with Bag(tmp_path / 'bag') as bag:
        legs = read_joints(bag, 'actuator_states')
        imu_read = read_series(bag, 'imu/data', ImuSeries)
    assert np.allclose(legs.position, STROKES)
    assert np.allclose(legs.effort, FORCES)
    assert np.allclose(legs.stamp_ns - 1_700_000_000 * 10**9, TIME * 1e9, atol=300)
    assert np.array_equal(imu_read.stamp_ns, legs.stamp_ns)
    # 9.81 at rest are no g.
    assert np.allclose(imu_read.specific_force[:, 2], 9.81)
    assert np.allclose(imu_read.angular_velocity[:, 0], 0.1)
    said = capsys.readouterr().err
    assert 'accelerations have no unit, m/s2 fits gravity' in said
    assert 'strokes from 0.0700 to 0.0900 m' in said
    assert run(tmp_path / 'daq.csv', '-o', tmp_path / 'imu') == 0
    assert 'its legs are left out, --platform says whose' in capsys.readouterr().err


def test_units_that_gravity_contradicts_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = ['time(s)', 'ax(g)', 'ay(g)', 'az(g)', 'wx(deg/s)', 'wy(deg/s)', 'wz(deg/s)']
    rows = np.column_stack([np.arange(300) * 0.01, np.tile([0.0, 0.0, 9.8, 0, 0, 0], (300, 1))])
    (tmp_path / 'log.csv').write_text(table(head, rows))
    assert run(tmp_path / 'log.csv', '-o', tmp_path / 'bag') == 0
    assert 'at rest the specific force is 9.8 times gravity' in capsys.readouterr().err
    words = ['--unit', 'acceleration=m/s2']
    assert run(tmp_path / 'log.csv', '-o', tmp_path / 'right', *words) == 0
    assert 'warning' not in capsys.readouterr().err


def test_matlab_files_have_six_columns_or_six_variables(tmp_path: Path) -> None:
    savemat(tmp_path / 'a.mat', {'t': TIME, 'L': (STROKES + 0.245) * 1e3, 'F': FORCES.T})
    columns = {f'q{leg}': STROKES[:, leg - 1] for leg in range(1, 7)}
    savemat(tmp_path / 'b.mat', {'time_ms': TIME * 1e3, **columns})
    savemat(tmp_path / 'c.mat', {'d': STROKES})
    words = ['--platform', 'ex800']
    assert run(tmp_path / 'a.mat', '-o', tmp_path / 'a', *words) == 0
    assert run(tmp_path / 'b.mat', '-o', tmp_path / 'b', *words) == 0
    named_by_hand = ['--name', 'strokes=d', '--rate', '200']
    assert run(tmp_path / 'c.mat', '-o', tmp_path / 'c', *words, *named_by_hand) == 0
    for name in 'abc':
        with Bag(tmp_path / name) as bag:
            legs = read_joints(bag, 'actuator_states')
        assert np.allclose(legs.position, STROKES), name
        assert np.allclose(np.diff(legs.stamp_ns), 5e6), name
        assert np.isfinite(legs.effort).all() == (name == 'a')


def test_a_rate_stands_in_for_times_and_a_platform_without_legs_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'legs.csv').write_text(table(named('stroke_#_m'), STROKES))
    words = ['--platform', 'ex800', '-o', tmp_path / 'bag']
    with pytest.raises(NoImuLog, match=r'no column of times among .* or the sampling rate'):
        run(tmp_path / 'legs.csv', *words)
    assert run(tmp_path / 'legs.csv', *words, '--rate', '200') == 0
    with Bag(tmp_path / 'bag') as bag:
        assert np.allclose(np.diff(read_joints(bag, 'actuator_states').stamp_ns), 5e6)
    head = ['time(s)', 'ax(g)', 'ay(g)', 'az(g)', 'wx(deg/s)', 'wy(deg/s)', 'wz(deg/s)']
    (tmp_path / 'imu.csv').write_text(table(head, np.arange(21.0).reshape(3, 7)))
    assert run(tmp_path / 'imu.csv', '--platform', 'ex800', '-o', tmp_path / 'imu') == 0
    assert 'no six strokes or lengths, --platform is not used' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        ([], r'--platform: expected the platform whose legs'),
        (['--platform', 'sg90_rotary'], 'expected a platform of linear legs'),
        (['--unit', 'lengths'], 'expected ROLE=VALUE, as lengths=mm'),
        (['--unit', 'mass=kg'], 'one of time, acceleration'),
        (['--name', 'mass=m#'], 'one of time, acceleration'),
        (['--platform', 'ex800', '--unit', 'strokes=ft'], "strokes in 'ft', known are m, mm"),
        (
            ['--platform', 'ex800', '--name', 'forces=ch#'],
            'no six columns ch#, there are stroke_#',
        ),
        (['--platform', 'ex800', '--unit', 'time=weeks'], "time in 'weeks', known are s, ms"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    words: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / 'legs.csv').write_text(
        table(['t', *named('stroke_#')], np.column_stack([TIME, STROKES]))
    )
    with pytest.raises((ConfigurationError, NoImuLog), match=message) as caught:
        run(tmp_path / 'legs.csv', '-o', tmp_path / 'bag', *words)
    assert '\n' not in str(caught.value)
    assert not (tmp_path / 'bag').exists()


def test_what_was_odd_about_the_rows_of_legs_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = ['time_s', *named('stroke_#_m', 'force_#_N')]
    lines = table(head, np.column_stack([TIME, STROKES, FORCES])).splitlines()
    lines[9], lines[20] = lines[9][:8], lines[20].rsplit(',', 1)[0] + ',nan'
    (tmp_path / 'legs.csv').write_text('\n'.join(lines) + '\n')

    assert run(tmp_path / 'legs.csv', '--platform', 'ex800', '-o', tmp_path / 'bag') == 0

    said = capsys.readouterr().err
    assert 'line 10 first, do not have 13 cells' in said
    assert 'forces of 1 of 159 samples are not finite, at first sample 19' in said


@pytest.mark.parametrize(
    'torques', ['torque_#_Nm', 'leg # load torque', 'Effort # (N·m)', '扭矩#']
)
def test_what_is_not_taken_is_named_and_torques_are_no_forces(
    torques: str, read: Callable[..., LegLog]
) -> None:
    head = ['time_s', *named('stroke_#_m', torques, 'velocity_#_mps')]
    log = read(table(head, np.column_stack([TIME, STROKES, 0.02 * FORCES, STROKES])))
    in_metres(log)
    assert log.forces is None
    left_out, hint = log.remarks
    first, last = torques.replace('#', '1'), torques.replace('#', '6')
    assert left_out.endswith(f'not taken: {first} to {last}, velocity_1_mps to velocity_6_mps')
    assert '2π times torque and gear ratio by lead' in hint


def test_torques_that_are_named_as_forces_are_taken(read: Callable[..., LegLog]) -> None:
    head = ['time_s', *named('stroke_#_m', 'torque_#')]
    values = np.column_stack([TIME, STROKES, FORCES])
    log = read(table(head, values), names={'forces': 'torque_#'}, units={'forces': 'n'})
    assert log.forces is not None
    assert not any('not taken' in text for text in log.remarks)
