# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How near to its target a platform has to be, and how far from it is not there."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.arrival import Arrival
from stewart_kinematics.nodes.start_pose import NotReady, StartPose

SENT = Pose.from_rpy([0.1, 0.2, 1.0], [0.1, 0.0, 0.0])
CRANK = 0.015  # radius of a sg90_rotary's [m]


@pytest.mark.parametrize(
    ('name', 'travel'),
    [('vigo', 0.6), ('hexaglide_3d_mec', 1.0), ('sg90_rotary', CRANK * math.radians(160.0))],
)
def test_travel_is_the_way_that_a_leg_has(name: str, travel: float) -> None:
    assert load_platform(name).travel == pytest.approx(travel)


def arrival(name: str, away: float, way: float = 0.3) -> Arrival:
    """Return that of a platform which rests so far from its target, long after it was sent."""
    here = Pose(np.add(SENT.position, [0.0, away, 0.0]), SENT.quaternion_xyzw)
    looks = iter(range(0, 10**10, 10**9))
    start_pose: Any = SimpleNamespace(
        travel=load_platform(name).travel,
        over=lambda _: True,
        measured_since=lambda _: (next(looks), here),
    )
    start_pose.far = StartPose.far.fget(start_pose)  # type: ignore[attr-defined]
    begun = Pose(np.add(SENT.position, [0.0, way, 0.0]), SENT.quaternion_xyzw)
    return Arrival(start_pose, begun, SENT, 0)


@pytest.mark.parametrize(
    ('name', 'near', 'far'), [('vigo', 1e-3, 0.02), ('sg90_rotary', 2.6e-4, 5.2e-3)]
)
def test_a_small_platform_has_to_be_nearer(name: str, near: float, far: float) -> None:
    assert arrival(name, 0.95 * near).over()
    # Once it is known to rest.
    beside = arrival(name, 1.05 * near)
    assert not beside.over()
    assert beside.over()
    elsewhere = arrival(name, 1.05 * far)
    assert not elsewhere.over()
    with pytest.raises(NotReady, match=r'mm and 0\.0° from the target'):
        elsewhere.over()
    within = arrival(name, 0.95 * far)
    assert not within.over()
    assert within.over()


@pytest.mark.parametrize(
    ('way', 'away', 'there'),
    [
        # Nothing has moved, or little.
        (0.01, 0.01, False),
        (0.01, 0.006, False),
        (0.0015, 0.0015, False),
        # Soft drives rest beside their targets.
        (0.01, 0.004, True),
        (0.0, 0.004, True),
    ],
)
def test_a_short_way_is_gone_if_half_of_it_is(way: float, away: float, there: bool) -> None:
    """With legs that stood still, every move of up to 20 mm had reached its target."""
    found = arrival('vigo', away, way)
    assert not found.over()
    if there:
        assert found.over()
    else:
        with pytest.raises(NotReady, match='the driver has not followed'):
            found.over()
