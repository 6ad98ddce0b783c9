# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The guard refuses what breaks a limit, names it, and lets the rest pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import itertools
import math
import re

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError, MotionRefused, Violation
from stewart_kinematics.kernels.guard import first_outside, segment_distance
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Limits, Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.solvers.jacobian import condition_number, jacobian

NAMES = ('ex800', 'ps6tl_1500', 'srs', 'vigo')


def neutral(platform: Platform, **changes: object) -> Motion:
    """Return rest at the neutral pose, with some fields replaced."""
    return Motion.at_rest(platform.geometry.neutral_pose).replaced(**changes)


def turned(platform: Platform, roll: float, pitch: float, yaw: float) -> Motion:
    """Return rest at the neutral position, with an attitude in degrees."""
    position = platform.geometry.neutral_pose.position
    return Motion.at_rest(Pose.from_rpy(position, np.radians([roll, pitch, yaw])))


def relaxed(platform: Platform, **changes: object) -> Platform:
    """Return the platform with some limits replaced."""
    return replace(platform, limits=replace(platform.limits, **changes))


def refusal(guard: MotionGuard, motion: Motion) -> Violation:
    """Return the violation for which a motion is refused."""
    with pytest.raises(MotionRefused) as caught:
        guard.check(motion)
    return caught.value.violation


def random_motion(platform: Platform, count: int, seed: int, size: float = 1.0) -> Motion:
    """Return poses and speeds about neutral, many of them beyond the limits."""
    rng = np.random.default_rng(seed)
    spread = size * float(np.ptp(platform.limits.stroke[0]))
    turn = Rotation.from_rotvec(rng.uniform(-0.4, 0.4, (count, 3)) * size)

    def vectors(limit: float) -> np.ndarray:
        return rng.uniform(-1.0, 1.0, (count, 3)) * limit * size

    limits = platform.limits
    return Motion.of_vectors(
        platform.geometry.neutral_pose.position + rng.uniform(-0.4, 0.4, (count, 3)) * spread,
        turn.as_quat(),
        vectors(limits.linear_velocity),
        vectors(limits.angular_velocity),
        vectors(limits.linear_acceleration),
        vectors(limits.angular_acceleration),
    )


@pytest.mark.parametrize('name', NAMES)
def test_rest_at_neutral_passes_with_room(name: str) -> None:
    """No margin is below a half at the neutral pose: it is the middle of the workspace."""
    platform = load_platform(name)

    assert min(MotionGuard(platform).margins(neutral(platform)).values()) > 0.5


@pytest.mark.parametrize('name', NAMES)
def test_legs_are_those_of_the_inverse_kinematics(name: str) -> None:
    """The guard's own kernel and the inverse kinematics agree on every number."""
    platform = load_platform(name)
    motion = random_motion(platform, 200, 1, size=0.1)
    mine, theirs = MotionGuard(platform).check(motion), inverse(platform.geometry, motion)

    for key in ('length', 'stroke', 'rate', 'acceleration'):
        np.testing.assert_allclose(getattr(mine, key), getattr(theirs, key), atol=1e-12)


@pytest.mark.parametrize('name', NAMES)
def test_pose_margins_equal_an_independent_computation(name: str) -> None:
    """Angles, attitude, conditioning and determinant, each by other means than the kernel's."""
    platform = load_platform(name)
    geometry, limits = platform.geometry, platform.limits
    motion = random_motion(platform, 50, 2)
    margins = MotionGuard(platform).margins(motion)
    turns = Rotation.from_quat(motion.quaternion_xyzw)
    yaw, pitch, roll = turns.as_euler('ZYX').T
    rest = geometry.neutral_pose
    axes = rest.position + geometry.platform_joints @ rest.rotation.T - geometry.base_joints
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    arms = np.einsum('nij,kj->nki', turns.as_matrix(), geometry.platform_joints)
    legs = motion.position[:, None] + arms - geometry.base_joints
    legs /= np.linalg.norm(legs, axis=2, keepdims=True)
    seen = np.einsum('nji,nkj->nki', turns.as_matrix(), legs)
    base = np.arccos(np.clip((legs * axes).sum(axis=2), -1.0, 1.0)).max(axis=1)
    plate = np.arccos(np.clip((seen * (axes @ rest.rotation)).sum(axis=2), -1.0, 1.0)).max(axis=1)
    pose = (motion.position, motion.quaternion_xyzw)
    signs = np.linalg.det(jacobian(geometry, *pose)) * np.linalg.det(
        jacobian(geometry, rest.position, rest.quaternion_xyzw)
    )
    conditions = condition_number(geometry, *pose)

    for key, angle, bounds in (
        ('roll', roll, limits.roll),
        ('pitch', pitch, limits.pitch),
        ('yaw', yaw, limits.yaw),
    ):
        expected = np.minimum(angle - bounds[0], bounds[1] - angle) / (np.ptp(bounds) / 2.0)
        np.testing.assert_allclose(margins[key], expected, atol=1e-8, err_msg=key)
    for key, angle, bound in (
        ('base joint angle', base, limits.base_joint_angle),
        ('platform joint angle', plate, limits.platform_joint_angle),
    ):
        np.testing.assert_allclose(margins[key], 1.0 - angle / bound, atol=1e-6, err_msg=key)
    np.testing.assert_allclose(
        margins['condition number'], limits.condition_number / conditions - 1.0, rtol=1e-6
    )
    assert np.all(np.sign(margins['determinant']) == np.sign(signs))


def test_segment_distance_equals_a_minimisation() -> None:
    """200 random pairs, with parallel, crossing and end-to-end ones among them."""
    rng = np.random.default_rng(3)
    cases = [rng.normal(size=(4, 3)) for _ in range(200)]
    line = np.array([1.0, 2.0, 3.0])
    zero = np.zeros(3)
    cases += [
        np.array([zero, line, np.array([0.0, 0.0, 1.0]), line]),
        np.array([zero, line, 3.0 * line, line]),
        np.array([zero, [2.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 2.0, 0.0]]),
    ]
    for p, u, q, v in cases:

        def squared(at: np.ndarray, p=p, u=u, q=q, v=v) -> float:
            return float(np.sum((p + at[0] * u - q - at[1] * v) ** 2))

        starts = itertools.product((0.1, 0.9), repeat=2)
        best = min(minimize(squared, at, bounds=[(0.0, 1.0)] * 2).fun for at in starts)
        mine = segment_distance(tuple(p), tuple(u), tuple(q), tuple(v))
        # The minimiser stops at 1e-8 of the squared distance.
        assert mine == pytest.approx(math.sqrt(best), abs=2e-4)
        assert mine <= math.sqrt(best) + 1e-12


def test_crossed_legs_are_refused_by_their_distance(vigo: Platform) -> None:
    """Half a turn about z crosses the legs near the axis; the pair is named."""
    free = relaxed(
        vigo,
        stroke=np.tile([-1.0, 2.0], (6, 1)),
        base_joint_angle=math.pi,
        platform_joint_angle=math.pi,
        yaw=np.array([-math.pi, math.pi]),
    )
    violation = refusal(MotionGuard(free), turned(free, 0.0, 0.0, 175.0))

    assert re.fullmatch(r'distance of legs \d and \d', violation.quantity)
    assert violation.value < violation.lower == vigo.limits.leg_distance


CASES: list[tuple[str, str, int | None, Callable[[Platform], Motion]]] = [
    ('quaternion norm', '1', None, lambda p: neutral(p, quaternion_xyzw=[0.0, 0.0, 0.0, 1.01])),
    (
        'stroke',
        'm',
        1,
        lambda p: neutral(p, position=p.geometry.zero_pose.position - [0.0, 0.0, 0.011]),
    ),
    ('leg rate', 'm/s', None, lambda p: neutral(p, angular_velocity=[0.0, 0.0, 1e3])),
    ('leg acceleration', 'm/s²', None, lambda p: neutral(p, linear_acceleration=[0.0, 0.0, 7.0])),
    ('roll', 'deg', None, lambda p: turned(p, 25.1, 0.0, 0.0)),
    ('pitch', 'deg', None, lambda p: turned(p, 0.0, -25.1, 0.0)),
    ('yaw', 'deg', None, lambda p: turned(p, 0.0, 0.0, 30.1)),
    ('linear velocity', 'm/s', None, lambda p: neutral(p, linear_velocity=[0.61, 0.0, 0.0])),
    ('angular velocity', 'rad/s', None, lambda p: neutral(p, angular_velocity=[1.3, 0.0, 0.0])),
    (
        'linear acceleration',
        'm/s²',
        None,
        lambda p: neutral(p, linear_acceleration=[6.1, 0.0, 0.0]),
    ),
    (
        'angular acceleration',
        'rad/s²',
        None,
        lambda p: neutral(p, angular_acceleration=[12.1, 0.0, 0.0]),
    ),
]


@pytest.mark.parametrize(
    ('quantity', 'unit', 'leg', 'make'), CASES, ids=[quantity for quantity, *_ in CASES]
)
def test_violation_names_quantity_value_bounds_and_unit(
    quantity: str, unit: str, leg: int | None, make: Callable[[Platform], Motion], vigo: Platform
) -> None:
    """The sentence tells everything a person needs."""
    violation = refusal(MotionGuard(vigo), make(vigo))

    assert violation.quantity == quantity
    assert violation.unit == unit
    assert violation.index is None
    assert leg is None or violation.leg == leg
    assert not violation.lower <= violation.value <= violation.upper
    shown = '' if unit == '1' else f' {unit}'
    assert f'is {violation.value:.6g}{shown}, allowed' in str(violation)


@pytest.mark.parametrize('quantity', ['base joint angle', 'platform joint angle'])
def test_joint_angle_beyond_its_limit_is_refused(quantity: str, vigo: Platform) -> None:
    """A limit of 5 degrees is broken by a sway of 0.2 m, which is 7.6 degrees at both ends."""
    key = quantity.replace(' ', '_')
    guard = MotionGuard(relaxed(vigo, **{key: math.radians(5.0)}))
    position = np.add(vigo.geometry.neutral_pose.position, [0.2, 0.0, 0.0])
    violation = refusal(guard, neutral(vigo, position=position))

    assert (violation.quantity, violation.unit) == (quantity, 'deg')
    assert violation.upper == pytest.approx(5.0)
    assert 5.0 < violation.value < 10.0
    assert violation.leg in range(1, 7)


def test_condition_number_beyond_its_limit_is_refused(vigo: Platform) -> None:
    """Higher up the legs are steeper and the platform is conditioned worse."""
    guard = MotionGuard(relaxed(vigo, condition_number=7.5))
    position = np.add(vigo.geometry.neutral_pose.position, [0.0, 0.0, 0.25])

    assert refusal(guard, neutral(vigo, position=position)).quantity == 'condition number'


def test_pose_behind_a_singularity_is_refused() -> None:
    """Far beyond the singular yaw the condition is good again: only the sign tells."""
    platform = relaxed(
        load_platform('ex800'),
        stroke=np.tile([-1.0, 2.0], (6, 1)),
        base_joint_angle=math.pi,
        platform_joint_angle=math.pi,
        leg_distance=0.0,
        yaw=np.array([-math.pi, math.pi]),
        condition_number=1e3,
    )
    violation = refusal(MotionGuard(platform), turned(platform, 0.0, 0.0, 150.0))

    assert violation.quantity == 'determinant'


@pytest.mark.parametrize('key', ['position', 'angular_acceleration', 'quaternion_xyzw'])
@pytest.mark.parametrize('value', [math.nan, math.inf])
def test_number_that_is_not_finite_is_named(key: str, value: float, vigo: Platform) -> None:
    """The field, the axis and the sample are said."""
    motion = Motion.at_rest(vigo.geometry.neutral_pose, (5,))
    numbers = getattr(motion, key).copy()
    numbers[3, 1] = value
    violation = refusal(MotionGuard(vigo), motion.replaced(**{key: numbers}))

    assert violation.quantity == f'{key.removesuffix("_xyzw").replace("_", " ")} y'
    assert violation.index == 3


def test_first_refused_sample_is_reported_with_its_index(vigo: Platform) -> None:
    """Samples 7 and 9 break the stroke; 7 is named, and the legs' shape follows the samples'."""
    motion = Motion.at_rest(vigo.geometry.neutral_pose, (12,))
    position = motion.position.copy()
    guard = MotionGuard(vigo)
    assert guard.check(motion).stroke.shape == (12, 6)
    position[[7, 9], 2] += 1.0

    assert refusal(guard, replace(motion, position=position)).index == 7


@pytest.mark.parametrize('name', NAMES)
def test_margins_are_negative_exactly_where_check_refuses(name: str) -> None:
    """Three views on one truth: `margins`, `allowed` and `check`."""
    platform = load_platform(name)
    guard = MotionGuard(platform)
    motion = random_motion(platform, 400, 4, size=0.75)
    least = np.min(list(guard.margins(motion).values()), axis=0)
    allowed = guard.allowed(motion)

    assert 0.05 < allowed.mean() < 0.95
    np.testing.assert_array_equal(allowed, least >= 0.0)
    for index in range(40):
        if allowed[index]:
            guard.check(motion[index])
        else:
            refusal(guard, motion[index])


def test_motion_at_the_limit_itself_passes(vigo: Platform) -> None:
    """A fastest profile peaks at the limit, give or take rounding."""
    speed = vigo.limits.linear_velocity * (1.0 + 1e-12)

    MotionGuard(vigo).check(neutral(vigo, linear_velocity=[speed, 0.0, 0.0]))


def test_scale_reduces_what_moves_and_not_where(vigo: Platform) -> None:
    """A tenth of the speed is refused above a tenth; poses stay as they were."""
    guard = MotionGuard(vigo, scale=0.1)
    guard.check(turned(vigo, 15.0, 0.0, 0.0))
    guard.check(neutral(vigo, linear_velocity=[0.059, 0.0, 0.0]))

    assert refusal(guard, neutral(vigo, linear_velocity=[0.061, 0, 0])).upper == pytest.approx(
        0.06
    )
    for scale in (0.0, -1.0, 1.5, math.nan):
        with pytest.raises(ConfigurationError, match='scale'):
            MotionGuard(vigo, scale=scale)


def test_neutral_pose_outside_the_limits_is_refused_at_once(vigo: Platform) -> None:
    """A guard for which nothing can pass is a mistake of the file."""
    with pytest.raises(MotionRefused, match=r'stroke of leg 1 is 0\.302'):
        MotionGuard(relaxed(vigo, stroke=np.tile([0.0, 0.1], (6, 1))))


def test_every_limit_of_the_platform_is_guarded(vigo: Platform) -> None:
    """Tightening any limit makes some motion fail.

    Jerk is for planners, legs cross elsewhere, and linear legs have no pressure angle.
    """
    motion = random_motion(vigo, 100, 5, size=0.05)
    assert MotionGuard(vigo).allowed(motion).all()
    tight = {'stroke': vigo.limits.stroke * 1e-3 + 0.302, 'condition_number': 6.931}
    for key in Limits.__dataclass_fields__:
        if key.endswith('jerk') or key in {'leg_distance', 'pressure_angle'}:
            continue
        value = tight.get(key, getattr(vigo.limits, key) * 1e-3)
        guard = MotionGuard(relaxed(vigo, **{key: value}))
        assert not guard.allowed(motion).all(), key


def test_a_bound_itself_is_inside_and_no_number_is_not() -> None:
    lower, upper = np.array([-1.0, 0.0]), np.array([1.0, 2.0])
    inside = np.array([lower, upper])
    assert first_outside(inside, lower, upper) == -1
    for column, value in ((0, -1.001), (1, 2.001), (0, np.nan), (1, np.nan)):
        row = upper.copy()
        row[column] = value
        assert first_outside(np.vstack([inside, row]), lower, upper) == 2
