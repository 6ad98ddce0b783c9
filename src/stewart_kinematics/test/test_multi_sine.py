# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of six-axis sums of sines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError, TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories import MultiSine
from stewart_kinematics.trajectories.multi_sine import from_yaml, shipped

HOME = Pose.from_rpy([0.0, 0.0, 0.275], [0.0, 0.0, 0.0])
TURNED = Pose.from_rpy([0.1, 0.0, 0.275], [0.1, -0.2, 0.5])


def test_shipped_wave_is_equation_18_of_the_ex800_paper() -> None:
    time, w = np.linspace(0.0, 5.0, 60), 3.75
    motion = from_yaml('ex800_wave', HOME).sample(time)
    sine, cosine = np.sin(w * time), np.cos(w * time)
    np.testing.assert_allclose(
        motion.position,
        np.stack([0.029 * sine, 0.029 * sine, 0.275 + 0.037 * cosine], axis=-1),
        atol=1e-15,
    )
    angles = np.stack([0.029 * sine, 0.0 * sine, 0.029 * sine], axis=-1)
    error = Rotation.from_quat(motion.quaternion_xyzw) * Rotation.from_euler('ZXY', angles).inv()
    np.testing.assert_allclose(error.magnitude(), 0.0, atol=1e-14)


def test_euler_angles_turn_the_attitude_of_the_centre() -> None:
    angles = np.array([0.2, -0.1, 0.3])
    offset = np.concatenate([np.zeros(3), angles])
    still = MultiSine(TURNED, 'ZXY', np.zeros((6, 1)), np.zeros(1), np.zeros((6, 1)), offset)
    expected = Rotation.from_euler('ZXY', angles).as_matrix() @ TURNED.rotation
    np.testing.assert_allclose(still.sample(0.0).pose.rotation, expected, atol=1e-14)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding='utf-8')
    return path


def test_axes_with_fewer_terms_are_filled(tmp_path: Path) -> None:
    path = _write(
        tmp_path / 'motion.yaml',
        'sequence: ZYX\n'
        'offset: {z_m: 0.01}\n'
        'x_m: [{amplitude: 0.1, angular_frequency_radps: 1}, '
        '{amplitude: 0.2, angular_frequency_radps: 3, phase_rad: 0.5}]\n'
        'z_m: [{amplitude: 0.3, angular_frequency_radps: 2}]\n',
    )
    value = from_yaml(path, HOME).axes(0.7)[0]
    expected = [0.1 * np.sin(0.7) + 0.2 * np.sin(2.6), 0, 0.01 + 0.3 * np.sin(1.4), 0, 0, 0]
    np.testing.assert_allclose(value, expected, atol=1e-15)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('[1, 2]', 'a YAML file with keys and values'),
        ('sequence: ZYX\nw_m: []', r'w_m: expected a key that exists \(did you mean z_m'),
        ('x_m: []', 'sequence: expected three axes'),
        ('sequence: ZYX\nx_m: 3', 'x_m: expected a list of mappings, got 3'),
        ('sequence: ZYX\nx_m: [3]', r'x_m\[1\]: expected a mapping'),
        (
            'sequence: ZYX\nx_m: [{size: 3}]',
            r'x_m\[1\].amplitude: expected a finite number, but the key is missing',
        ),
        ('sequence: ZYX\nx_m: [{amplitude: 3}]', r'x_m\[1\].angular_frequency_radps: expected'),
        (
            'sequence: ZYX\nx_m: [{amplitude: 1, angular_frequency_radps: 1, size: 3}]',
            r'x_m\[1\].size: expected a key that exists \(',
        ),
        (
            'sequence: ZYX\nx_m: [{amplitude: true, angular_frequency_radps: 1}]',
            r'x_m\[1\].amplitude: expected a finite number, got True',
        ),
        (
            'sequence: ZYX\nx_m: [{amplitude: .nan, angular_frequency_radps: 1}]',
            'expected a finite number, got nan',
        ),
        (
            'sequence: ZYX\nx_m: [{amplitude: 1, angular_frequency_radps: -1}]',
            'expected a finite number of at least 0, got -1',
        ),
        ('sequence: ZYX\noffset: [1]', 'offset: expected a mapping'),
        ('sequence: ZYX\noffset: {x_mm: 1}', 'offset.x_mm: .*did you mean x_m'),
        ('sequence: ZYX: 3', 'valid YAML'),
    ],
)
def test_unusable_files_are_refused_by_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        from_yaml(_write(tmp_path / 'motion.yaml', text), HOME)


def test_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        from_yaml(tmp_path / 'none.yaml', HOME)


def test_every_shipped_motion_loads() -> None:
    assert {name: from_yaml(name, HOME).sequence for name in shipped()} == dict.fromkeys(
        ('ex800_identification', 'ex800_wave'), 'ZXY'
    )


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'amplitude': np.zeros((5, 2))}, r'amplitude must have shape \(6, n\), got \(5, 2\)'),
        ({'phase': np.zeros((6, 3))}, r'phase must have shape \(6, 2\), got \(6, 3\)'),
        ({'angular_frequency': [1.0, -2.0]}, 'angular_frequency must be at least 0 rad/s, got -2'),
        ({'offset': [np.nan, 0, 0, 0, 0, 0]}, 'offset must be finite, got nan'),
        ({'sequence': 'ZZX'}, "got 'ZZX'"),
        ({'duration': 0.0}, 'duration must be greater than 0 s'),
    ],
)
def test_unusable_motions_are_refused(changes: dict[str, object], message: str) -> None:
    values = {
        'centre': HOME,
        'sequence': 'ZYX',
        'amplitude': np.zeros((6, 2)),
        'angular_frequency': [1.0, 2.0],
        'phase': np.zeros((6, 2)),
    }
    with pytest.raises(TrajectoryError, match=message):
        MultiSine(**{**values, **changes})  # type: ignore[arg-type]
