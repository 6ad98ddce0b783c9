# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The study of guard and forward kinematics, small, and that it sees a guard that is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / 'benchmarks'))


@pytest.mark.parametrize('name', ['vigo', 'sg90_rotary', 'hexaglide_3d_mec'])
def test_nothing_forbidden_is_admitted_and_no_pose_is_silently_wrong(name: str) -> None:
    import guard_and_forward as study

    subject, rng = study.Subject(name), np.random.default_rng(1)
    row = {
        'platform': name,
        'guard': study.guard_at_random(subject, 2000, rng),
        'search': study.guard_attacked(subject, 1000, rng),
        'forward': study.forward_at_random(subject, 500, rng),
        'errors': study.forward_attacked(subject, 300, rng),
    }
    assert study.faults([{'platforms': [row]}]) == []
    assert row['guard']['admitted'] > 100
    assert row['guard']['refused within all limits'] == 0
    assert row['forward']['assured'] > 20


@pytest.mark.parametrize(
    'limit',
    [
        'rate',
        'acceleration',
        'base_joint_angle',
        'platform_joint_angle',
        'angular_velocity',
        'linear_acceleration',
        'pressure_angle',
    ],
)
def test_a_guard_that_forgot_a_limit_is_found_out(limit: str) -> None:
    import guard_and_forward as study
    from plain_judge import Judge

    subject, rng = study.Subject('sg90_rotary'), np.random.default_rng(2)
    limits = subject.platform.limits
    strict = replace(limits, **{limit: 0.6 * getattr(limits, limit)})
    subject.judge = Judge(replace(subject.platform, limits=strict))
    assert study.guard_at_random(subject, 2000, rng)['beyond a limit'] > 0
