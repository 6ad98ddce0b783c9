# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Latency of a chain whose delay is known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from stewart_bringup.demo.tracking import latencies

PERIOD = 0.005


@pytest.mark.parametrize('delay', [0.012, 0.031])
def test_latency_is_delay_rounded_up_to_a_sample_plus_the_way_back(
    synthetic: SimpleNamespace, delay: float
) -> None:
    made = synthetic.recording(delay=delay)
    expected = np.ceil(delay / PERIOD) * PERIOD + synthetic.HOP / 1e9

    found = latencies(made.commands, made.actuators)

    # Where the wave turns within the delay its mirror image is nearer; the median is not there.
    assert np.median(found.executed) == pytest.approx(expected, abs=1e-9)
    assert found.executed.max() <= expected + PERIOD
    # Only the last setpoints are followed by too little recording.
    assert found.unreached <= np.ceil(delay / PERIOD)


def test_latency_of_the_command_is_two_hops(synthetic: SimpleNamespace) -> None:
    made = synthetic.recording()

    assert latencies(made.commands, made.actuators).commanded == pytest.approx(
        2 * synthetic.HOP / 1e9
    )


def test_missing_states_lengthen_the_latency_of_the_setpoints_concerned(
    synthetic: SimpleNamespace,
) -> None:
    made = synthetic.recording(delay=0.03, gap=(400, 420))
    whole = latencies(
        synthetic.recording(delay=0.03).commands, synthetic.recording(delay=0.03).actuators
    )

    found = latencies(made.commands, made.actuators)

    assert np.median(found.executed) == pytest.approx(np.median(whole.executed))
    assert found.executed.max() > whole.executed.max() + 15 * PERIOD


def test_platform_that_does_not_follow_is_unreached(synthetic: SimpleNamespace) -> None:
    made = synthetic.recording(duration=0.4, delay=10.0)

    found = latencies(made.commands, made.actuators)

    # The first setpoint is where the platform stands.
    assert len(found.executed) == 1
    assert found.unreached == len(made.commands) - found.slow - 1


def test_slow_setpoints_are_counted_and_left_out(synthetic: SimpleNamespace) -> None:
    made = synthetic.recording()

    found = latencies(made.commands, made.actuators)

    # |cos| is below 0.3 of its root mean square for 13.6 % of a period.
    assert found.slow / len(made.commands) == pytest.approx(0.136, abs=0.01)
    assert found.slow + len(found.executed) + found.unreached == len(made.commands)
