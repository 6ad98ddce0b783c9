# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every pose with six lengths: forty of them, none missed, none twice, and the connected one."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.assembly_modes import assembly_modes
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.verbs import fk
from stewart_tables.columns import LENGTH, POSE, TIME
from stewart_tables.csv_tables import read_table, write_table
from typed_words import typed

call = partial(typed, fk)
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ('srs', 'ps6tl_1500')]
PLATFORMS = ('vigo', 'ex800', *SLOW)

# P. Dietmaier, 1998: joints and lengths as
# http://www-iri.upc.es/people/porta/Soft/CuikSuite2-Doc/html/Dietmeier_8world.html prints them.
DIETMAIER_BASE = [
    [0.0, 0.0, 0.0],
    [1.107915, 0.0, 0.0],
    [0.549094, 0.756063, 0.0],
    [0.735077, -0.223935, 0.525991],
    [0.514188, -0.526063, -0.368418],
    [0.590473, 0.094733, -0.205018],
]
DIETMAIER_PLATFORM = [
    [0.0, 0.0, 0.0],
    [0.542805, 0.0, 0.0],
    [0.956919, -0.528915, 0.0],
    [0.665885, -0.353482, 1.402538],
    [0.478359, 1.158742, 0.107672],
    [-0.137087, -0.235121, 0.353913],
]
DIETMAIER_LENGTHS = np.array([1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071])
# One of the forty, rounded: the best-conditioned is as good a neutral pose as any.
DIETMAIER_NEUTRAL = Pose(
    [0.636112, 0.771452, 0.014956], [0.66345308, -0.00888017, -0.54582377, 0.51169089]
)


def general(base, platform, neutral):
    return Geometry('general', base, platform, np.full(6, 0.1), neutral, neutral)


def apart(modes):
    """Return the least distance of two modes, as sign-free dual quaternions are compared."""
    rotation = Rotation.from_quat(modes.quaternion_xyzw).as_matrix().reshape(-1, 9)
    rows = np.concatenate([modes.position, rotation], axis=1)
    distance = np.linalg.norm(rows[:, None] - rows, axis=2)
    return np.min(distance + 9.0 * np.eye(len(rows)))


def check(geometry, lengths, modes):
    """Ask of modes what holds for any."""
    again = leg_lengths(geometry, modes.position, modes.quaternion_xyzw)
    assert modes.lost == 0
    assert np.abs(again - lengths).max(initial=0.0) < 1e-10
    assert apart(modes) > 1e-4
    assert modes.certified.all()
    assert modes.connected.sum() <= 1
    assert not modes.connected[1:].any()


def about_neutral(geometry, rng, part):
    home, scale = geometry.neutral_pose, geometry.length_scale
    position = home.position + part * scale * rng.uniform(-1.0, 1.0, 3)
    turn = Rotation.from_rotvec(part * rng.uniform(-1.0, 1.0, 3))
    return position, (turn * Rotation.from_quat(home.quaternion_xyzw)).as_quat()


def newton(geometry, lengths, position, quaternion, steps=60):
    """Return the poses with six lengths that Newton's method finds from many starts."""
    for _ in range(steps):
        missing = lengths - leg_lengths(geometry, position, quaternion)
        matrix = jacobian(geometry, position, quaternion)
        good = np.abs(np.linalg.det(matrix)) > 1e-9
        position, quaternion, matrix = position[good], quaternion[good], matrix[good]
        step = np.linalg.solve(matrix, missing[good][..., None])[..., 0]
        size = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1.0, 0.5 / np.maximum(size, 1e-30))
        position = position + step[:, :3]
        quaternion = (Rotation.from_rotvec(step[:, 3:]) * Rotation.from_quat(quaternion)).as_quat()
    found = np.abs(leg_lengths(geometry, position, quaternion) - lengths).max(axis=1) < 1e-10
    return position[found], Rotation.from_quat(quaternion[found]).as_matrix()


def test_dietmaiers_platform_has_forty_poses():
    geometry = general(DIETMAIER_BASE, DIETMAIER_PLATFORM, DIETMAIER_NEUTRAL)
    modes = assembly_modes(geometry, DIETMAIER_LENGTHS)
    assert len(modes.position) == modes.solutions == 40
    assert modes.residual.max() < 1e-10
    check(geometry, DIETMAIER_LENGTHS, modes)
    assert modes.connected[0]
    assert np.abs(modes.position[0] - DIETMAIER_NEUTRAL.position).max() < 1e-5


@pytest.mark.slow
def test_general_platforms_have_forty_solutions():
    rng, home = np.random.default_rng(5), Pose.from_rpy([0.0, 0.0, 1.5], (0.0, 0.0, 0.0))
    for _ in range(5):
        geometry = general(*(rng.uniform(-1.0, 1.0, (2, 6, 3)) * [1.0, 1.0, 0.3]), home)
        pose = about_neutral(geometry, rng, 0.5)
        lengths = leg_lengths(geometry, *pose)
        modes = assembly_modes(geometry, lengths)
        assert modes.solutions == 40
        check(geometry, lengths, modes)
        assert np.abs(modes.position - pose[0]).max(axis=1).min() < 1e-8


@pytest.mark.parametrize('shared', ['platform', 'base', 'both'])
def test_legs_that_meet_in_pairs_leave_sixteen_solutions(shared):
    rng, home = np.random.default_rng(9), Pose.from_rpy([0.0, 0.0, 1.0], (0.0, 0.0, 0.0))
    base, platform = rng.uniform(-1.0, 1.0, (2, 6, 3)) * [1.0, 1.0, 0.1]
    if shared != 'base':
        platform[::2] = platform[1::2]
    if shared != 'platform':
        base[1::2] = np.roll(base[::2], 1, axis=0)
    geometry = general(base, platform, home)
    position, quaternion = about_neutral(geometry, rng, 0.1)
    lengths = leg_lengths(geometry, position, quaternion)
    modes = assembly_modes(geometry, lengths)
    assert modes.solutions == 16
    check(geometry, lengths, modes)
    assert np.abs(modes.position - position).max(axis=1).min() < 1e-9


@pytest.mark.parametrize('count', [4, pytest.param(21, marks=pytest.mark.slow)])
@pytest.mark.parametrize('name', PLATFORMS)
def test_connected_mode_is_what_forward_says(name, count):
    geometry, rng = load_platform(name).geometry, np.random.default_rng(16)
    for k in range(count):
        position, quaternion = about_neutral(geometry, rng, 0.25 * (k > 0))
        lengths = leg_lengths(geometry, position, quaternion)
        result, modes = forward(geometry, lengths), assembly_modes(geometry, lengths)
        check(geometry, lengths, modes)
        assert result.converged
        assert modes.connected[0]
        assert modes.solutions == 28
        assert np.abs(modes.position[0] - result.position).max() < 1e-9
        assert abs(modes.quaternion_xyzw[0] @ result.quaternion_xyzw) > 1.0 - 1e-12
        # The joints lie in two planes: every pose has its mirror image below the base.
        assert modes.mirrored.sum() == (~modes.mirrored).sum()
        assert not modes.mirrored[0]


@pytest.mark.slow
def test_newton_from_ten_thousand_starts_finds_no_other_mode():
    geometry, rng = load_platform('ps6tl_1500').geometry, np.random.default_rng(17)
    lengths = leg_lengths(geometry, *about_neutral(geometry, rng, 0.25))
    modes = assembly_modes(geometry, lengths)
    position = rng.uniform(-1.5, 1.5, (10_000, 3)) * lengths.mean()
    starts = Rotation.from_quat(rng.normal(size=(10_000, 4))).as_quat()
    found, turned = newton(geometry, lengths, position, starts)
    matrices = Rotation.from_quat(modes.quaternion_xyzw).as_matrix()
    off = np.abs(found[:, None] - modes.position).max(axis=2)
    off = np.maximum(off, np.abs(turned[:, None] - matrices).max(axis=(2, 3)))
    assert len(found) > 5000
    assert off.min(axis=1).max() < 1e-7
    # And the starts reach them all, so that they would have reached another.
    assert set(off.argmin(axis=1)) == set(range(len(modes.position)))


def test_a_singular_pose_is_there_but_not_certified():
    geometry = load_platform('vigo').geometry
    home = geometry.neutral_pose.position
    turned = Rotation.from_euler('z', 90.0, degrees=True).as_quat()
    modes = assembly_modes(geometry, leg_lengths(geometry, home, turned))
    assert modes.lost == 0
    near = np.abs(modes.position - home).max(axis=1) < 1e-5
    assert near.sum() == 1
    assert not modes.certified[near]
    assert modes.condition_number[near] > 1e5


def test_lengths_without_a_pose_and_what_are_no_lengths():
    geometry = load_platform('vigo').geometry
    modes = assembly_modes(geometry, [0.3, 3.0] * 3)
    assert modes.position.shape == (0, 3)
    assert modes.solutions == 28
    assert modes.lost == 0
    with pytest.raises(ShapeError):
        assembly_modes(geometry, np.ones(5))
    with pytest.raises(StewartError, match='above 0 m'):
        assembly_modes(geometry, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0])


def test_lost_paths_are_counted_and_fail(monkeypatch):
    # Another attempt would not help, and takes as long.
    monkeypatch.setattr('stewart_kinematics.solvers.assembly_modes.TOLERANCES', (1e-5,))
    # Legs a thousand times as long as the platform is wide: double precision is too short.
    modes = assembly_modes(load_platform('vigo').geometry, [1000.0] * 6)
    assert modes.lost > 0


def test_verb_writes_a_row_a_mode(tmp_path, capsys, monkeypatch):
    vigo = load_platform('vigo').geometry
    home = leg_lengths(vigo, vigo.neutral_pose.position, vigo.neutral_pose.quaternion_xyzw)
    path, out = tmp_path / 'legs.csv', tmp_path / 'modes.csv'
    write_table(path, [TIME, *LENGTH], [[0.0, *home], [0.5, *[0.3, 3.0] * 3]])
    assert call('--all', path, '-o', out, '--relative-to', 'neutral') == 1
    assert 'legs.csv:3: no pose has these lengths' in capsys.readouterr().err
    lines = out.read_text().splitlines()
    assert lines[0].split(',') == [TIME, *fk.MODES]
    assert lines[-1].startswith('0.5,3,0,0,nan')
    out.write_text('\n'.join(lines[:-1]) + '\n')
    table = read_table(out, [TIME, *fk.MODES])
    count = len(lines) - 2
    assert (table.values['mode'] == np.arange(1, count + 1)).all()
    assert (table.values['line'] == 2).all()
    assert (table.values['connected'] == [1, *[0] * (count - 1)]).all()
    np.testing.assert_allclose(table.take(POSE)[0], [0, 0, 0, 0, 0, 0, 1], atol=1e-12)
    monkeypatch.setattr('sys.stdout.isatty', lambda: True, raising=False)
    call('--all', path)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == count + 2
    assert len({len(line) for line in shown}) == 1
