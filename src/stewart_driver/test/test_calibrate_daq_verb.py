# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart calibrate-daq``: points in, rig.yaml and a picture out, or a refusal with numbers."""

from __future__ import annotations

import datetime
import io
from pathlib import Path

import numpy as np
import pytest
from stewart_driver.daq.calibration import CalibrationTable, fit
from stewart_driver.errors import CalibrationError, ConfigurationError, StewartError
from stewart_driver.rig_file import load_rig
from stewart_driver.verbs import calibrate_daq
from typed_words import typed

GAINS = np.array([10.0, 10.1, -9.9, 10.2, 9.8, 10.0]) * 1e-3
OFFSETS = np.array([80.0, 81.0, 79.0, 80.5, 79.5, 80.2]) * 1e-3


def table(rng: int = 0, error: float = 1e-5) -> CalibrationTable:
    """Return nine points of every leg, the last of leg 6 missing."""
    strokes = np.linspace(0.005, 0.155, 9)[:, None] * np.ones(6)
    volts = (strokes - OFFSETS) / GAINS
    volts[8, 5] = np.nan
    measured = strokes + np.random.default_rng(rng).normal(0.0, error, strokes.shape)
    return CalibrationTable(inputs=volts, outputs=0.5 * volts, strokes=measured)


def run(folder: Path, points: CalibrationTable | str | bytes, *extra: str) -> int:
    """Run the verb on a table; the rig file is ``rig.yaml`` in the folder."""
    path = folder / 'points.csv'
    if isinstance(points, bytes):
        path.write_bytes(points)
    elif isinstance(points, str):
        path.write_text(points)
    else:
        points.write(path)
    return typed(calibrate_daq, '--rig-file', folder / 'rig.yaml', '--table', path, *extra)


def test_table_becomes_lines_with_residuals_and_date_in_the_rig_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / 'residuals.png'

    assert run(tmp_path, table(), '--platform', 'ex800', '--plot', str(picture)) == 0

    daq = load_rig(tmp_path / 'rig.yaml').daq
    assert daq is not None
    assert (daq.calibrated, daq.mode) == (datetime.date.today(), 'position')
    assert [item.gain_m_per_v for item in daq.inputs] == pytest.approx(GAINS, rel=1e-3)
    assert [item.offset_m for item in daq.inputs] == pytest.approx(OFFSETS, abs=2e-5)
    assert [item.gain_m_per_v for item in daq.outputs] == pytest.approx(2.0 * GAINS, rel=1e-3)
    assert all(0.0 < item.residual_m < 5e-5 for item in daq.inputs)
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert 'worst: leg' in capsys.readouterr().out


def test_fit_beyond_its_bound_names_the_worst_point_and_writes_nothing(tmp_path: Path) -> None:
    points = table()
    assert points.strokes is not None
    points.strokes[4, 2] += 2e-3
    picture = tmp_path / 'residuals.png'

    message = (
        r'input of leg 3, point 5: at -?\d\.\d+ V the line is -1\.7\d+ mm from 8[12]\.\d+ mm, '
    )
    with pytest.raises(CalibrationError, match=message + r'allowed are 0\.5 mm'):
        run(tmp_path, points, '--platform', 'ex800', '--plot', str(picture))

    assert not (tmp_path / 'rig.yaml').exists()
    # To look at what is wrong.
    assert picture.exists()


def test_velocity_amplifiers_are_added_to_sensors_that_are_calibrated_already(
    tmp_path: Path,
) -> None:
    run(tmp_path, table(), '--platform', 'ex800')
    outputs = np.linspace(-4.0, 4.0, 5)[:, None] * np.ones(6)
    points = CalibrationTable(outputs=outputs, rates=0.06 * outputs + 0.002)

    assert run(tmp_path, points, '--mode', 'velocity') == 0

    daq = load_rig(tmp_path / 'rig.yaml').daq
    assert daq is not None
    assert daq.mode == 'velocity'
    assert [item.gain_m_per_v for item in daq.outputs] == pytest.approx([0.06] * 6)
    assert [item.gain_m_per_v for item in daq.inputs] == pytest.approx(GAINS, rel=1e-3)

    # Sensors that are measured anew leave the amplifiers alone, whatever mode is the default.
    assert run(tmp_path, table()) == 0
    again = load_rig(tmp_path / 'rig.yaml').daq
    assert again is not None
    assert (again.mode, again.outputs) == ('velocity', daq.outputs)


def header(*kinds: str) -> str:
    return ','.join(kind.format(leg) for kind in kinds for leg in range(1, 7)) + '\n'


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (header('input_{}_v'), 'nothing to fit for position mode'),
        (header('volts_{}'), "column: expected input_1_v, .* got 'volts_1'"),
        ('input_1_v,stroke_1_m\n1,2\n', 'the columns input_2_v, .* as well'),
        (
            header('input_{}_v', 'stroke_{}_m') + 'x' + ',0' * 11 + '\n',
            r"csv:2: input_1_v: .*, got 'x'",
        ),
        (
            header('input_{}_v', 'stroke_{}_m') + '0,' * 11 + '1e101\n',
            r"csv:2: stroke_6_m: expected a number from .*, got '1e101'$",
        ),
        (
            header('input_{}_v', 'stroke_{}_m') + '0,' * 11 + '1001\n',
            r'csv:2: stroke_6_m: expected a number from -1000 to 1000, got 1001.0$',
        ),
        (
            header('input_{}_v', 'stroke_{}_m') + '0,-inf' + ',0' * 10 + '\n',
            r"csv:2: input_2_v: .*, got '-inf'$",
        ),
        (
            header('input_{}_v', 'stroke_{}_m') + ',0' * 11 + '\n' + ',0' * 10 + '\n',
            'csv:3: expected 12 cells, got 11$',
        ),
        (
            header('input_{}_v', 'stroke_{}_m') + ',0' * 12 + '\n',
            'csv:2: expected 12 cells, got 13$',
        ),
        (b'\x89PNG\r\n\x1a\n' + bytes(64), r'csv: expected a CSV file in UTF-8, got .*0x89'),
        (
            header('input_{}_v').encode() + b'0,0,0,\xff\xfe,0,0\n',
            r'csv: expected a CSV file in UTF-8, got .*0xff',
        ),
        (
            header('input_{}_v') + '"' + 'x' * 200_000 + '"\n',
            r'csv: expected a CSV file in UTF-8, got .*field larger than field limit',
        ),
        (bytes(range(1, 128)), r'points\.csv[^\n]{20,300}$'),
        (header('input_{}_v', 'stroke_{}_m') + '0' + ',0' * 11 + '\n', 'leg 1 has 1 points, at l'),
        (
            header('input_{}_v', 'stroke_{}_m') + ('0.5' + ',0.5' * 11 + '\n') * 3,
            r'leg 1: the points span 0\.0000 V, at least 1 V',
        ),
        (
            header('output_{}_v', 'stroke_{}_m') + '0,0,0,0,0,0,0,0,0,0,0,0\n'
            '2,2,2,2,2,2,1,1,1,1,1,1\n4,4,4,4,4,4,2,2,2,2,2,2\n',
            'sensors have never been calibrated: begin with them',
        ),
    ],
)
def test_table_that_cannot_be_used_is_refused(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(StewartError, match=message):
        run(tmp_path, text, '--platform', 'ex800')


def test_binary_on_the_standard_input_is_refused_in_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('sys.stdin', io.TextIOWrapper(io.BytesIO(b'\x89PNG'), encoding='utf-8'))
    words = ['--rig-file', tmp_path / 'rig.yaml', '--table', '-', '--platform', 'ex800']

    with pytest.raises(ConfigurationError, match=r'^standard input: expected a CSV file .*0x89'):
        typed(calibrate_daq, *words)


def test_new_rig_file_needs_a_platform(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match='does not exist: name its --platform'):
        run(tmp_path, table())


def test_table_survives_writing_and_reading(tmp_path: Path) -> None:
    path = tmp_path / 'again.csv'
    points = table()
    points.write(path)
    path.write_text('# measured on a Tuesday\n' + path.read_text())

    again = CalibrationTable.read(str(path))

    assert again.inputs == pytest.approx(points.inputs, rel=1e-14, abs=0.0, nan_ok=True)
    assert again.strokes == pytest.approx(points.strokes, rel=1e-14, abs=0.0)
    assert again.rates is None


def test_fit_of_exact_points_is_exact() -> None:
    volts = np.linspace(-8.0, 8.0, 4)[:, None] * np.ones(6)

    found = fit(volts, GAINS * volts + OFFSETS)

    assert found.calibration.gains == pytest.approx(GAINS, rel=1e-12)
    assert found.calibration.residuals == pytest.approx(np.zeros(6), abs=1e-15)
    assert found.calibration.volts(found.calibration.values(volts)) == pytest.approx(volts)
