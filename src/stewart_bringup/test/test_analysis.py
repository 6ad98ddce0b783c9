# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo fails loudly, each time for the one reason there is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stewart_bringup.demo.analysis import analyse, Result, summary
from stewart_bringup.demo.machine import Machine
from stewart_bringup.demo.recording import Recording
from stewart_bringup.demo.scenarios import Bounds
from stewart_kinematics.model.leg_kinds import ROTARY

BOUNDS = Bounds(path_position=1e-3, path_rotation=1e-3, latency=0.05)


def broken(result: Result) -> list[str]:
    return [check.name for check in result.checks if not check.held]


def whole(made: Recording) -> Recording:
    """Let the actuators be recorded for longer than the setpoints, as in life."""
    cut = slice(0, -20)
    setpoints, commands = made.setpoints, made.commands
    fields = ('bag_time_ns', 'stamp_ns', 'position')
    more = ('quaternion_xyzw', 'linear_velocity', 'angular_velocity')
    return replace(
        made,
        setpoints=replace(
            setpoints, **{name: getattr(setpoints, name)[cut] for name in (*fields, *more)}
        ),
        commands=replace(
            commands, **{name: getattr(commands, name)[cut] for name in (*fields, 'velocity')}
        ),
    )


def test_good_recording_passes(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording())

    result = analyse(made, made.counts, BOUNDS)

    assert broken(result) == []
    assert result.passed


def test_lost_message_is_named(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording())
    published = {**made.counts, '/setpoint': made.counts['/setpoint'] + 2}

    result = analyse(made, published, BOUNDS)

    assert broken(result) == ['lost messages']
    assert result.checks[0].found == '2 of /setpoint'


def test_topic_that_is_not_in_the_bag_at_all_is_lost(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording())

    result = analyse(made, {**made.counts, '/platform/tracking_error': 7}, BOUNDS)

    assert result.checks[0].found == '7 of /platform/tracking_error'


def test_the_diagnostics_of_another_rig_are_no_match_either_and_nothing_is_lost(
    synthetic: SimpleNamespace,
) -> None:
    made = whole(synthetic.recording())
    topic = '/diagnostics'

    heard = replace(made, counts={**made.counts, topic: 40})
    assert broken(analyse(heard, {**made.counts, topic: 3}, BOUNDS)) == []
    assert broken(analyse(heard, {**made.counts, topic: 41}, BOUNDS)) == ['lost messages']


def test_message_that_nobody_published_is_no_match_either(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording())

    result = analyse(replace(made, counts={**made.counts, '/other': 3}), made.counts, BOUNDS)

    assert broken(result) == ['lost messages']


def test_low_rate_is_found_by_topic(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording(gap=(400, 520)))

    result = analyse(made, made.counts, replace(BOUNDS, latency=1.0))

    assert 'rate of /actuator_states' in broken(result)
    assert 'rate of /setpoint' not in broken(result)


@pytest.mark.parametrize(
    ('wrong', 'name'),
    [
        ({'offset': 2e-3}, 'path error, position, max'),
        ({'offset': 2e-3}, 'path error, position, median'),
        ({'tilt': 2e-3}, 'path error, attitude, max'),
        ({'delay': 0.07}, 'end-to-end latency, p99'),
    ],
)
def test_bound_that_is_left_is_named(
    synthetic: SimpleNamespace, wrong: dict[str, float], name: str
) -> None:
    made = whole(synthetic.recording(**wrong))

    assert name in broken(analyse(made, made.counts, BOUNDS))


def test_driver_fault_is_told_with_its_reason(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording(states=lambda: ([2, 4], ['', 'leg 3 is stuck'])))

    result = analyse(made, made.counts, BOUNDS)

    assert broken(result) == ['driver faults']
    assert result.checks[-1].found == 'leg 3 is stuck'


def test_summary_is_in_millimetres_and_degrees(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording(delay=0.0, offset=1e-3, tilt=1e-3))

    rows = summary(analyse(made, made.counts, BOUNDS))

    assert rows['attitude, along the path [°]'][1] == pytest.approx(np.degrees(1e-3), rel=1e-3)
    assert rows['strokes, same instant [mm]'][0] == pytest.approx(1.0, rel=1e-2)


def test_summary_has_the_angles_of_cranks_in_degrees(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording(delay=0.0, offset=1e-3))

    rows = summary(analyse(made, made.counts, BOUNDS, kind=ROTARY))

    found = rows['crank angles, same instant [°]'][0]
    assert found == pytest.approx(np.degrees(1e-3), rel=1e-2)


PUNCTUAL, LATE = Machine(1e-4, 9e-4), Machine(3e-3, 40e-3, 3000, 17, 35e-3)


@pytest.mark.parametrize('machine', [PUNCTUAL, LATE])
def test_rates_and_latency_are_reported_and_end_nothing(
    synthetic: SimpleNamespace, machine: Machine
) -> None:
    made = whole(synthetic.recording(gap=(400, 440)))
    asked = replace(BOUNDS, latency=1e-3, least_rate_share=0.99)

    result = analyse(made, made.counts, asked, machine)

    assert result.passed
    verdicts = {check.name: check.verdict for check in result.checks}
    assert verdicts['rate of /actuator_states'] == 'not kept'
    assert verdicts['end-to-end latency, p99'] == 'not kept'


@pytest.mark.parametrize(('machine', 'verdict'), [(PUNCTUAL, 'FAILED'), (LATE, 'not kept')])
def test_only_a_machine_that_was_late_is_an_excuse_for_the_path(
    synthetic: SimpleNamespace, machine: Machine, verdict: str
) -> None:
    made = whole(synthetic.recording(delay=0.0, blip=3e-3))

    checks = analyse(made, made.counts, BOUNDS, machine).checks

    found = {check.name: check.verdict for check in checks}
    assert found['path error, position, median'] == 'held'
    assert found['path error, position, max'] == verdict


@pytest.mark.parametrize(
    'wrong',
    [
        {'offset': 2e-3},
        {'states': lambda: ([2, 4], ['', 'leg 3 is stuck'])},
    ],
)
def test_wrong_physics_and_faults_are_no_matter_of_time(
    synthetic: SimpleNamespace, wrong: dict[str, Any]
) -> None:
    made = whole(synthetic.recording(**wrong))

    assert not analyse(made, made.counts, BOUNDS, LATE).passed


def test_a_late_machine_excuses_no_lost_message(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording())
    published = {**made.counts, '/setpoint': made.counts['/setpoint'] + 1}

    assert not analyse(made, published, BOUNDS, LATE).passed


def test_a_stop_because_commands_came_late_is_excused(synthetic: SimpleNamespace) -> None:
    said = 'no command in time while moving (100 ms waited)'
    made = whole(synthetic.recording(states=lambda: ([2, 4], ['', said])))

    assert analyse(made, made.counts, BOUNDS, LATE).passed
    assert not analyse(made, made.counts, BOUNDS, PUNCTUAL).passed


def test_in_simulated_time_one_missing_message_is_too_many(synthetic: SimpleNamespace) -> None:
    exact = replace(BOUNDS, real_time=False)
    good, bad = (whole(synthetic.recording(gap=gap)) for gap in (None, (400, 401)))

    assert broken(analyse(good, good.counts, exact)) == []
    assert 'rate of /actuator_states' in broken(analyse(bad, bad.counts, exact))


def test_a_failed_check_says_by_how_much_and_what_it_means(synthetic: SimpleNamespace) -> None:
    made = whole(synthetic.recording(offset=2e-3))

    check = next(c for c in analyse(made, made.counts, BOUNDS).checks if c.failed)

    assert check.excess.endswith('mm too much')
    assert check.excess in check.sentence
    assert 'left the path' in check.meaning
