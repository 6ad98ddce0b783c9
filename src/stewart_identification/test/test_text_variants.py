# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Text logs as other countries, spreadsheets and programs write them hold the same motion."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from stewart_identification.importing.imu_log import ImuLog, NoImuLog
from stewart_identification.importing.text_log import text_table

G, BEGIN = 9.80665, datetime(2026, 1, 14, 9, 30, 59, tzinfo=timezone.utc)
TIMES = 0.05 * np.arange(40)
FORCE = np.column_stack([0.1 * TIMES, -0.2 * TIMES, 1.0 + 0.0 * TIMES])
RATE = np.column_stack([1.0 + TIMES, 2.0 * TIMES, -3.0 * TIMES])
VENDOR = ['AccX(g)', 'AccY(g)', 'AccZ(g)', 'AsX(°/s)', 'AsY(°/s)', 'AsZ(°/s)']
GERMAN = [
    f'{what} {axis}({unit})'
    for what, unit in (('Beschleunigung', 'g'), ('Winkelgeschwindigkeit', '°/s'))
    for axis in 'XYZ'
]
CHINESE = [
    f'{what}{axis}({u})' for what, u in (('加速度', 'g'), ('角速度', '°/s')) for axis in 'XYZ'
]


def clock(form: str) -> Callable[[float], str]:
    return lambda t: (BEGIN + timedelta(seconds=t)).strftime(form)[:-3]


DATED = clock('%Y-%m-%d %H:%M:%S.%f')


def written(
    names: list[str] = VENDOR,
    *,
    time: str = 'time',
    at: Callable[[float], str] = DATED,
    by: str = '\t',
    decimal: str = '.',
    scales: tuple[float, float] = (1.0, 1.0),
) -> str:
    rows = np.hstack([scales[0] * FORCE, scales[1] * RATE])
    cells = [[f'{v:.6f}'.replace('.', decimal) for v in row] for row in rows.tolist()]
    lines = [by.join([at(t), *row]) for t, row in zip(TIMES.tolist(), cells, strict=True)]
    return '\n'.join([by.join([time, *names]), *lines, ''])


def read(tmp_path: Path, content: str | bytes, rate: float | None = None) -> ImuLog:
    path = tmp_path / 'log.txt'
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return text_table(path, rate=rate).imu()


def ros(names: str) -> list[str]:
    return [
        names.format(what, a)
        for what in ('linear_acceleration', 'angular_velocity')
        for a in 'xyz'
    ]


SI = (G, np.pi / 180.0)
LOGS = {
    'Windows Unicode': written().replace('\n', '\r\n').encode('utf-16'),
    'without its mark': written().encode('utf-16-le'),
    'UTF-8 with its mark': written().encode('utf-8-sig'),
    'Latin letters': written(GERMAN, time='Zeit', by=';', decimal=',').encode('cp1252'),
    'Chinese letters': written(CHINESE, time='时间').encode('gb18030'),
    'ends in zeros': written().encode() + bytes(512),
    'German dates': written(at=clock('%d.%m.%Y %H:%M:%S,%f'), by=';', decimal=','),
    'American dates': written(at=lambda t: clock('%m/%d/%Y %I:%M:%S.%f')(t) + ' AM', by=','),
    'Chinese dates': written(at=clock('%Y年%m月%d日 %H:%M:%S.%f')),
    'milliseconds counted': written(
        at=lambda t: (
            f'2026-1-14 9:{30 + int(59 + t + 1e-9) // 60}:'
            f'{int(59 + t + 1e-9) % 60}.{round(1000 * (t % 1)) % 1000}'
        )
    ),
    'dates apart': written(at=clock('%Y-%m-%d\t%H:%M:%S.%f'), time='Date\tTime'),
    'days of a spreadsheet': written(
        at=lambda t: f'{46036 + (9 * 3600 + 30 * 60 + 59 + t) / 86400:.10f}', by=','
    ),
    'blanks': written(by=' ').replace('time', 'address Time(s)').replace('\n2026', '\n0x50 2026'),
    'pandas': '\n'.join(f'{n or ""},{line}' for n, line in enumerate(written(by=',').splitlines()))
    + '\n',
    'messages of ROS': written(
        ros('{}.{}'), time='%time', at=lambda t: f'{(BEGIN.timestamp() + t) * 1e9:.0f}', scales=SI
    ),
    'PlotJuggler': written(
        ros('/imu/data/{}/{}'), time='__time', at=lambda t: f'{BEGIN.timestamp() + t}', scales=SI
    ),
    'units as powers': written(
        [
            f'{a} ({u})'
            for w, u in (('a', 'm s^-2'), ('g', 'rad s⁻¹'))
            for a in (f'{w}x', f'{w}y', f'{w}z')
        ],
        scales=SI,
    ),
    'units behind names': written(
        [f'{w}_{a}_{u}' for w, u in (('acc', 'mg'), ('gyro', 'mdps')) for a in 'xyz'],
        scales=(1e3, 1e3),
    ),
    'a remark at the head': f'# rate 20 Hz\n# {written(by=",")}',
}


@pytest.mark.parametrize('name', LOGS)
def test_variants_hold_the_same_motion(name: str, tmp_path: Path) -> None:
    log = read(tmp_path, LOGS[name])

    assert np.allclose(log.specific_force, G * FORCE, atol=1e-4)
    assert np.allclose(log.angular_velocity, np.radians(RATE), atol=1e-5)
    begin = round(BEGIN.timestamp()) * 1_000_000_000
    assert np.allclose(log.stamps_ns - begin, 1e9 * TIMES, rtol=0.0, atol=2e4)


def test_what_is_not_there_is_nan_and_lines_that_were_cut_are_left_out(tmp_path: Path) -> None:
    lines = written(by=',').splitlines(keepends=True)
    lines[5] = lines[5].replace(',0.020000,', ',null,')
    lines[9] = lines[9].rsplit(',', 1)[0] + ',\n'
    lines[12] = lines[12][:40] + '\n'
    lines[20:20] = [lines[0]]

    log = read(tmp_path, ''.join(lines))

    assert len(log.stamps_ns) == 39
    assert np.isnan(log.specific_force).sum() == 1
    assert np.isnan(log.angular_velocity[8, 2])
    assert any('1 of 40 lines, line 13 first, do not have 7 cells' in r for r in log.remarks)


def test_times_that_stand_ask_for_the_rate_and_keep_the_date(tmp_path: Path) -> None:
    text = written(at=lambda t: DATED(t)[:-4])

    with pytest.raises(
        NoImuLog, match=r'38 of 40 samples have the time of the one before.*--rate'
    ):
        read(tmp_path, text)
    log = read(tmp_path, text, rate=20.0)

    assert np.allclose(log.stamps_ns - BEGIN.timestamp() * 1e9, 1e9 * TIMES, atol=1e3)


def test_a_clock_that_goes_back_is_told(tmp_path: Path) -> None:
    lines = written().splitlines(keepends=True)
    lines[8], lines[9] = lines[9], lines[8]

    assert any(
        '1 samples are not later' in text for text in read(tmp_path, ''.join(lines)).remarks
    )


@pytest.mark.parametrize('header', [True, False])
@pytest.mark.parametrize('offset', [0.0, 0.002])
def test_a_log_that_was_taken_up_again_is_refused_with_its_line(
    header: bool, offset: float, tmp_path: Path
) -> None:
    """By stamp its two runs would become one, sample between sample."""
    names = 't(s),ax(m/s2),ay(m/s2),az(m/s2),gx(rad/s),gy(rad/s),gz(rad/s)\n'
    runs = [
        ''.join(f'{0.01 * k + shift:.3f},0,{number},9.8,0,0,0\n' for k in range(300))
        for number, shift in enumerate((0.0, offset))
    ]
    text = names + runs[0] + (names if header else '') + runs[1]

    with pytest.raises(NoImuLog) as refused:
        read(tmp_path, text)
    line = 303 if header else 302
    assert f'log.txt:{line}: times go back by up to 2.99 s here' in str(refused.value)
    assert 'taken up again or its clock was set; cut the file here' in str(refused.value)

    # In the order in which they were written they may be, with a rate.
    log = read(tmp_path, text, rate=100.0)
    assert np.array_equal(log.specific_force[:, 1], np.repeat([0.0, 1.0], 300))


def test_decimal_commas_between_commas_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NoImuLog, match='more cells than the 7 names: are there decimal commas'):
        read(tmp_path, written(by=',', decimal=',', at=str))


@pytest.mark.parametrize(('scales', 'unit'), [(SI, 'rad/s'), ((1.0, 1.0), 'deg/s')])
def test_rates_without_a_unit_go_with_the_accelerations(
    scales: tuple[float, float], unit: str, tmp_path: Path
) -> None:
    # At rest gravity tells the unit of the accelerations.
    still = ''.join(f'{t},0,0,{scales[0]},{scales[1]},0,0\n' for t in TIMES)

    log = read(tmp_path, f't,ax,ay,az,gx,gy,gz\n{still}')

    assert np.allclose(log.angular_velocity, [np.pi / 180.0, 0.0, 0.0])
    assert any(f'angular velocities have no unit, assumed {unit}' in text for text in log.remarks)


@pytest.mark.parametrize(
    ('first', 'step', 'unit'),
    [(0, 1, 'ms'), (0, 2, 'ms'), (1_700_000_000, 1, 's'), (0, 0.5, 's'), (0, 1000, 'us')],
)
def test_times_that_count_are_ms_unless_they_are_seconds_since_1970(
    first: int, step: float, unit: str, tmp_path: Path
) -> None:
    rows = [f'{first + step * n!r},0,0,1,0,0,0' for n in range(20)]
    head = 'time,ax(g),ay(g),az(g),wx(deg/s),wy(deg/s),wz(deg/s)'

    log = read(tmp_path, '\n'.join([head, *rows, '']))

    factor = {'s': 1e9, 'ms': 1e6, 'us': 1e3}[unit]
    assert np.diff(log.stamps_ns).tolist() == [round(step * factor)] * 19
    assert any(f'assumed to be in {unit}: ' in t for t in log.remarks) is (step != 0.5)


@pytest.mark.parametrize(('up', 'odd'), [(0.0, True), (1.0, True), (9.81, False)])
def test_gravity_that_was_taken_off_is_told(up: float, odd: bool, tmp_path: Path) -> None:
    noise = np.random.default_rng(3).normal(size=(200, 3)) * max(0.02, 0.02 * up)
    rows = [f'{0.01 * n},{x},{y},{z + up},0,0,0' for n, (x, y, z) in enumerate(noise)]
    head = 'Time (s),' + ','.join(f'Linear Acceleration {a} (m/s^2)' for a in 'xyz')
    head += ',' + ','.join(f'Gyroscope {a} (rad/s)' for a in 'xyz')

    said = read(tmp_path, '\n'.join([head, *rows, ''])).remarks

    assert any('or is gravity taken off?' in text for text in said) is odd


ROSTOPIC = [
    f'field.{what}.{axis}'
    for what in ('angular_velocity', 'linear_acceleration')
    for axis in 'xyz'
]
OURS = ['p_radps', 'q_radps', 'r_radps', 'fx_mps2', 'fy_mps2', 'fz_mps2']


@pytest.mark.parametrize(
    ('names', 'factor'), [(['%time', *ROSTOPIC], 1e9), (['time_s', *OURS], 1.0)]
)
def test_columns_of_rostopic_and_of_this_suite_are_known(
    names: list[str], factor: float, tmp_path: Path
) -> None:
    rows = [f'{round((1.7e9 + 0.005 * n) * factor, 3):.16g},0.1,0,0,0,0,9.81' for n in range(200)]

    log = read(tmp_path, '\n'.join([','.join(names), *rows, '']))

    assert np.allclose(np.diff(log.stamps_ns), 5e6, atol=2e6)
    assert np.allclose(log.specific_force, [0.0, 0.0, 9.81])
    assert np.allclose(log.angular_velocity, [0.1, 0.0, 0.0])


@pytest.mark.parametrize(
    ('names', 'factor'),
    [
        ('p [deg/s],q [deg/s],r [deg/s],ax [m/s^2],ay [m/s^2],az [m/s^2]', np.pi / 180.0),
        ('P (rad/s),Q (rad/s),R (rad/s),fx [m/s²],fy [m/s²],fz [m/s²]', 1.0),
    ],
)
def test_the_rates_of_a_flight_log_are_known_by_their_unit(
    names: str, factor: float, tmp_path: Path
) -> None:
    rows = [f'{0.005 * n:.3f},1,2,3,0,0,9.81' for n in range(20)]

    log = read(tmp_path, '\n'.join([f't [s],{names}', *rows, '']))

    assert np.allclose(log.specific_force, [0.0, 0.0, 9.81])
    assert np.allclose(log.angular_velocity, factor * np.array([1.0, 2.0, 3.0]))
    # In another unit a p may be anything.
    other = names.replace('rad/s', 'Pa', 1).replace('deg/s', 'Pa', 1)
    with pytest.raises(NoImuLog, match='no angular velocity'):
        read(tmp_path, '\n'.join([f't [s],{other}', *rows, '']))
