# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Forces are compared at the setpoint that was executed, and only where both are known."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from stewart_bringup.demo.tracking import compare_forces


def test_the_delay_of_the_drives_is_taken_out(synthetic: SimpleNamespace) -> None:
    recording = synthetic.recording(delay=0.03)

    forces = compare_forces(recording.efforts, recording.actuators, 0.03)

    assert forces is not None
    moving = forces.time > 0.05
    assert np.abs(forces.delivered - forces.commanded)[moving].max() < 1e-3


def test_what_the_drives_add_is_left_over(synthetic: SimpleNamespace) -> None:
    recording = synthetic.recording(delay=0.03, friction=2.5)

    forces = compare_forces(recording.efforts, recording.actuators, 0.03)

    assert forces is not None
    assert forces.difference == pytest.approx((2.5, 2.5), abs=1e-2)


def test_without_feed_forward_there_is_nothing_to_compare(synthetic: SimpleNamespace) -> None:
    recording = synthetic.recording()

    assert compare_forces(None, recording.actuators, 0.03) is None


def test_without_measured_forces_there_is_nothing_to_compare(synthetic: SimpleNamespace) -> None:
    recording = synthetic.recording()
    blind = replace(recording.actuators, effort=np.full_like(recording.actuators.effort, np.nan))

    assert compare_forces(recording.efforts, blind, 0.03) is None
