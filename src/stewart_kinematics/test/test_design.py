# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A platform made from a few measures is the one that was measured; its merits are true."""

from __future__ import annotations

from dataclasses import replace
import io
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError, GeometryError
from stewart_kinematics.limits.design import design_metrics, half_out, warnings
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.ring_dimensions import document, RingDimensions
from stewart_kinematics.model.schema import Section
from stewart_kinematics.motion import Motion
from stewart_kinematics.solvers.inverse import inverse, leg_lengths
from stewart_kinematics.verbs import platform as platform_verb
from stewart_kinematics.verbs import study
from typed_words import parsed, typed
import yaml

SMALL = RingDimensions('small', 0.2, 0.15, 20.0, 20.0, 0.25, 0.1)


def made(dimensions: RingDimensions) -> Platform:
    return Platform.from_section(Section(document(dimensions), ''))


def test_the_joints_are_where_they_were_measured() -> None:
    geometry = made(SMALL).geometry
    for joints, radius in ((geometry.base_joints, 0.2), (geometry.platform_joints, 0.15)):
        np.testing.assert_allclose(np.linalg.norm(joints, axis=1), radius)
        angles = np.sort(np.degrees(np.arctan2(joints[:, 1], joints[:, 0])) % 360.0)
        gaps = np.sort(np.diff([*angles, angles[0] + 360.0]))
        np.testing.assert_allclose(gaps, [20.0] * 3 + [100.0] * 3)


def test_origins_and_x_axis_may_lie_elsewhere_and_the_legs_are_the_same() -> None:
    moved = replace(SMALL, base_height=0.05, platform_height=-0.03, turn=30.0)

    here, there = made(SMALL).geometry, made(moved).geometry

    turn = Rotation.from_euler('z', 30.0, degrees=True)
    for height, name in ((0.05, 'base_joints'), (-0.03, 'platform_joints')):
        expected = turn.apply(np.array(getattr(here, name)))
        expected[:, 2] += height
        np.testing.assert_allclose(getattr(there, name), expected, atol=1e-12)
    rise = there.neutral_pose.position - here.neutral_pose.position
    np.testing.assert_allclose(rise, [0.0, 0.0, 0.08], atol=1e-12)
    for geometry in (here, there):
        pose = geometry.neutral_pose
        lengths = leg_lengths(geometry, pose.position, pose.quaternion_xyzw)
        np.testing.assert_allclose(lengths, 0.3, atol=1e-12)


@pytest.mark.parametrize(
    'wrong', [{'base_height': np.nan}, {'platform_height': np.inf}, {'turn': 361}]
)
def test_places_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        replace(SMALL, **wrong)


def test_what_nobody_measured_is_called_an_assumption() -> None:
    sources = document(replace(SMALL, rate=0.15))['sources']
    assumed = [key for key in sources if key.startswith('legs.')]
    assert assumed == [
        'legs.acceleration_mps2',
        'legs.base_joint_angle_deg',
        'legs.platform_joint_angle_deg',
        'legs.distance_m',
    ]
    assert all(sources[key].startswith('assumption') for key in assumed)
    assert made(SMALL).sources['legs'] == 'measured'


def test_neutral_is_half_way_out() -> None:
    platform = made(SMALL)
    geometry, pose = platform.geometry, platform.geometry.neutral_pose
    lengths = leg_lengths(geometry, pose.position, pose.quaternion_xyzw)
    np.testing.assert_allclose(lengths - geometry.retracted_length, 0.05, atol=1e-12)
    assert half_out(platform) == pytest.approx(pose.position[2], abs=1e-12)


def test_legs_that_are_too_short_are_refused() -> None:
    with pytest.raises(ConfigurationError, match='horizontal distance'):
        document(replace(SMALL, retracted_length=0.1))


@pytest.mark.parametrize('value', [0.0, -1.0, float('nan'), float('inf'), 1e300])
def test_measures_that_are_no_lengths_are_refused(value: float) -> None:
    with pytest.raises(
        ConfigurationError, match='stroke: expected a length above 0 and up to 6 m'
    ):
        replace(SMALL, stroke=value)


@pytest.mark.parametrize('key', ['base_pair_angle', 'platform_pair_angle'])
def test_pair_whose_joints_are_next_to_the_other_pairs_is_refused(key: str) -> None:
    with pytest.raises(ConfigurationError, match=f'{key}: .* below 120 deg, got 120'):
        replace(SMALL, **{key: 120.0})


def test_merits_agree_with_the_kinematics() -> None:
    platform = made(SMALL)
    found, geometry = design_metrics(platform, cells=12), platform.geometry
    pose = geometry.neutral_pose
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rest = Motion.at_rest(pose, (4000,))
    turning = inverse(geometry, rest.replaced(angular_velocity=directions)).rate
    largest = np.abs(turning).max()
    assert 0.99 * found.leg_rate_turning < largest <= found.leg_rate_turning * (1 + 1e-9)
    up = Motion.at_rest(pose).replaced(linear_velocity=np.array([0.0, 0.0, 1.0]))
    assert np.abs(inverse(geometry, up).rate).max() == pytest.approx(found.leg_rate_up)
    # A vertical load is shared by six equal legs: each bears a sixth over its steepness.
    assert found.leg_force >= 1.0 / 6.0 / found.leg_rate_up - 1e-12


def test_a_design_whose_legs_touch_is_warned_of() -> None:
    first, *others = warnings(made(replace(SMALL, leg_distance=0.07)))
    assert 'may not rest at its neutral pose' in first
    assert 'distance of legs 1 and 2' in first
    # What does not depend on the pose is told all the same.
    assert [text.split(':')[0] for text in others] == ['no masses', 'assumed, not known']


@pytest.mark.parametrize('factor', [1e3, 1e2, 1e-3])
def test_new_refuses_a_machine_in_another_unit(factor: float) -> None:
    """Millimetres and centimetres had made a machine of hundreds of metres, with one note."""
    lengths = ('base_radius', 'platform_radius', 'retracted_length', 'stroke', 'leg_distance')
    of_unit = {key: factor * getattr(SMALL, key) for key in lengths}
    bounds = r'a length from 0\.005 to 6 m; lengths are in metres'
    with pytest.raises(ConfigurationError, match=f'base_radius: .*{bounds}, got {0.2 * factor:g}'):
        replace(SMALL, **of_unit)


@pytest.mark.parametrize(
    ('wrong', 'bounds'),
    [
        ({'retracted_length': 250.0}, 'from 0.005 to 6 m'),
        ({'stroke': 100.0}, 'above 0 and up to 6 m'),
        ({'leg_distance': 30.0}, 'above 0 and up to 6 m'),
        ({'base_height': 95.0}, 'from -6 to 6 m'),
    ],
)
def test_a_length_in_millimetres_is_refused_by_name(wrong: dict[str, float], bounds: str) -> None:
    (key,) = wrong
    with pytest.raises(ConfigurationError, match=f'{key}: expected a length {bounds}; .* metres'):
        replace(SMALL, **wrong)


def test_legs_of_metres_on_rings_of_centimetres_are_named() -> None:
    with pytest.raises(GeometryError, match=r'too long for the rings: .* in metres'):
        document(replace(SMALL, base_radius=0.02, platform_radius=0.015, retracted_length=2.5))


MEASURED = (
    *('--base-radius', '0.2', '--platform-radius', '0.15', '--base-pair-angle', '20'),
    *('--platform-pair-angle', '20', '--retracted-length', '0.25', '--stroke', '0.1'),
)


def test_new_writes_what_check_and_show_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = tmp_path / 'small.yaml', tmp_path / 'small.png'
    words = 'new', 'small', *MEASURED, '-o', str(file)
    assert typed(platform_verb, *words) == 0
    assert yaml.safe_load(file.read_text())['legs']['stroke_m'] == [0.0, 0.1]
    assert typed(platform_verb, 'check', str(file)) == 0
    said = capsys.readouterr()
    assert 'about its neutral pose, z 271.0 mm\n' in said.out
    assert 'condition number' in said.out
    assert 'no masses' in said.err
    shown = parsed(platform_verb, 'show', str(file), '--plot', str(picture))
    assert platform_verb.main(shown) == 0
    assert picture.stat().st_size > 50_000


@pytest.mark.parametrize('words', [('new', 'small', *MEASURED), ('rig', 'vigo')])
def test_a_file_that_was_edited_stays_unless_forced(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / 'mine.yaml'
    file.write_text('edited by hand\n')
    with pytest.raises(
        ConfigurationError, match=r'expected a file that is not there yet .--force'
    ):
        typed(platform_verb, *words, '-o', str(file))
    assert file.read_text() == 'edited by hand\n'
    assert typed(platform_verb, *words, '-o', str(file), '--force') == 0
    assert 'edited by hand' not in file.read_text()


def test_nothing_is_asked_for_a_file_that_stays() -> None:
    with pytest.raises(ConfigurationError, match='not there yet'):
        typed(platform_verb, 'new', 'small', '-o', __file__)


def test_new_goes_to_standard_output_unless_told_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed(platform_verb, 'new', 'small', *MEASURED) == 0
    assert yaml.safe_load(capsys.readouterr().out)['name'] == 'small'
    assert not list(tmp_path.iterdir())


def test_new_writes_nothing_that_could_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / 'small.yaml'
    words = 'new', 'small', *MEASURED, '--joint-angle', '100', '-o', str(file)
    with pytest.raises(ConfigurationError, match=r'base_joint_angle_deg: .* 0 to 90, got 100'):
        typed(platform_verb, *words)
    assert not file.exists()


@pytest.mark.parametrize('angles', [('60', '60'), ('60.001', '60'), ('100', '20'), ('59', '60')])
def test_new_refuses_rings_that_are_the_same_hexagon(
    tmp_path: Path, angles: tuple[str, str]
) -> None:
    of_base, of_platform = angles
    words = ('--base-pair-angle', of_base, '--platform-pair-angle', of_platform)
    file = tmp_path / 'small.yaml'
    with pytest.raises(GeometryError, match=r'singular at its neutral pose: .* add up to'):
        platform_verb.main(
            parsed(platform_verb, 'new', 'small', *MEASURED, *words, '-o', str(file))
        )
    assert not list(tmp_path.iterdir())


def test_a_platform_that_hardly_rises_is_refused() -> None:
    with pytest.raises(GeometryError, match=r'singular at its neutral pose: .* too flat'):
        document(replace(SMALL, retracted_length=0.1287, stroke=1e-4))


def test_new_without_a_measure_asks_only_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('sys.stdin', io.StringIO())
    with pytest.raises(ConfigurationError, match='--base-radius'):
        typed(platform_verb, 'new', 'small')


def test_new_asks_again_for_what_is_no_measure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = io.StringIO('wide\n-1\n200\n0.2\n')
    monkeypatch.setattr(answers, 'isatty', lambda: True)
    monkeypatch.setattr('sys.stdin', answers)
    # The first of them is the radius of the base.
    assert typed(platform_verb, 'new', 'small', *MEASURED[2:]) == 0
    said = capsys.readouterr()
    assert yaml.safe_load(said.out)['base_joints']['ring']['radius_m'] == 0.2
    assert said.err.count('radius of the ring through the base joints [m]: ') == 4
    assert "a number is needed, not 'wide'" in said.err
    for wrong in ('-1.0', '200.0'):
        bounds = 'a length from 0.005 to 6 m; lengths are in metres'
        assert f'base_radius: expected {bounds}, got {wrong}\n' in said.err


@pytest.mark.parametrize(('name', 'forces'), [('vigo', True), ('srs', False)])
def test_a_rig_of_simulated_drives_is_written(
    name: str, forces: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(platform_verb, 'rig', name) == 0

    rig = yaml.safe_load(capsys.readouterr().out)
    assert rig['/**']['ros__parameters']['platform'] == name
    driver = rig['/**/driver']['ros__parameters']
    assert driver['backend'] == 'simulated'
    assert driver['simulated']['platform'] == name
    # A plant and a feed-forward need masses.
    assert ('model' not in driver['simulated']) == ('/**/feed_forward' not in rig) == forces
    assert ('rated_force' in driver['simulated']) == forces


def test_the_simulated_drives_are_those_of_the_platform_s_weight(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Drives of 1000 N hold a plate of 1 kg by their friction alone, and feel it in one step."""
    file, nothing = tmp_path / 'light.yaml', {'inertia_kgm2': [0.0, 0.0, 0.0]}
    content, middle = document(SMALL), {'centre_of_mass_m': [0.0, 0.0, 0.0]}
    masses = {'platform': 1.0, 'cylinder': 0.1, 'rod': 0.05}
    content['masses'] = {'gravity_mps2': [0.0, 0.0, -9.80665]} | {
        body: {'mass_kg': mass, **middle, **nothing} for body, mass in masses.items()
    }
    file.write_text(yaml.safe_dump(content))

    assert typed(platform_verb, 'rig', str(file)) == 0

    said = capsys.readouterr().out
    drives = yaml.safe_load(said)['/**/driver']['ros__parameters']['simulated']
    # Six equal legs of 0.3 m share the weight, a 0.3 kg of it rods.
    height = made(SMALL).geometry.neutral_pose.position[2]
    force = (1.0 + 6 * 0.05) * 9.80665 / 6.0 * 0.3 / height
    assert drives['rated_force'] == pytest.approx(3.0 * force, rel=0.05)
    assert drives['force_limit'] == pytest.approx(12.0 * force, rel=0.05)
    assert drives['coulomb_friction'] + 0.04 * drives['rated_force'] < 0.2 * force
    assert f'bears up to {force:.3g} N' in said
    assert 'plates of your drives' in said


def test_a_rig_without_weights_says_that_its_drives_are_nobody_s(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert typed(platform_verb, 'rig', 'srs') == 0
    assert 'keep the defaults, 1000 N rated' in capsys.readouterr().out


def test_a_rig_of_cranks_is_not_guessed() -> None:
    with pytest.raises(ConfigurationError, match='expected linear legs'):
        typed(platform_verb, 'rig', 'sg90_rotary')


def test_a_study_has_a_row_for_every_design(capsys: pytest.CaptureFixture[str]) -> None:
    words = ('--platform', 'ex800', '--cells', '8', '--vary', 'platform_joints.ring.radius_m')
    assert typed(study, *words, '0.05', '0.2', '2') == 0
    said = capsys.readouterr()
    head, impossible, possible = said.out.splitlines()
    columns = head.split(',')
    assert columns[0] == 'platform_joints_ring_radius_m'
    assert 'volume_m3' in columns
    assert impossible.split(',')[1:] == ['nan'] * (len(columns) - 1)
    assert all(float(word) > 0.0 for word in possible.split(','))
    (note,) = (line for line in said.err.splitlines() if 'note' in line)
    assert note.startswith('  note: platform_joints.ring.radius_m 0.05: ')
    assert ', allowed ' in note


@pytest.mark.parametrize(
    'words', [('legs', '1', '2', '3'), ('legs.stroke_m', '1', '2', '3'), ('name', '1', '2', '3')]
)
def test_a_study_of_what_is_no_number_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError, match='the path of a number'):
        typed(study, '--vary', *words)


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (('1', 'nan', '2'), r"numbers up to 1e\+100 and a count from 1 to 100000, got '1 nan 2'"),
        (('1', '1e101', '2'), "a count from 1 to 100000, got '1 1e101 2'"),
        (('1', '2', '0'), "a count from 1 to 100000, got '1 2 0'"),
        (('1', '2', '1000000000'), "got '1 2 1000000000'"),
        (('1', '2', 'x'), "expected two numbers and a count, got '1 2 x'"),
    ],
)
def test_a_study_over_what_is_no_range_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f'--vary: .*{message}'):
        typed(study, '--vary', 'legs.retracted_length_m', *words)


def test_a_study_of_too_many_designs_is_refused() -> None:
    vary = '--vary', 'legs.retracted_length_m', '1', '2', '1000'
    other = '--vary', 'base_joints.ring.radius_m', '1', '2', '1000'
    with pytest.raises(ConfigurationError, match='at most 100000 designs, got 1000000'):
        typed(study, *vary, *other)
    with pytest.raises(ConfigurationError, match='expected every measure once'):
        typed(study, *vary, *vary)


def test_a_study_of_too_few_cells_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ('--cells', '1', '--vary', 'legs.retracted_length_m', '1', '2', '3')
    with pytest.raises(SystemExit, match='2'):
        parsed(study, *words)
    assert "--cells: expected a whole number from 2 to 400, got '1'" in capsys.readouterr().err
