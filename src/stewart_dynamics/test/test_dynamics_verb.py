# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verb ``stewart dynamics``: forces out of motions, refusals by name."""

from __future__ import annotations

from collections.abc import Callable
import csv
from pathlib import Path

import numpy as np
import pytest
from stewart_dynamics.errors import MissingMasses
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_dynamics.verbs import dynamics
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion
from stewart_tables.columns import ACCELERATION, POSE, TIME, TWIST
from stewart_tables.csv_tables import write_table
from typed_words import typed

TIMES = np.arange(0.0, 2.0, 0.01)


def table(motion: Motion) -> np.ndarray:
    return np.column_stack(
        [TIMES, motion.position, motion.quaternion_xyzw, motion.twist, motion.acceleration]
    )


@pytest.fixture
def motion(six_axis_motion: Callable[[np.ndarray], Motion]) -> Motion:
    return six_axis_motion(TIMES)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., dict[str, np.ndarray]]:
    """Run the verb on a table; return its columns."""

    def call(columns: tuple[str, ...], values: np.ndarray, *options: str) -> dict[str, np.ndarray]:
        source, target = tmp_path / 'motion.csv', tmp_path / 'forces.csv'
        write_table(source, columns, values)
        assert typed(dynamics, source, '-o', target, '--platform', 'ex800', *options) == 0
        with target.open(newline='') as stream:
            rows = list(csv.reader(stream))
        numbers = np.array(rows[1:], dtype=float)
        return dict(zip(rows[0], numbers.T, strict=True))

    return call


def test_forces_are_those_of_newton_euler(
    run: Callable[..., dict[str, np.ndarray]], motion: Motion, ex800: Platform
) -> None:
    found = run((TIME, *POSE, *TWIST, *ACCELERATION), table(motion))

    expected = actuator_forces(InertialModel.from_platform(ex800), motion)
    assert list(found) == ['time_s', *(f'leg_{leg}_n' for leg in range(1, 7))]
    ours = np.column_stack([found[f'leg_{leg}_n'] for leg in range(1, 7)])
    assert np.abs(ours - expected).max() < 1e-8


def test_reactions_bring_the_wrench_and_every_joint(
    run: Callable[..., dict[str, np.ndarray]], motion: Motion
) -> None:
    found = run((TIME, *POSE, *TWIST, *ACCELERATION), table(motion), '--reactions')

    assert len(found) == 1 + 6 + 6 + 4 * 18
    pushed = sum(found[f'leg_{leg}_spherical_fz_n'] for leg in range(1, 7))
    assert np.abs(pushed + found['platform_fz_n']).max() < 1e-8


def test_missing_derivatives_are_refused_by_name(
    run: Callable[..., dict[str, np.ndarray]], motion: Motion
) -> None:
    with pytest.raises(ConfigurationError, match=r'ax_base_mps2.* as well, or --differentiate'):
        run((TIME, *POSE, *TWIST), table(motion)[:, :14])


@pytest.mark.parametrize(('count', 'tolerance'), [(14, 1e-4), (8, 2e-2)])
def test_derivatives_are_made_by_a_spline_on_request(
    run: Callable[..., dict[str, np.ndarray]],
    motion: Motion,
    ex800: Platform,
    count: int,
    tolerance: float,
) -> None:
    """At 100 Hz: quintic through pose and twist, cubic through poses; away from the ends."""
    columns = (TIME, *POSE, *TWIST)[:count]
    found = run(columns, table(motion)[:, :count], '--differentiate')

    expected = actuator_forces(InertialModel.from_platform(ex800), motion)
    ours = np.column_stack([found[f'leg_{leg}_n'] for leg in range(1, 7)])
    assert np.abs(ours - expected)[20:-20].max() < tolerance


def test_poses_may_count_from_the_neutral_pose(
    run: Callable[..., dict[str, np.ndarray]], ex800: Platform
) -> None:
    still = np.zeros((1, 20))
    still[0, 7] = 1.0
    found = run((TIME, *POSE, *TWIST, *ACCELERATION), still, '--relative-to', 'neutral')

    expected = actuator_forces(
        InertialModel.from_platform(ex800), Motion.at_rest(ex800.geometry.neutral_pose)
    )
    assert [found[f'leg_{leg}_n'][0] for leg in range(1, 7)] == pytest.approx(expected)


def test_a_platform_without_masses_is_refused(
    run: Callable[..., dict[str, np.ndarray]], motion: Motion
) -> None:
    with pytest.raises(MissingMasses, match='srs'):
        run((TIME, *POSE), table(motion)[:, :8], '--platform', 'srs')


def test_unphysical_inertia_in_a_file_is_named_with_its_eigenvalue(
    run: Callable[..., dict[str, np.ndarray]], motion: Motion, tmp_path: Path
) -> None:
    from stewart_description import platform_path

    text = platform_path('ex800').read_text(encoding='utf-8')
    path = tmp_path / 'heavy.yaml'
    path.write_text(text.replace('[0.041585, 0.041585, 0.0829623]', '[0.04, 0.04, 0.09]'))

    with pytest.raises(ConfigurationError, match=r'platform\.inertia_kgm2: .* eigenvalue 0\.09'):
        run((TIME, *POSE), table(motion)[:, :8], '--platform', str(path))
