# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the machine that is estimated live: where its IMU sits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stewart_estimation.machine import load_machine
from stewart_kinematics.errors import ConfigurationError


def test_the_imu_sits_where_it_is_said_and_else_where_the_platform_says() -> None:
    stated = load_machine('ex800')
    np.testing.assert_allclose(stated.imu.position, [0.0, 0.0, 0.01])
    moved = load_machine('ex800', [0.1, 0.0, 0.02])
    np.testing.assert_allclose(moved.imu.position, [0.1, 0.0, 0.02])
    np.testing.assert_allclose(moved.imu.rotation, np.eye(3))
    turned = load_machine('ex800', imu_rpy_deg=[0.0, 0.0, 90.0])
    np.testing.assert_allclose(turned.imu.position, stated.imu.position)
    np.testing.assert_allclose(turned.imu.rotation[:, 0], [0.0, 1.0, 0.0], atol=1e-12)


def test_half_a_place_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r'imu_rpy_deg: expected three numbers or none'):
        load_machine('ex800', imu_rpy_deg=[90.0])


def test_angles_alone_say_no_place_where_the_platform_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bare = replace(load_machine('ex800'), imu=None)
    monkeypatch.setattr('stewart_estimation.machine.load_platform', lambda _: bare)
    with pytest.raises(ConfigurationError, match=r'imu_position: expected where the IMU sits'):
        load_machine('ex800', imu_rpy_deg=[0.0, 0.0, 90.0])
    placed = load_machine('ex800', [0.1, 0.0, 0.0])
    np.testing.assert_allclose(placed.imu.rotation, np.eye(3))
