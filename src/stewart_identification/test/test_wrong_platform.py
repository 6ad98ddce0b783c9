# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording of another platform is called that, and one of the right platform never."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings_made import harmonics, recorded, Run, Scribe, START_NS, write_bag
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.from_bag import Extraction
from stewart_identification.recording.recordings import check_platform, read_recording, Recording
from stewart_identification.verbs import identify as verb
from stewart_identification.wiring import miswired
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.solvers.recognition import fitting
from typed_words import typed

FOURTH_TURNED = np.array([1.0, 1.0, 1.0, -1.0, 1.0, 1.0])


def half(made: Run) -> Run:
    """Return the first half of a run at half its rate, of which 20 Hz are looked at."""
    return made.part(slice(0, len(made.time) // 2, 2))


def run(*words: object) -> int:
    """Identify by the estimator that is quickest where nothing fits."""
    return typed(verb, *words, '--estimator', 'least-squares', '--rate', '40')


@pytest.fixture(scope='module')
def vigo_run() -> Run:
    """Twelve seconds of the other platform, its forces by inverse dynamics with 1 N of noise."""
    vigo = Platform.from_yaml('vigo')
    rng = np.random.default_rng(5)
    scale = np.array([0.04, 0.04, 0.04, 0.08, 0.08, 0.1])[:, None] / np.sqrt(4)
    sine, cosine = (scale * rng.normal(0.0, 1.0, (6, 4)) for _ in range(2))
    motion = harmonics(
        vigo.geometry.neutral_pose, 'ZYX', 2.0 * np.pi / 4.0, sine, cosine, duration=12.0
    )
    time = np.arange(0.0, 12.0, 0.01)
    moved = motion.sample(time)
    forces = actuator_forces(InertialModel.from_platform(vigo), moved)
    strokes = inverse(vigo.geometry, moved).stroke
    state = np.column_stack([moved.position, moved.quaternion_xyzw])
    noisy = forces + rng.normal(0.0, 1.0, forces.shape)
    return Run(time, strokes, noisy, strokes, state, np.zeros((len(time), 6)))


@pytest.fixture(scope='module')
def vigo_bag(vigo_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp('vigo') / 'bag', vigo_run)


def with_poses(bag: Path, made: Run) -> Recording:
    """Write the strokes and the poses of a run, and read them."""
    with Scribe(bag) as scribe:
        types = scribe.types
        for row, time in enumerate(made.time):
            scribe.joints('/actuator_states', time, made.strokes[row], made.forces[row])
            pose = types['geometry_msgs/msg/Pose'](
                types['geometry_msgs/msg/Point'](*map(float, made.state[row, :3])),
                types['geometry_msgs/msg/Quaternion'](*map(float, made.state[row, 3:7])),
            )
            message = types['geometry_msgs/msg/PoseStamped'](
                scribe.header(time, 'base_link'), pose
            )
            scribe.writer.write('/platform/pose', START_NS + round(time * 1e9) + 10**6, message)
    return read_recording(bag)


def test_an_ex800_is_no_vigo_by_what_explains_its_forces(
    payload_run: Run, tmp_path: Path, capsys: Any
) -> None:
    bag = write_bag(tmp_path / 'bag', half(payload_run))
    words = ['--platform', 'vigo', '--out', tmp_path, '--json', '--terms']
    assert run(bag, *words) == 1
    said = json.loads(capsys.readouterr().out)
    assert said['verdict'].startswith(
        'the recording is of another platform than vigo: as ex800 one body explains the forces to '
    )
    assert said['verdict'].count(' kg') == 2
    assert not (tmp_path / 'parameters.yaml').exists()
    assert all(item['interval'] is None for item in said['parameters'].values())
    assert 'name the right platform with --platform' in (tmp_path / 'report.html').read_text()


def test_a_vigo_is_no_ex800_by_its_strokes(vigo_bag: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UnusableRecording, match=r'outside \[0, 0.16\] m of ex800: is this'
    ) as caught:
        run(vigo_bag, '--platform', 'ex800', '--out', tmp_path / 'out')
    assert 'another platform, or not in m; they fit ps6tl_1500, srs, vigo?' in str(caught.value)
    assert '\n' not in str(caught.value)


def test_a_vigo_is_a_vigo(vigo_bag: Path, tmp_path: Path, capsys: Any) -> None:
    words = ['--platform', 'vigo', '--friction', 'none', '--terms', '--out', tmp_path]
    assert run(vigo_bag, *words) == 0
    told = capsys.readouterr()
    assert 'another' not in told.out + told.err


@pytest.mark.parametrize('turned', [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_right_platform_whose_forces_are_not_explained_is_not_called_another(
    turned: bool, payload_run: Run, tmp_path: Path, capsys: Any
) -> None:
    """Legs that rub by their load and the other way round, and signs that are turned."""
    rates = np.gradient(payload_run.strokes, payload_run.time, axis=0)
    rubbing = payload_run.forces * (1.0 + 0.1 * np.sign(rates)) + 8.0 * (rates > 0.0)
    made = replace(payload_run, forces=-payload_run.forces if turned else rubbing)
    bag = write_bag(tmp_path / 'bag', half(made))
    assert run(bag, '--platform', 'ex800', '--terms', '--json', '-o', tmp_path / 'out') == 1
    said = json.loads(capsys.readouterr().out)
    assert 'another platform' not in said['verdict']
    asked = 'efforts have to be positive where a drive' in said['verdict']
    assert 'model misfit' in said['verdict']
    assert asked is turned


def exchanged(values: Array, one: int, other: int) -> Array:
    """Return six columns with two of them exchanged, counted from 1."""
    order = np.arange(6)
    order[[one - 1, other - 1]] = other - 1, one - 1
    return np.ascontiguousarray(values[:, order])


@pytest.mark.parametrize(
    ('what', 'changed'),
    [
        ('efforts are in kN, not in N', lambda run: {'forces': 1e-3 * run.forces}),
        ('efforts of leg 4 have the other', lambda run: {'forces': run.forces * FOURTH_TURNED}),
        ('efforts of legs 2 and 5 are exch', lambda run: {'forces': exchanged(run.forces, 2, 5)}),
        (
            'strokes and efforts of legs 1 and 2 are exchanged',
            lambda run: {
                'forces': exchanged(run.forces, 1, 2),
                'strokes': exchanged(run.strokes, 1, 2),
            },
        ),
        (
            'efforts are counted from another leg: what leg 1 has is of leg 2',
            lambda run: {'forces': np.roll(run.forces, -1, axis=1)},
        ),
    ],
)
def test_legs_and_efforts_that_are_recorded_wrongly_are_named(
    what: str, changed: Any, payload_run: Run, ex800: Platform
) -> None:
    made = half(replace(payload_run, **changed(payload_run)))
    said = miswired(recorded(made), ex800, 'common', Extraction())
    assert said.startswith(what)
    assert ': read so, one body explains the efforts but for ' in said


def test_a_right_recording_has_its_legs_in_order(
    wave_recording: Recording, ex800: Platform
) -> None:
    assert miswired(wave_recording, ex800, 'per leg', Extraction()) == ''


def test_an_identification_names_exchanged_efforts(
    payload_run: Run, tmp_path: Path, capsys: Any
) -> None:
    made = replace(payload_run, forces=exchanged(payload_run.forces, 1, 2))
    bag = write_bag(tmp_path / 'bag', half(made))
    assert run(bag, '--platform', 'ex800', '--terms', '--json', '-o', tmp_path / 'out') == 1
    said = json.loads(capsys.readouterr().out)
    assert said['verdict'].startswith('efforts of legs 1 and 2 are exchanged: read so, ')
    assert all(item['interval'] is None for item in said['parameters'].values())
    assert 'order of the legs and sign and unit' in (tmp_path / 'out/report.html').read_text()


def test_poses_of_another_platform_are_refused(
    payload_run: Run, vigo_run: Run, tmp_path: Path
) -> None:
    ex800, vigo = map(Platform.from_yaml, ('ex800', 'vigo'))
    recording = with_poses(tmp_path / 'ex800', payload_run)
    assert check_platform(recording, ex800) == []
    with pytest.raises(
        UnusableRecording, match=r'of another platform than vigo: its str'
    ) as caught:
        check_platform(recording, vigo)
    assert str(caught.value).endswith('mm, for vigo less than 5 mm; they fit ex800')
    recording = with_poses(tmp_path / 'vigo', vigo_run)
    assert check_platform(recording, vigo) == []
    with pytest.raises(UnusableRecording, match='they fit vigo'):
        check_platform(recording, ex800)


def test_some_strokes_outside_the_limits_are_a_remark(payload_run: Run, tmp_path: Path) -> None:
    strokes = payload_run.strokes.copy()
    strokes[:200] += 0.1
    bag = write_bag(tmp_path / 'bag', replace(payload_run, strokes=strokes))
    [remark] = check_platform(read_recording(bag), Platform.from_yaml('ex800'))
    assert 'm of ex800: is this recording of another platform, or not in m; they fit ' in str(
        remark
    )
    assert 100 <= remark.count <= 200


def test_lengths_tell_platforms_apart() -> None:
    neutral = {}
    for name in ('ex800', 'vigo', 'srs', 'ps6tl_1500'):
        platform = Platform.from_yaml(name)
        middle = platform.limits.stroke.mean(axis=1) + platform.geometry.retracted_length
        neutral[name] = fitting(np.tile(middle, (3, 1)), lengths=True)
        assert name in neutral[name]
    assert neutral['vigo'] == ['vigo']
    assert 'vigo' not in neutral['ex800']
    assert fitting(np.full((3, 6), np.nan), lengths=True) == []
