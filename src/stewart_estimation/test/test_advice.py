# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faulty lengths and drifting biases are called so, and what is advised mends them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stewart_estimation.advice import advise
from stewart_estimation.consistency import assess, Consistency
from stewart_estimation.samples import LegSeries
from stewart_estimation.settings import FilterSettings, settings_for
from stewart_kinematics.model.platform import Platform
from typed_verbs import NOISE, simulated_run, stewart, write_tables


@pytest.mark.parametrize(
    ('mends', 'options'),
    [
        (lambda s: bool(s.imu_noise.gyroscope_walk[0] > 5e-4), ('--bias-walk', '0.01', '0.001')),
        (lambda s: s.gate is not None, ('--gate',)),
    ],
)
def test_what_mends_is_advised_and_nothing_beside(mends, options) -> None:
    rng = np.random.default_rng(1)
    good, bad = rng.normal(size=(2, 1000, 6))
    bad += np.cumsum(rng.normal(size=(1000, 6)), axis=0)

    def judge(settings: FilterSettings) -> Consistency:
        z = good if mends(settings) else bad
        used = np.ones_like(z, dtype=bool)
        return assess(z, np.ones_like(z), (z**2).sum(axis=1), used)

    settings = settings_for(Platform.from_yaml('srs'))
    advice = advise(settings, judge(settings), judge)
    assert advice is not None
    assert advice.found.held
    assert advice.options == options


def test_a_gate_that_leaves_nothing_to_judge_is_no_advice() -> None:
    """It was the whole answer: fewer rows than it takes, and no verdict at all."""
    z = np.cumsum(np.random.default_rng(1).normal(size=(1000, 6)), axis=0)

    def judge(settings: FilterSettings) -> Consistency:
        used = np.full(z.shape, settings.gate is None)
        return assess(z, np.ones_like(z), (z**2).sum(axis=1), used)

    settings = settings_for(Platform.from_yaml('srs'))
    advice = advise(settings, judge(settings), judge)
    assert advice is None or '--gate' not in advice.options


def test_lengths_that_jump_are_a_case_for_the_gate(tmp_path, capsys) -> None:
    run = simulated_run()
    lengths = np.array(run.legs.lengths)
    lengths[[300, 500, 700, 900], [0, 2, 4, 1]] += 0.02
    tables = write_tables(replace(run, legs=LegSeries(run.legs.stamps, lengths)), tmp_path)
    words = ['--imu', str(tables[0]), '--legs', str(tables[1]), '--platform', 'srs', *NOISE]
    assert stewart(['estimate', *words]) == 1
    assert 'lengths jump 4 times (--gate' in capsys.readouterr().err
    assert stewart(['estimate', *words, '--gate']) == 0
