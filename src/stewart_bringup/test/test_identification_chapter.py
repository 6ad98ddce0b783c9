# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo's last chapter: what it plays, what it asks, how the page tells it."""

from __future__ import annotations

from pathlib import Path
import re
from types import SimpleNamespace
from typing import Any

import pytest
from stewart_bringup.demo.analysis import analyse, Result
from stewart_bringup.demo.identification import (
    excitation,
    find,
    Followed,
    judge,
    loaded,
    LoadedScenario,
    truth,
    waves,
)
from stewart_bringup.demo.report import render
from stewart_bringup.demo.scenarios import Bounds, ends_with_identification
from stewart_identification.identifiability import Verdict
from stewart_identification.outcome import Parameter
from stewart_kinematics.model.platform import Platform

BEFORE, AFTER = Followed(30e-6, 4.4), Followed(18e-6, 0.8)


@pytest.mark.parametrize(
    ('options', 'wanted'),
    [
        ((None, None, None), True),
        (('ex800', None, 'simulated'), True),
        (('vigo', None, None), False),
        ((None, 'eq18', None), False),
        (('ex800', None, 'daq'), False),
    ],
)
def test_the_chapter_ends_the_whole_demo_and_that_of_the_ex800(
    options: tuple[str | None, str | None, str | None], wanted: bool
) -> None:
    assert ends_with_identification(*options) is wanted


def test_only_feed_forward_hears_of_what_was_found() -> None:
    names = [scenario.name for scenario in loaded()]
    wrong, right = (scenario.overrides() for scenario in waves('found.yaml'))

    assert len(set(names)) == 3
    assert excitation().overrides()['excitation_trajectory'] == {'motion': 'ex800_identification'}
    assert wrong.pop('feed_forward') == {'platform': 'ex800'}
    assert right.pop('feed_forward') == {'platform': 'found.yaml'}
    assert wrong == right
    assert right['driver']['simulated.payload_mass'] == 2.0


def test_the_truth_is_the_plate_with_the_payload() -> None:
    known = truth()
    masses = Platform.from_yaml('ex800').masses
    assert masses is not None
    plate = masses.platform

    assert known['m'] == pytest.approx(plate.mass + 2.0)
    both = plate.mass * plate.centre_of_mass[1] - 2.0 * 0.03
    assert known['cy'] == pytest.approx(both / known['m'])
    assert known['Ixx'] > plate.inertia[0, 0]


def outcome(unknown: tuple[str, ...] = (), far: float = 1.0) -> Any:
    """Return ten estimates, each `far` standard deviations too large."""
    parameters = tuple(
        Parameter(
            name,
            'kg',
            value + far * 1e-4,
            1e-4,
            value + (far - 2.0) * 1e-4,
            value + (far + 2.0) * 1e-4,
            value,
            Verdict.UNIDENTIFIABLE if name in unknown else Verdict.IDENTIFIABLE,
        )
        for name, value in truth().items()
    )
    said = f'{10 - len(unknown)} of the ten parameters are determined'
    return SimpleNamespace(parameters=parameters, unknown=unknown, verdict=said)


def a_run(synthetic: SimpleNamespace) -> Result:
    made = synthetic.recording(duration=4.0)
    return analyse(made, made.counts, Bounds())


@pytest.mark.parametrize(
    ('changes', 'broken'),
    [
        ({}, []),
        ({'outcome': outcome(('Izz',))}, ['parameters that are not determined']),
        ({'outcome': outcome(far=5.0)}, ['farthest from the truth, in standard deviations']),
        ({'of_wave': outcome()}, ["parameters that the wave's bag does not determine"]),
        (
            {'identified': BEFORE},
            [
                'following error with what was found',
                'force that feed-forward leaves with what was found',
            ],
        ),
    ],
)
def test_the_chapter_fails_by_name(
    synthetic: SimpleNamespace, changes: dict[str, Any], broken: list[str]
) -> None:
    given = {
        'outcome': outcome(),
        'of_wave': outcome(('Ixx', 'Ixy')),
        'described': BEFORE,
        'identified': AFTER,
    }
    found = judge(**{**given, **changes}, true=truth(), played=[a_run(synthetic)])

    assert [check.name for check in found.checks if not check.held] == broken
    assert found.failed is bool(broken)


def test_the_page_puts_estimates_beside_the_truth_and_fetches_nothing(
    synthetic: SimpleNamespace,
) -> None:
    of_wave = outcome(('Ixx', 'Ixy'))
    found = judge(outcome(('Izz',)), of_wave, truth(), BEFORE, AFTER, [a_run(synthetic)])

    page = render([found], {})

    assert 'FAILED: identification' in page
    mass = '<td class=s>m</td><td class=n>kg</td><td class=n>8.8369</td><td class=n>8.837</td>'
    assert mass in page
    assert '<td class=n>—</td><td class=n>—</td><td class=n>unidentifiable</td>' in page
    assert '8 of the ten parameters are determined' in page
    assert '<td class=n>30.0</td><td class=n>4.40</td>' in page
    assert not re.search('href="(?!#)', page)
    assert 'src=' not in page


def test_a_request_to_stop_ends_the_chapter(tmp_path: Path) -> None:
    asked: list[LoadedScenario] = []

    assert find(asked.append, tmp_path, lambda *_: None) is None  # type: ignore[arg-type]
    assert [scenario.label for scenario in asked] == ['excitation']
