# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions that no pose asks for: a crank or a carriage is past its dead centre."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.errors import ConvergenceError
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import (
    forward_batch_from_positions,
    forward_from_positions,
    forward_twist,
    ForwardStatus,
)
from stewart_kinematics.solvers.inverse import leg_positions

# Within the range of its cranks; that of leg 3 was turned by hand.
TURNED = np.radians([78.4, 61.7, 79.9, 72.6, 26.8, -31.2])


def test_a_crank_past_its_dead_centre_is_told() -> None:
    """Its rates gave a twist of the opposite sign, and a jog moved it the wrong way."""
    geometry = load_platform('sg90_rotary').geometry
    found = forward_from_positions(geometry, TURNED)

    assert found.status is ForwardStatus.PAST_DEAD_CENTRE
    assert 'past its dead centre' in found.reason
    with pytest.raises(ConvergenceError, match='past its dead centre'):
        forward_twist(geometry, found, np.eye(6)[2])


@pytest.mark.parametrize('name', ['sg90_rotary', 'hexaglide_3d_mec'])
def test_what_converged_has_the_positions_asked_for(name: str) -> None:
    platform = load_platform(name)
    lower, upper = platform.limits.stroke.T
    asked: Array = np.random.default_rng(1).uniform(lower, upper, (2000, 6))
    if name == 'hexaglide_3d_mec':
        # Rods of 1 m: carriages that are far apart have no pose.
        asked = asked.mean(axis=1, keepdims=True) + 0.2 * (asked - asked.mean(axis=1)[:, None])
    found = forward_batch_from_positions(platform.geometry, asked)
    sure = np.asarray(found.converged)
    back = leg_positions(platform.geometry, found.position[sure], found.quaternion_xyzw[sure])

    assert sure.sum() > 100
    np.testing.assert_allclose(back, asked[sure], rtol=0.0, atol=1e-6)
