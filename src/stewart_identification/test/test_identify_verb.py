# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart identify`` finds a payload, refuses what a wave does not show, and repeats itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
import json
import os
from pathlib import Path
import re
import shutil
import signal
from typing import Any

from courier import Courier
import numpy as np
import pytest
from recordings_made import noisy, Run, write_bag
from stewart_bags.errors import BagError, MissingTopic
from stewart_description.paths import platform_path
from stewart_dynamics.inertia import InertialModel
from stewart_identification.bags_to_parameters import identify_bags
from stewart_identification.errors import ConfigurationError, UnusableRecording
from stewart_identification.identifiability import Verdict
from stewart_identification.identify import identify, Options
from stewart_identification.outcome import Outcome, Parameter
from stewart_identification.plots import pictures
from stewart_identification.readable import sure
from stewart_identification.recording.from_bag import experiment_from, Extracted, Extraction
from stewart_identification.recording.recordings import read_recording, Recording
from stewart_identification.report import render, written
from stewart_identification.verbs import identify as verb
from stewart_identification.verbs.progress import SearchProgress
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.platform import Platform, RigidBody
from typed_words import typed

run = partial(typed, verb)
RATE = 40.0
SPHERE = RigidBody(2.0, np.array([0.05, -0.03, 0.08]), 0.4 * 2.0 * 0.05**2 * np.eye(3))


@pytest.fixture(scope='module')
def extracted(payload_bag: Path, ex800: Platform) -> Extracted:
    """At less than half the usual rate: forces have nothing above 15 Hz."""
    return experiment_from(read_recording(payload_bag), ex800, Extraction(rate=RATE))


@pytest.fixture(scope='module')
def outcome(extracted: Extracted, ex800: Platform) -> Outcome:
    return identify([extracted], ex800)


def true_values(platform: Platform) -> dict[str, float]:
    assert platform.masses is not None
    whole = platform.masses.platform.joined(SPHERE)
    names = ('m', 'cx', 'cy', 'cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
    inertia = whole.inertia[np.triu_indices(3)]
    return dict(zip(names, (whole.mass, *whole.centre_of_mass, *inertia), strict=True))


def test_payload_is_found_within_the_intervals(extracted: Extracted, ex800: Platform) -> None:
    # This plant's force sensors have no gain errors, its joints are as drawn, its base is level.
    allowed = Options(force_gain=0.0, joint_tolerance=1e-4, base_lean=0.0)
    outcome = identify([extracted], ex800, allowed)
    truth = true_values(ex800)
    # Ten intervals of 95 % at once: three standard deviations leave 2.7 % for chance.
    off = {
        item.name: abs(item.value - truth[item.name]) / item.sigma
        for item in outcome.parameters[:10]
    }
    assert max(off.values()) < 3.0, off
    payload = {item.name: item for item in outcome.payload}
    for name, value in (('m', 2.0), ('cx', 0.05), ('cy', -0.03), ('cz', 0.08)):
        item = payload[f'payload {name}']
        assert item.low <= value <= item.high, name
    assert abs(payload['payload m'].value - 2.0) < 1e-3 * truth['m']
    assert abs(payload['payload cz'].value - 0.08) < 1e-3
    friction = [item.value for item in outcome.parameters if item.name.startswith('viscous')]
    assert np.allclose(friction, 20.0, atol=0.5)
    dry = [item.value for item in outcome.parameters if item.name.startswith('coulomb')]
    assert np.allclose(dry, 2.0, atol=0.1)


@pytest.mark.usefixtures('drawn')
def test_verb_writes_a_platform_file_with_covariance_and_provenance(
    payload_bag: Path, tmp_path: Path, ex800: Platform, capsys: Any
) -> None:
    assert run(payload_bag, '--platform', 'ex800', '--out', tmp_path / 'one', '--json') == 0

    said = json.loads(capsys.readouterr().out)
    found = Platform.from_yaml(tmp_path / 'one' / 'parameters.yaml')
    assert found.masses is not None
    assert found.masses.platform.mass == said['parameters']['m']['value']
    InertialModel.from_platform(found)
    assert np.array_equal(found.geometry.base_joints, ex800.geometry.base_joints)
    text = (tmp_path / 'one' / 'parameters.yaml').read_text('utf-8')
    for word in (
        'covariance:',
        'sha256:',
        str(payload_bag),
        'seed: 0',
        'numpy:',
        'derivatives:',
        'rate_hz: 100.0',
        'platform: ex800',
    ):
        assert word in text, word
    page = (tmp_path / 'one' / 'report.html').read_text('utf-8')
    assert 'All ten parameters are determined.' in page
    assert page.count('</svg>') == 3
    assert not re.search(r'(src|href)="(?!#)', page)
    # The same bag, options and seed make the same files, wherever the bag is read.
    courier = Courier()
    identify_bags([payload_bag], 'ex800', tmp_path / 'two', executor=courier)
    assert courier.count == 1
    for name in ('parameters.yaml', 'report.html'):
        both = [(tmp_path / folder / name).read_bytes() for folder in ('one', 'two')]
        assert both[0] == both[1], name


def test_wave_does_not_determine_the_inertias_and_no_platform_file_is_left(
    wave_run: Run, tmp_path: Path, capsys: Any
) -> None:
    # With 0.5 N, Izz stands on the edge: one seed in four determines it, with true intervals.
    bag = write_bag(tmp_path / 'bag', noisy(wave_run, 1.0))
    (tmp_path / 'parameters.yaml').write_text('of an older run')

    assert run(bag, '--rate', '40', '--out', tmp_path, '--json') == 1

    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert not (tmp_path / 'parameters.yaml').exists()
    aside = tmp_path / 'parameters.before.yaml'
    assert aside.read_text() == 'of an older run'
    assert f'no parameters.yaml is written; the older one is {aside} now' in captured.err
    for name in ('Ixx', 'Iyy', 'Izz'):
        assert said['parameters'][name]['verdict'] != 'identifiable'
        assert said['parameters'][name]['value'] is None
        assert said['parameters'][name]['note']
    assert said['parameters']['m']['interval'][0] < 8.8369 < said['parameters']['m']['interval'][1]
    assert 'Izz are not' in (tmp_path / 'report.html').read_text('utf-8')


def test_an_inertia_is_judged_beside_itself() -> None:
    # Eq. 18 on quiet drives: all standard deviations are below a tenth of m L², six times Ixx.
    values = {'Ixx': 0.04, 'Ixy': 0.001, 'Ixz': 0.0, 'Iyy': 0.09, 'Iyz': 0.0, 'Izz': 0.16}
    halves = {'Ixx': 0.02, 'Ixy': 0.011, 'Ixz': 0.017, 'Iyy': 0.017, 'Iyz': 0.02, 'Izz': 0.04}
    items = [
        Parameter.around(name, 'kg m²', value, 0.5 * halves[name], 2.0, value)
        for name, value in values.items()
    ]

    def uncertain(tolerance: float) -> list[str]:
        found = sure(items, 0.95, tolerance)
        assert all(item.bounded and item.numbered for item in found)
        return [item.name for item in found if item.verdict is Verdict.UNCERTAIN]

    # Products beside the geometric mean of their moments: 0.06, 0.08 and 0.12 kg m².
    assert uncertain(0.2) == ['Ixx', 'Ixz', 'Izz']
    assert uncertain(0.17) == ['Ixx', 'Ixy', 'Ixz', 'Iyy', 'Izz']
    assert uncertain(0.51) == []
    ixx, _, ixz, *_ = sure(items, 0.95, 0.2)
    assert not ixx.known
    assert ixx.note == 'the interval of 95 % is ± 50 % of it, 20 % count as determined'
    assert 'of the mean of its two moments' in ixz.note
    # What has no interval for another reason keeps its verdict.
    bare = [item.without_interval() for item in items]
    assert sure(bare, 0.95, 0.2) == bare
    # A product where there is no moment is not known.
    flat = [replace(items[0], value=0.0, low=-0.02, high=0.02), *items[1:]]
    assert 'more than all of the mean' in sure(flat, 0.95, 0.2)[1].note


@pytest.mark.parametrize(
    ('value', 'sigma', 'text'),
    [
        (0.0348782, 0.01, '0.0349'),
        (6.814754, 0.0775, '6.815'),
        (1234.5678, 300.0, '1235'),
        (-1e-7, 5e-4, '0.00000'),
        (0.0348782, float('nan'), '0.0348782'),
    ],
)
def test_numbers_have_the_digits_that_their_intervals_leave(
    value: float, sigma: float, text: str
) -> None:
    assert written(value, Parameter.around('Ixx', 'kg m²', value, sigma, 2.0)) == text


def _age(text: str) -> float:
    """Return by how much a report says that forces are older than strokes [ms]."""
    age, side = re.search(r'forces are (\S+) ms (older|younger)', text).groups()
    return float(age) if side == 'older' else -float(age)


def test_a_model_that_holds_leaves_what_noise_explains(outcome: Outcome) -> None:
    assert 0.8 < outcome.fit.whole < 1.1
    assert outcome.body is not None
    assert not any(text.startswith('warning') for text in outcome.remarks)


def test_forces_that_are_older_than_the_strokes_change_nothing(
    extracted: Extracted, ex800: Platform, outcome: Outcome
) -> None:
    """A drive filters its torque: that time is found along, or an inertia would have it."""
    experiment = extracted.experiment
    older = experiment.forces - 1e-3 * np.gradient(experiment.forces, experiment.stamps, axis=0)
    late = replace(extracted, experiment=experiment.with_forces(older))

    def moved(found: Outcome) -> float:
        pairs = zip(found.parameters[:10], outcome.parameters, strict=False)
        return max(abs(item.value - one.value) / one.sigma for item, one in pairs)

    allowed = identify([late], ex800)
    assert moved(allowed) < 0.3
    said = [' '.join(item.remarks) for item in (outcome, allowed)]
    ages = [_age(text) for text in said]
    assert ages[1] - ages[0] == pytest.approx(1.0, abs=0.03)
    assert moved(identify([late], ex800, Options(force_delay=0.0))) > 1.0
    beyond = identify([late], ex800, Options(force_delay=2e-4))
    text = ' '.join(beyond.remarks)
    times = re.search(r'older than strokes, (\S+) times the 0\.2 ms allowed', text)[1]
    assert 3.0 < float(times) < 6.0
    assert beyond.body is None
    told = r'forces are \S+ ms older than strokes, 0\.2 ms is allowed for \(--force-delay\)'
    assert re.match(told, beyond.suspects)


@pytest.mark.parametrize('known', [True, False])
def test_inertias_of_younger_forces_count_only_where_the_model_was_tested(
    known: bool, extracted: Extracted, ex800: Platform
) -> None:
    """Behind a filter no model was tested, and "all ten are determined" was said of wrong ones."""
    experiment = extracted.experiment
    ahead = experiment.forces + 2e-3 * np.gradient(experiment.forces, experiment.stamps, axis=0)
    early = experiment.with_forces(ahead)
    if not known:
        early = replace(early, sensor_noise=None)

    found = identify([replace(extracted, experiment=early)], ex800, Options(terms=()))

    assert any(text.startswith('warning: forces are ') for text in found.remarks)
    assert not found.suspects
    assert found.untested is not known
    if known:
        # Then what is left of the forces would tell.
        assert found.body is not None
        return
    assert found.body is None
    assert found.unknown == ('Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
    assert found.verdict.endswith('Izz are not; the model was not tested')
    why = 'forces are younger than strokes: the model lacks rotors or friction'
    assert {item.note for item in found.parameters[4:10]} == {why}


def test_every_search_allows_for_joints_and_the_age_of_forces(
    extracted: Extracted, ex800: Platform, outcome: Outcome
) -> None:
    """Without joints in the covariance, cx would have three fifths of its interval."""
    found = identify([extracted], ex800, Options('levenberg-marquardt'))

    for item, least in zip(found.parameters, outcome.parameters, strict=True):
        assert item.value == pytest.approx(least.value, abs=1e-3 * least.sigma), item.name
        assert item.sigma == pytest.approx(least.sigma, rel=1e-6), item.name


@pytest.mark.parametrize(
    ('estimator', 'reason'),
    [
        ('consistent', 'no body that can exist explains the forces as well'),
        pytest.param('swarm', 'this is not the minimum', marks=pytest.mark.slow),
        pytest.param('least-squares', 'no body can have what was found', marks=pytest.mark.slow),
    ],
)
def test_forces_signed_the_other_way_round_give_no_body_and_no_interval(
    estimator: str, reason: str, extracted: Extracted, ex800: Platform
) -> None:
    forces = -extracted.experiment.forces
    turned = replace(extracted, experiment=extracted.experiment.with_forces(forces))

    found = identify([turned], ex800, Options(estimator))

    assert found.body is None
    assert found.payload == ()
    assert reason in ' '.join(found.remarks)
    # The sign is asked for, and nothing else is blamed.
    asked = (
        r'model misfit: least squares find a mass of -1\d\.\d+ kg: efforts have to be .*platform'
    )
    assert re.fullmatch(asked, found.verdict)
    said = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert all(said['parameters'][item.name]['interval'] is None for item in found.parameters[:10])
    page = render(found)
    assert '>nan' not in page


def test_allowed_gains_do_not_turn_forces_of_the_other_sign(
    extracted: Extracted, ex800: Platform
) -> None:
    assert ex800.masses is not None
    nothing = RigidBody(0.0, np.zeros(3), np.zeros((3, 3)))
    light = replace(ex800, masses=replace(ex800.masses, cylinder=nothing, rod=nothing))
    options, experiment = Options(terms=()), extracted.experiment
    model = options.model(light)
    forces = model.predict(model.nominal, experiment)
    noisy = forces + 0.1 * np.random.default_rng(2).normal(size=forces.shape)

    turned, kilonewtons = (
        identify(
            [replace(extracted, experiment=experiment.with_forces(factor * noisy))],
            light,
            options,
        )
        for factor in (-1.0, 1e-3)
    )

    assert turned.body is None
    assert all(not item.bounded for item in turned.parameters)
    assert 'efforts have to be positive where' in turned.verdict
    assert any('are efforts forces in N' in text for text in kilonewtons.remarks)


def test_of_what_is_wrong_the_model_comes_before_what_another_motion_would_show(
    outcome: Outcome,
) -> None:
    parameters = tuple(item.unproven('too wide') for item in outcome.parameters)
    page = render(replace(outcome, parameters=parameters, suspects='are the strokes off?'))
    first, _, wrong = page.partition('What is wrong, and what to do</h2>')
    assert '; model misfit: are the strokes off?</span>' in first
    assert wrong.index('model misfit: are the strokes off?') < wrong.index('m: too uncertain')


def test_why_a_parameter_is_not_known_stands_once(outcome: Outcome) -> None:
    mass, *others = outcome.parameters
    unknown = replace(mass, verdict=Verdict.IN_A_SUM, note='m is known only in the sum m + 2 cx')
    assert render(replace(outcome, parameters=(unknown, *others))).count('only in the sum') == 1


def test_the_first_screen_has_no_figures_of_a_body_that_does_not_hold(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('stewart_identification.report.drawing', lambda caption, *_, **__: caption)
    for found, covered, numbers in (
        (outcome, 'Estimates and intervals', ['10 of 10']),
        (
            outcome.of_another('efforts of legs 1 and 2 are exchanged'),
            'Measured',
            ['—', '0 of 10'],
        ),
    ):
        first, _, details = render(found).partition('<nav>')
        assert covered in first
        assert ('Measured (colour)' in details) is (covered != 'Measured')
        for number in numbers:
            assert f'<dd>{number}</dd>' in first


def test_no_legend_lies_on_the_curves(outcome: Outcome) -> None:
    legends = 0
    for figure in pictures(outcome).values():
        for axes in figure.axes:
            if legend := axes.get_legend():
                assert legend.get_window_extent().y0 > axes.get_window_extent().y1 - 1.0
                legends += 1
    assert legends == 4


def test_several_bags_count_as_one(
    extracted: Extracted, wave_recording: Recording, ex800: Platform, outcome: Outcome
) -> None:
    other = experiment_from(wave_recording, ex800, Extraction(rate=RATE))

    both = identify([extracted, other], ex800)

    assert both.body is not None
    assert both.parameters[0].sigma < outcome.parameters[0].sigma


def test_a_bag_given_twice_does_not_count_twice(payload_bag: Path, tmp_path: Path) -> None:
    copy = tmp_path / 'copy'
    shutil.copytree(payload_bag, copy)
    with pytest.raises(UnusableRecording, match=r'copy is the recording .*bag, it counts once'):
        run(payload_bag, copy, '--out', tmp_path / 'out')


def test_missing_leg_force_is_done_without(
    extracted: Extracted, ex800: Platform, outcome: Outcome
) -> None:
    forces = np.array(extracted.experiment.forces)
    forces[:, 2] = np.nan
    five = replace(extracted, experiment=extracted.experiment.with_forces(forces))

    found = identify([five], ex800, Options(friction='common', base_lean=0.0))

    assert abs(found.parameters[0].value - outcome.parameters[0].value) < 0.01
    # The friction of that leg is seen by nobody, and JSON has no infinite condition number.
    said = identify([five], ex800).as_dict()
    assert json.loads(json.dumps(said, allow_nan=False))['condition_number'] is None


@pytest.mark.parametrize('estimator', ['swarm', 'levenberg-marquardt'])
def test_interrupt_keeps_the_best_and_says_so(
    estimator: str, extracted: Extracted, ex800: Platform
) -> None:
    # Ctrl-C arrives as a signal, at the second iteration.
    with open(os.devnull, 'w', encoding='utf-8') as nowhere, SearchProgress(nowhere) as progress:
        progress.stage('fitting')

        def told(done: int, planned: int, best: Any, cost: float) -> bool:
            if done == 2:
                os.kill(os.getpid(), signal.SIGINT)
            return progress(done, planned, best, cost)

        found = identify([extracted], ex800, Options(estimator), progress=told)

    assert found.interrupted
    assert any('stopped after 2 iterations' in remark for remark in found.remarks)
    assert np.isfinite(found.result.parameters).all()


def test_interrupt_before_the_search_ends_everything() -> None:
    with (
        open(os.devnull, 'w', encoding='utf-8') as nowhere,
        pytest.raises(KeyboardInterrupt),
        SearchProgress(nowhere),
    ):
        os.kill(os.getpid(), signal.SIGINT)


def test_truth_stands_beside_the_estimates_where_it_is_known(
    payload_bag: Path, ex800: Platform, tmp_path: Path
) -> None:
    written = identify_bags(
        [payload_bag],
        'ex800',
        tmp_path,
        extraction=Extraction(rate=RATE),
        truth=true_values(ex800),
    )

    assert '<th class=n>true</th>' in written.report.read_text('utf-8')
    assert written.parameters == tmp_path / 'parameters.yaml'


@pytest.mark.parametrize(
    ('name', 'content', 'reason'),
    [
        ('nothing', None, 'not a bag, it does not exist'),
        ('log.txt', b'', 'not a bag, expected a directory or a file named'),
        ('bag.mcap', b'', r'not one message can be read \(.*empty'),
        ('bag.db3', b'', r'not one message can be read \('),
        ('bag.mcap', b'\0\xff' * 500, r'not one message can be read \('),
        ('bag.db3', b'\0\xff' * 500, r'not one message can be read \('),
        ('.', None, r'not a bag, it has no \.mcap and no \.db3 file'),
    ],
)
def test_what_is_no_bag_is_said_in_one_sentence(
    name: str, content: bytes | None, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((BagError, UnusableRecording), match=reason) as caught:
        run(path, '--platform', 'ex800', '--out', tmp_path / 'out')
    assert '\n' not in str(caught.value)
    assert 'rescue' not in str(caught.value)


def test_topics_of_another_name_are_read(payload_bag: Path, tmp_path: Path) -> None:
    recording = read_recording(payload_bag, {'joint_commands': '/actuator_states'})
    assert recording.commands is not None
    assert np.array_equal(recording.commands.position, recording.actuators.position)

    with pytest.raises(MissingTopic, match='/legs/measured'):
        run(
            *(payload_bag, '--platform', 'ex800', '--out', tmp_path),
            *('--topic', 'actuator_states=/legs/measured'),
        )


@pytest.mark.parametrize('content', [b'', b'\0\xff' * 500, b'a,b\n1,2\n', None])
def test_what_is_no_estimate_is_said_in_one_sentence(
    content: bytes | None, payload_bag: Path, tmp_path: Path
) -> None:
    path = tmp_path / 'estimate.csv'
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises((StewartError, IsADirectoryError), match=r'estimate\.csv') as caught:
        run(payload_bag, '--platform', 'ex800', '--estimate', path, '--out', tmp_path / 'out')
    assert '\n' not in str(caught.value)


def test_a_bag_without_permission_is_an_os_error(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip('root reads everything')
    path = tmp_path / 'bag.mcap'
    path.touch(mode=0)
    with pytest.raises(PermissionError):
        run(path, '--platform', 'ex800', '--out', tmp_path / 'out')


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['bag', '--estimate', 'x.csv'], r'--estimate: expected one bag beside it'),
        (['--estimate', 'x.csv', '--instruments'], r'--instruments: expected no --estimate'),
    ],
)
def test_bad_options_are_refused(
    words: list[str], message: str, payload_bag: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run(payload_bag, *words, '--out', tmp_path)


def test_the_platform_that_is_read_is_not_replaced(payload_bag: Path, tmp_path: Path) -> None:
    file = tmp_path / 'parameters.yaml'
    file.write_text(text := platform_path('ex800').read_text('utf-8'))
    with pytest.raises(ConfigurationError, match='output: expected another folder'):
        run(payload_bag, '--platform', file, '--out', tmp_path)
    assert file.read_text('utf-8') == text


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['--level', '2'], "--level: expected a decimal number from 0.5 to 0.999999, got '2'"),
        (['--passband', '0'], "--passband: expected a decimal number from 0.1 to 100, got '0'"),
        (['--seed', '-1'], "--seed: expected an integer of at least 0, got '-1'"),
        (['--out', __file__], 'expected a folder that can be written'),
    ],
)
def test_bad_values_are_usage_errors(words: list[str], message: str, capsys: Any) -> None:
    with pytest.raises(SystemExit, match='2'):
        run('bag', *words)
    assert message in capsys.readouterr().err
