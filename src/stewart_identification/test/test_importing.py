# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of the vendor's programs and MATLAB files become bags, in SI units."""

from __future__ import annotations

from functools import partial
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_matrix
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries, read_series
from stewart_identification.importing.imu_log import NoImuLog
from stewart_identification.importing.mat_log import mat_table
from stewart_identification.importing.text_log import text_table
from stewart_identification.verbs import import_log
from typed_words import typed

run = partial(typed, import_log)
G = 9.80665
OLD = (
    'StartTime: 2026-01-14 09:30:00.000\n'
    'address Time(s) ax(g) ay(g) az(g) wx(deg/s) wy(deg/s) wz(deg/s) AngleX(deg) AngleY(deg) '
    'AngleZ(deg)\n'
    '0x50 23:59:59.990 0 0.5 1 180 0 -90 0 0 90\n'
    '0x50 00:00:00.000 0 0 1 0 0 0 0 0 0\n'
)
NEW = (
    'time\tDeviceName\tChipTime()\tAccX(g)\tAccY(g)\tAccZ(g)\tAsX(°/s)\tAsY(°/s)\tAsZ(°/s)\t'
    'AngleX(°)\tAngleY(°)\tAngleZ(°)\tQ0()\tQ1()\tQ2()\tQ3()\n'
    '2026-01-14T09:30:00.830\tA(01)\tnull\t0\t1\t0\t1\t2\t3\t0\t0\t0\t0.70711\t0.70711\t0\t0\n'
    '2026-01-14T09:30:00.831\tB(02)\tnull\t9\t9\t9\t9\t9\t9\t0\t0\t0\t1\t0\t0\t0\n'
    '2026-01-14T09:30:00.840\tA(01)\tnull\t0\t1\t0\t1\t2\t3\t0\t0\t0\t0.70711\t0.70711\t0\t0\n'
)
CSV = (
    'Time,Device name,Chip Time,Acceleration X(g),Acceleration Y(g),Acceleration Z(g),'
    'Angular velocity X(°/s),Angular velocity Y(°/s),Angular velocity Z(°/s)\n'
    '09:30:00.1,s,2026-01-14 09:30:00.010,0,0,1,0,0,1\n'
    '09:30:00.1,s,2026-01-14 09:30:00.030,0,0,1,0,0,2\n'
)


def test_old_text_log_passes_midnight_and_becomes_a_bag(tmp_path: Path) -> None:
    (tmp_path / 'log.txt').write_text(OLD)

    assert run(tmp_path / 'log.txt', '-o', tmp_path / 'bag', '--start', '2026-01-14') == 0

    with Bag(tmp_path / 'bag') as bag:
        imu = read_series(bag, 'imu/data', ImuSeries)
    assert imu.frame_id == 'imu_link'
    assert np.diff(imu.stamp_ns).tolist() == [10_000_000]
    assert np.allclose(imu.specific_force[0], [0.0, 0.5 * G, G])
    assert np.allclose(imu.angular_velocity[0], [np.pi, 0.0, -np.pi / 2])
    assert np.allclose(imu.quaternion_xyzw[0], [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    assert not imu.findings


def test_new_text_log_needs_its_device_and_has_the_quaternion_w_first(tmp_path: Path) -> None:
    path = tmp_path / 'log.txt'
    path.write_text(NEW, encoding='utf-8')

    with pytest.raises(NoImuLog, match=r'2 devices \(A\(01\), B\(02\)\), choose one'):
        text_table(path).imu()
    log = text_table(path, device='A').imu()

    assert len(log.stamps_ns) == 2
    assert log.stamps_ns[0] == 1_768_383_000_830_000_000
    assert np.allclose(log.specific_force[0], [0.0, G, 0.0])
    assert log.quaternion_xyzw is not None
    assert np.allclose(log.quaternion_xyzw[0], [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])


def test_times_of_a_matlab_file_that_begin_again_are_refused(tmp_path: Path) -> None:
    time = np.tile(0.01 * np.arange(300), 2)
    columns = {'acc': np.tile([0.0, 0.0, 9.8], (600, 1)), 'gyro': np.zeros((600, 3))}
    savemat(tmp_path / 'log.mat', {'t': time, **columns})

    with pytest.raises(NoImuLog, match=r'log\.mat: sample 301: times go back by up to 2\.99 s'):
        run(tmp_path / 'log.mat', '-o', tmp_path / 'bag')
    assert not (tmp_path / 'bag').exists()
    assert run(tmp_path / 'log.mat', '-o', tmp_path / 'bag', '--rate', '100') == 0


def test_clock_of_the_sensor_is_preferred_to_that_of_the_program(tmp_path: Path) -> None:
    (tmp_path / 'log.csv').write_text(CSV, encoding='utf-8')

    log = text_table(tmp_path / 'log.csv').imu()

    assert np.diff(log.stamps_ns).tolist() == [20_000_000]
    assert log.quaternion_xyzw is None


@pytest.mark.parametrize('size', [1, 3, 30, 40])
def test_a_log_that_was_cut_is_used_up_to_its_last_whole_line(
    size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (CSV + CSV.splitlines(keepends=True)[-1])[:-size]
    (tmp_path / 'log.csv').write_text(text, encoding='utf-8')

    assert run(tmp_path / 'log.csv', '-o', tmp_path / 'bag') == 0

    with Bag(tmp_path / 'bag') as bag:
        assert len(read_series(bag, 'imu/data', ImuSeries)) == 2
    assert 'log.csv:4: the last line has no end and is left out' in capsys.readouterr().err


def test_samples_that_are_not_finite_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'log.csv').write_text(CSV.replace(',0,0,2\n', ',0,nan,2\n'), encoding='utf-8')

    assert run(tmp_path / 'log.csv', '-o', tmp_path / 'bag') == 0

    said = capsys.readouterr().err
    assert 'log.csv: 1 of 2 samples is not finite, at first sample 2' in said
    assert 'mean specific force 9.807' in said
    (tmp_path / 'log.csv').write_text(CSV.replace(',0,0,1,', ',nan,0,1,'), encoding='utf-8')
    with pytest.raises(NoImuLog, match=r'log\.csv: none of its 2 samples is finite'):
        run(tmp_path / 'log.csv', '-o', tmp_path / 'other')
    assert not (tmp_path / 'other').exists()


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a,b\n1,2\n', 'none of the first 20 lines names accelerations'),
        (
            'time,ax(g),ay(g),az(g)\n0,0,0,1\n',
            ':1: no angular velocity among the columns time',
        ),
        (CSV.replace(',0,0,1\n', ',0,x,1\n', 1), r":2: Angular velocity Y\(°/s\) is 'x'"),
        (CSV.replace('Acceleration X(g)', 'Acceleration X(ft)'), "acceleration in 'ft', known"),
        (CSV.splitlines()[0] + '\n', 'there are names of columns and no samples'),
    ],
)
def test_what_is_no_log_is_refused_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / 'log.csv').write_text(text, encoding='utf-8')

    with pytest.raises(NoImuLog, match=message):
        text_table(tmp_path / 'log.csv').imu()


def samples() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    time = np.arange(5) / 50.0
    return time, np.tile([0.0, 0.0, 1.0], (5, 1)), np.tile([10.0, 0.0, 0.0], (5, 1))


def test_mat_files_are_read_in_every_layout(tmp_path: Path) -> None:
    time, force, rate = samples()
    layouts = {
        'vectors': {'t': time, 'Acc': force, 'Gyro': rate.T},
        'columns': {
            'time': time,
            **{f'Acc{a}': force[:, i] for i, a in enumerate('XYZ')},
            **{f'As{a}': rate[:, i] for i, a in enumerate('XYZ')},
        },
        'struct': {'data': {'time': time, 'acc': force, 'gyro': rate}},
        'titled': {
            'data': np.column_stack([time, force, rate]),
            'names': np.array(
                ['Time(s)', 'ax(g)', 'ay(g)', 'az(g)', 'wx(deg/s)', 'wy(deg/s)', 'wz(deg/s)'],
                dtype=object,
            ),
        },
    }
    for name, content in layouts.items():
        savemat(tmp_path / f'{name}.mat', content)

        log = mat_table(tmp_path / f'{name}.mat').imu(1_000_000_000)

        assert np.allclose(log.specific_force[:, 2], G), name
        assert np.allclose(log.angular_velocity[:, 0], np.radians(10.0)), name
        assert log.stamps_ns.tolist() == [10**9 + 20_000_000 * i for i in range(5)], name


def test_mat_variables_may_be_named_and_are_listed_where_they_are_not(tmp_path: Path) -> None:
    _, force, rate = samples()
    savemat(tmp_path / 'data.mat', {'d1': force, 'd2': rate})

    with pytest.raises(NoImuLog, match=r'no acceleration among the variables d1 \(5, 3\), d2 '):
        mat_table(tmp_path / 'data.mat').imu()
    words = ['--name', 'acceleration=d1', '--name', 'angular velocity=d2', '--rate', '100']
    assert run(tmp_path / 'data.mat', '-o', tmp_path / 'bag', *words) == 0
    with Bag(tmp_path / 'bag') as bag:
        assert np.diff(read_series(bag, 'imu/data', ImuSeries).stamp_ns).tolist() == [10**7] * 4
    (tmp_path / 'no.mat').write_bytes(b'nothing of the kind' * 20)
    with pytest.raises(NoImuLog, match='no MATLAB file'):
        mat_table(tmp_path / 'no.mat').imu()


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (
            {'t': [0.0, np.nan, 2.0]},
            r'sample 2 is nan s after the first, a stamp of ROS holds',
        ),
        ({'t': [0.0, 1.0, 1e300]}, r'sample 3 is 1e\+300 s after the first'),
        ({'t': [0.0, -1.0, 1.0]}, r'sample 2 is -1 s after 1970, a stamp of ROS holds 0 to'),
        ({'t': [0.0, 1.0]}, r'its variables have different lengths, \[2, 3\]'),
        ({'t': [0.0, 1.0, 2.0], 'AccX': [0.0, 1.0]}, r'different lengths, \[2, 3\]'),
    ],
)
def test_mat_variables_that_make_no_sense_are_named(
    content: dict[str, list[float]], message: str, tmp_path: Path
) -> None:
    columns = {f'{name}{axis}': np.ones(3) for name in ('Acc', 'As') for axis in 'XYZ'}
    savemat(tmp_path / 'log.mat', columns | content)

    with pytest.raises(NoImuLog, match=message):
        mat_table(tmp_path / 'log.mat').imu()


@pytest.mark.parametrize('value', [0, 255])
def test_no_spoilt_byte_of_a_mat_file_ends_the_process(value: int, tmp_path: Path) -> None:
    _, force, rate = samples()
    path = tmp_path / 'log.mat'
    savemat(
        path, {'t': np.arange(5.0), 'data': {'acc': force, 'gyro': rate}, 'z': 1j, 'n': 'text'}
    )
    whole = path.read_bytes()
    refused = 0
    # Types and sizes of the elements, and the flags, which say what is complex.
    for place in (*range(128, len(whole), 4), *range(145, len(whole), 8)):
        path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
        try:
            mat_table(path).imu()
        except NoImuLog:
            refused += 1
    assert refused > 50


def test_mat_element_of_an_unknown_type_is_named(tmp_path: Path) -> None:
    path = tmp_path / 'log.mat'
    savemat(path, {'t': np.arange(5.0)})
    content = bytearray(path.read_bytes())
    content[content.index(b'\x09\0\0\0\x28\0\0\0')] = 124
    path.write_bytes(content)
    with pytest.raises(NoImuLog, match=r'no MATLAB file \(an element of type 124, expected \['):
        mat_table(path).imu()


@pytest.mark.parametrize('compressed', [False, True])
def test_a_mat_file_cut_anywhere_is_refused(compressed: bool, tmp_path: Path) -> None:
    time, force, rate = samples()
    whole, cut = tmp_path / 'whole.mat', tmp_path / 'cut.mat'
    savemat(whole, {'t': time, 'Acc': force, 'Gyro': rate}, do_compression=compressed)
    content = whole.read_bytes()
    for size in range(0, len(content) - 1, 7):
        cut.write_bytes(content[:size])
        with pytest.raises(NoImuLog, match=r'cut\.mat: '):
            mat_table(cut).imu()


def test_a_date_beyond_the_stamps_of_ros_is_refused(tmp_path: Path) -> None:
    path = tmp_path / 'log.txt'
    path.write_text(CSV.replace('2026-01-14', '9999-01-14'), encoding='utf-8')

    with pytest.raises(NoImuLog, match=r'sample 1 is 2\.53372e\+11 s after 1970'):
        text_table(path).imu()
    path.write_text(CSV.replace('2026-01-14 ', ''), encoding='utf-8')
    with pytest.raises(NoImuLog, match='a stamp of ROS holds 0 to 2147483648 s'):
        run(path, '-o', tmp_path / 'bag', '--start', '2040-01-01')
    assert not (tmp_path / 'bag').exists()


@pytest.mark.parametrize('suffix', ['.txt', '.mat'])
@pytest.mark.parametrize('content', [b'', b'\0\xff' * 500, None])
def test_what_is_no_log_leaves_no_bag(suffix: str, content: bytes | None, tmp_path: Path) -> None:
    path = (tmp_path / 'log').with_suffix(suffix)
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)

    with pytest.raises((NoImuLog, IsADirectoryError), match=rf'log\{suffix}'):
        run(path, '-o', tmp_path / 'bag')
    assert not (tmp_path / 'bag').exists()


@pytest.mark.parametrize('suffix', ['.txt', '.mat'])
def test_a_log_without_permission_is_an_os_error(suffix: str, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip('root reads everything')
    path = (tmp_path / 'log').with_suffix(suffix)
    path.touch(mode=0)
    with pytest.raises(PermissionError):
        run(path, '-o', tmp_path / 'bag')


def test_fields_of_several_structs_keep_whose_they_are(tmp_path: Path) -> None:
    time, force, rate = samples()
    path = tmp_path / 'log.mat'
    imu = {'t': time, 'acc': force, 'gyro': rate}
    savemat(path, {'imu': imu, 'other': {'t': 2.0 * time + 7.0, 'acc': 2.0 * force}})

    with pytest.raises(NoImuLog, match=r'no acceleration among the variables imu\.t .*other\.acc'):
        mat_table(path).imu()
    log = mat_table(path, names={'acceleration': 'imu.acc', 'time': 'imu.t'}).imu()
    assert np.diff(log.stamps_ns).tolist() == [20_000_000] * 4
    assert np.allclose(log.specific_force[:, 2], G)
    with pytest.raises(NoImuLog, match='no variable is the time'):
        mat_table(path, names={'acceleration': 'imu.acc'}).imu()
    # One clock that stands twice is one clock.
    savemat(path, {'imu': imu, 'legs': {'t': time, 'stroke': np.ones((5, 6))}})
    assert np.diff(mat_table(path).imu().stamps_ns).tolist() == [20_000_000] * 4


def test_sparse_and_complex_variables_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, path = np.arange(5.0), tmp_path / 'log.mat'
    force, rate = np.tile([0.0, 0.0, 1.0], (5, 1)), np.ones((5, 3))
    spectrum, picked = force + 1.0j, csc_matrix(force)

    savemat(path, {'t': time, 'Acc': spectrum, 'Gyro': rate})
    with pytest.raises(NoImuLog, match='Acc is complex, save it as a full real matrix'):
        run(path, '-o', tmp_path / 'bag')
    savemat(path, {'t': spectrum[:, 0], 'Acc': force, 'Gyro': rate})
    with pytest.raises(NoImuLog, match=r'no variable is the time.*; t is complex, save it'):
        run(path, '-o', tmp_path / 'bag')
    savemat(path, {'t': time, 'found': picked, 'Gyro': rate})
    with pytest.raises(NoImuLog, match='acceleration is found, which is sparse, save it as'):
        run(path, '-o', tmp_path / 'bag', '--name', 'acceleration=found')
    savemat(path, {'imu': {'Acc': picked}})
    with pytest.raises(NoImuLog, match=r'no numeric variable in it; imu\.Acc is sparse'):
        run(path, '-o', tmp_path / 'bag')
    # What nobody needs is told, and no reason to refuse the rest.
    savemat(path, {'t': time, 'Acc': force, 'Gyro': rate, 'fft': spectrum})
    assert run(path, '-o', tmp_path / 'bag') == 0
    assert 'left out; fft is complex, save it as a full real matrix' in capsys.readouterr().err
