# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tracking errors of a motion that is wrong by a known amount."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from stewart_bringup.demo.tracking import largest, root_mean_square, track, Tracking


def tracked(synthetic: SimpleNamespace, **wrong: float) -> Tracking:
    made = synthetic.recording(**wrong)
    return track(made.setpoints, made.commands, made.actuators, made.poses)


@pytest.mark.parametrize('delay', [0.0123, 0.03, 0.11])
def test_constant_delay_is_found_and_leaves_no_error_along_the_path(
    synthetic: SimpleNamespace, delay: float
) -> None:
    tracking = tracked(synthetic, delay=delay)

    assert tracking.delay == pytest.approx(delay, abs=1e-5)
    assert largest(tracking.path.position) < 1e-6
    assert np.abs(tracking.path.strokes).max() < 1e-6


def test_delay_is_an_error_at_the_same_instant(synthetic: SimpleNamespace) -> None:
    tracking = tracked(synthetic, delay=0.03)
    # sin(a) - sin(a - d) swings with 2 sin(d/2).
    expected = 2 * synthetic.AMPLITUDE * np.sin(synthetic.OMEGA * 0.03 / 2)

    assert largest(tracking.instant.position) == pytest.approx(expected, rel=1e-3)


def test_offset_and_tilt_stay_when_the_delay_is_taken_out(synthetic: SimpleNamespace) -> None:
    tracking = tracked(synthetic, delay=0.03, offset=1e-3, tilt=2e-3)

    assert tracking.path.position[:, 2].mean() == pytest.approx(1e-3, rel=1e-2)
    assert tracking.path.rotation[:, 0] == pytest.approx(-2e-3, rel=1e-6)
    assert root_mean_square(tracking.path.rotation) == pytest.approx(2e-3, rel=1e-6)


def test_only_instants_with_a_setpoint_count(synthetic: SimpleNamespace) -> None:
    tracking = tracked(synthetic, delay=0.03, duration=5.0)

    assert tracking.pose_time.min() >= 0.03
    assert len(tracking.pose_time) == len(tracking.path.position)
    assert len(tracking.stroke_time) == len(tracking.path.strokes)


def test_repeated_stamps_are_survived(synthetic: SimpleNamespace) -> None:
    made = synthetic.recording(delay=0.03)
    for series in (made.setpoints, made.commands):
        series.stamp_ns[100] = series.stamp_ns[99]

    tracking = track(made.setpoints, made.commands, made.actuators, made.poses)

    assert tracking.delay == pytest.approx(0.03, abs=1e-4)


def test_wave_of_the_recording_is_what_it_says(synthetic: SimpleNamespace) -> None:
    made = synthetic.recording(delay=0.0)

    assert made.poses.position[:, 2] == pytest.approx(
        synthetic.wave(made.poses.seconds(made.setpoints.stamp_ns[0]))
    )
