# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart excite`` writes a motion that the node plays, and the same one from the same seed."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
import json
import os
from pathlib import Path
import signal
from typing import Any

from courier import Courier
import numpy as np
import pytest
from stewart_identification.errors import ConfigurationError
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.verbs import excite as verb
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import check
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories import Faded
from stewart_kinematics.trajectories.multi_sine import from_yaml
from typed_words import typed

run = partial(typed, verb)
SMALL = ('--platform', 'ex800', '--particles', '4', '--iterations', '3')


def said(capsys: Any, *words: object) -> dict[str, Any]:
    assert run(*SMALL, '--json', *words) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_what_is_written_is_what_the_node_plays_and_repeats_from_its_seed(
    tmp_path: Path, ex800: Platform, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / name for name in ('one.yaml', 'two.yaml', 'other.yaml')]
    found = [said(capsys, '--seed', '1', '-o', paths[0])]
    # Somewhere else: not in fresh processes, which take seconds to begin.
    courier = Courier()
    monkeypatch.setattr(verb, 'executor_of', lambda *_: nullcontext(courier))
    found += [
        said(capsys, '--seed', seed, '-o', path)
        for seed, path in zip((1, 2), paths[1:], strict=True)
    ]
    assert courier.count == 6

    # As `excitation_trajectory` does it, with its default fades.
    home = ex800.geometry.neutral_pose
    motion = from_yaml(paths[0], home)
    check(Faded(motion, home, 3.0, 3.0, 30.0), MotionGuard(ex800), horizon=120.0)
    assert paths[0].read_bytes() == paths[1].read_bytes() != paths[2].read_bytes()
    assert found[0]['least_margin'] > 0.0
    assert set(found[0]['bounds']) == {
        'm',
        'hx',
        'hy',
        'hz',
        'Ixx',
        'Ixy',
        'Ixz',
        'Iyy',
        'Iyz',
        'Izz',
    }
    # What `identify` allows the forces' scale decides it: ten times what noise alone would.
    assert 0.02 < found[0]['bounds']['m'] < 0.05
    assert '--seed 1' in paths[0].read_text('utf-8')


def test_interrupt_keeps_the_best_and_says_so(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    minimise = Swarm.minimise

    def interrupted(self: Swarm, costs: Any, *arguments: Any) -> Any:
        calls = []

        def told(positions: Any) -> Any:
            calls.append(len(positions))
            if len(calls) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return costs(positions)

        return minimise(self, told, *arguments)

    monkeypatch.setattr(Swarm, 'minimise', interrupted)
    path = tmp_path / 'motion.yaml'

    assert run(*SMALL, '--iterations', '1000', '-o', path) == 0

    written = capsys.readouterr()
    assert 'stopped, this is the best found until then' in written.err
    assert 'least standard deviations after one period' in written.out
    assert np.isfinite(
        from_yaml(path, Platform.from_yaml('ex800').geometry.neutral_pose).amplitude
    ).all()


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['--harmonics', '2', '2'], r'harmonics: expected different .* got \(2, 2\)'),
        (['--harmonics', '100'], r'harmonics: expected different .* got \(100,\)'),
        (
            ['--duration', '0.01'],
            'harmonics: expected different integers from 1 to below 0.1, 10 Hz',
        ),
    ],
)
def test_bad_options_are_refused(words: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run(*SMALL, '-o', tmp_path / 'motion.yaml', *words)
    assert not (tmp_path / 'motion.yaml').exists()


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['--seed', '-1'], "--seed: expected an integer of at least 0, got '-1'"),
        (['--harmonics', '0'], "--harmonics: expected a whole number of at least 1, got '0'"),
        (['--workers', '1000000'], '--workers: expected a whole number from 1 to '),
        (['--noise', '0'], "--noise: expected a number above 0, got '0'"),
        (['--duration', 'inf'], "--duration: expected a number above 0, up to 3600, got 'inf'"),
        (['-o', 'no/motion.yaml'], "expected a file that can be written, got 'no/motion.yaml'"),
    ],
)
def test_bad_values_are_usage_errors(words: list[str], message: str, capsys: Any) -> None:
    with pytest.raises(SystemExit, match='2'):
        run(*SMALL, *words)
    assert message in capsys.readouterr().err
