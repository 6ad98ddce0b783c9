# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo fails loudly, each time for the one reason there is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from stewart_bringup.demo.analysis import analyse, Result, summary
from stewart_bringup.demo.recording import Recording
from stewart_bringup.demo.scenarios import Bounds

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

    rows = summary(analyse(made, made.counts, BOUNDS).tracking)

    assert rows['attitude, along the path [°]'][1] == pytest.approx(np.degrees(1e-3), rel=1e-3)
    assert rows['strokes, same instant [mm]'][0] == pytest.approx(1.0, rel=1e-2)
