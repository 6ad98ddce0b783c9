# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, cast

import numpy as np
from stewart_identification.choice import Chosen
from stewart_identification.evidence import Evidence
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import (
    identifiability,
    judge,
    Verdict,
)
from stewart_identification.models.platform import PlatformModel
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml


def test_a_slow_wave_is_told_apart_from_a_lively_motion():
    platform = Platform.from_yaml('ex800')
    model = PlatformModel.from_platform(platform)
    home, time = platform.geometry.neutral_pose, 0.01 * np.arange(1000)
    found = {}
    for name in ('ex800_wave', 'ex800_identification'):
        motion = from_yaml(name, home).sample(time)
        experiment = Experiment(time, motion, np.zeros((1000, 6)), noise=np.full(6, 0.58))
        found[name] = identifiability(model, experiment)
    lively, wave = found['ex800_identification'], found['ex800_wave']
    assert set(lively.verdicts) == {Verdict.IDENTIFIABLE}
    assert wave.condition_number > 1e5 > 1e3 * lively.condition_number / 10.0
    verdicts = dict(zip(wave.names, wave.verdicts, strict=True))
    assert verdicts['m'] is verdicts['hx'] is Verdict.IDENTIFIABLE
    unknown = {verdicts[name] for name in ('hz', 'Ixx', 'Iyy', 'Izz', 'Ixy')}
    assert Verdict.IDENTIFIABLE not in unknown
    assert wave.sigmas[wave.names.index('Izz')] > 1.0


def test_a_term_is_not_said_to_be_identified_where_no_number_of_it_is():
    """Of all six values "not shown by this motion" was said below."""
    names = tuple(f'{term}_{leg}' for term in ('stribeck_5mm', 'load') for leg in range(1, 7))
    found = judge(np.diag([1.0] * 6 + [100.0] * 6), names, np.ones(12), least=10.0)
    taken = tuple(Evidence(name, 40.0, 6, -20.0) for name in ('stribeck_5mm', 'load', 'rotor'))
    unused = cast('Any', None)

    said = list(Chosen(unused, unused, taken, (), 0).remarks(found))

    dark = ['though this motion tells none of its values' in text for text in said]
    assert dark == [True, False, False]


def test_a_sum_of_three_equal_columns_reads_as_one():
    column = np.arange(1.0, 6.0)[:, None]
    matrix = np.hstack([column, column, column, np.ones((5, 1)), np.zeros((5, 1))])
    found = judge(matrix, ('a', 'b', 'c', 'd', 'e'), np.ones(5))
    assert [c.expression for c in found.combinations] == ['a + b + c', 'd']
    assert found.sums == ('a + b + c',) * 3 + ('', '')
    assert found.verdicts[3:] == (Verdict.IDENTIFIABLE, Verdict.UNIDENTIFIABLE)
    assert found.condition_number == np.inf
