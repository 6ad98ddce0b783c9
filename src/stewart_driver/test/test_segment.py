# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cubic segments and their hulls against scipy's polynomials, and the borders of refusal."""

from __future__ import annotations

import numpy as np
from played_setpoints import LIMITS, START, T0, ZERO
import pytest
from scipy.interpolate import BPoly
from stewart_driver.control.configuration import SupervisionSettings
from stewart_driver.legs import END_MARGIN, END_SHARE, LegLimits
from stewart_driver.path.leg_kernels import COEFFICIENTS
from stewart_driver.path.motion import LegMotion, Refusal, Verdict
from stewart_driver.path.segment import (
    ACCELERATIONS,
    RATES,
    ROUNDING,
    Segment,
    SegmentBuilder,
    STROKES,
)
from stewart_kinematics.limits.guard import REST_MARGIN, REST_SHARE

MARGIN = 1.1
LEG = np.arange(6) == 4


def random_segment(seed: int, duration: float) -> Segment:
    """Return a segment between two motions of no special kind."""
    rng = np.random.default_rng(seed)
    ends = [
        LegMotion(T0 + late, rng.uniform(0.1, 0.5, 6), rng.normal(size=6), rng.normal(size=6))
        for late in (0.0, duration)
    ]
    return SegmentBuilder(LIMITS, MARGIN).build(*ends)


def hermite(segment: Segment) -> BPoly:
    """Return scipy's polynomial through the same ends, of the time since its begin."""
    ends = [[end.strokes, end.rates] for end in (segment.first, segment.last)]
    return BPoly.from_derivatives([0.0, segment.end - segment.start], ends)


@pytest.mark.parametrize('duration', [1e-3, 0.02, 0.7, 3.0])
def test_coefficients_are_those_of_the_hermite_cubic(duration: float) -> None:
    segment = random_segment(1, duration)
    exact = hermite(segment)
    for leg in range(6):
        ours = np.polynomial.Polynomial(segment.rows[COEFFICIENTS, leg])
        for u in duration * np.linspace(0.0, 1.0, 7):
            assert ours(u) == pytest.approx(exact(u)[leg], abs=1e-12)
            assert ours.deriv()(u) == pytest.approx(exact.derivative()(u)[leg], abs=1e-9)


@pytest.mark.parametrize('duration', [1e-3, 0.02, 0.7, 3.0])
def test_the_hull_holds_the_control_points_of_stroke_and_rate(duration: float) -> None:
    segment = random_segment(2, duration)
    exact = hermite(segment)
    rates, accelerations = exact.derivative(), exact.derivative(2)
    assert segment.hull[STROKES] == pytest.approx(exact.c[:, 0], abs=1e-12)
    assert segment.hull[RATES] == pytest.approx(rates.c[:, 0], rel=1e-9, abs=1e-9)
    assert segment.hull[ACCELERATIONS] == pytest.approx(accelerations.c[:, 0], rel=1e-9)


def test_forces_are_joined_linearly() -> None:
    segment = random_segment(3, 0.5)
    first, last = segment.first.forces, segment.last.forces
    for share in (0.0, 0.25, 1.0):
        forces = segment.at(T0 + 0.5 * share, 1.0)[2]
        assert forces == pytest.approx((1.0 - share) * first + share * last, abs=1e-12)
    builder = SegmentBuilder(LIMITS, MARGIN)
    same = builder.build(LegMotion(T0, START, ZERO, first), LegMotion(T0 + 1, START, ZERO, first))
    assert np.array_equal(same.at(T0 + 0.3, 1.0)[2], first)


def refusal(
    strokes: tuple[float, float],
    rates: tuple[float, float] = (0.0, 0.0),
    duration: float = 1.0,
    limits: LegLimits = LIMITS,
    margin: float = MARGIN,
) -> Refusal | None:
    """Return why one leg may not go from stroke to stroke [m], and rate to rate [m/s]."""
    ends = [
        LegMotion(T0 + late, np.where(LEG, stroke, START), np.where(LEG, rate, 0.0))
        for late, stroke, rate in zip((0.0, duration), strokes, rates, strict=True)
    ]
    builder = SegmentBuilder(limits, margin)
    return builder.refusal_of(builder.build(*ends))


def verdict(*arguments: object, **options: object) -> Verdict | None:
    found = refusal(*arguments, **options)  # type: ignore[arg-type]
    return None if found is None else found[0]


def test_a_stroke_may_come_to_its_end_and_no_further() -> None:
    lower, upper = 0.0, 0.6
    assert verdict((0.3, upper + 0.5 * ROUNDING), duration=2.0) is None
    assert verdict((0.3, lower - 0.5 * ROUNDING), duration=2.0) is None
    assert verdict((upper, upper)) is None
    for stroke, text in ((upper + 1e-3, '0.001000'), (lower - 2e-3, '0.002000')):
        found = refusal((0.3, stroke), duration=2.0)
        assert found == (
            Verdict.OUTSIDE_STROKE,
            f'a setpoint needs leg 5 {text} m outside its stroke, 0 to 0.6 m',
        )
    assert verdict((0.3, upper + 3.0 * ROUNDING), duration=2.0) is Verdict.OUTSIDE_STROKE


@pytest.mark.parametrize('beyond', [4.8e-7, END_MARGIN])
def test_a_leg_that_rests_beyond_its_end_may_come_inside_only(beyond: float) -> None:
    for end, sign in ((0.0, 1.0), (0.6, -1.0)):
        there = end - sign * beyond
        assert verdict((there, there)) is None
        assert verdict((there, end + sign * 0.05), duration=2.0) is None
        assert verdict((there, end - sign * (beyond + 1e-8))) is Verdict.OUTSIDE_STROKE
        assert verdict((end - sign * 1.1 * END_MARGIN, end)) is Verdict.OUTSIDE_STROKE
        # It keeps to all other limits.
        assert verdict((there, end + sign * 0.5), duration=0.5) is Verdict.JUMP


def test_movements_begin_as_far_outside_as_drives_are_enabled() -> None:
    assert SupervisionSettings().stroke_margin == END_MARGIN == REST_MARGIN
    assert END_SHARE == REST_SHARE


def test_short_legs_begin_less_far_outside() -> None:
    upper = np.where(LEG, 6e-3, 0.6)
    short = LegLimits(np.zeros(6), upper, LIMITS.rate, LIMITS.acceleration)
    assert short.outside == pytest.approx(np.where(LEG, 2e-4, END_MARGIN))
    for end, sign in ((0.0, 1.0), (6e-3, -1.0)):
        assert verdict((end - sign * 1.9e-4, 3e-3), duration=2.0, limits=short) is None
        outside = verdict((end - sign * 2.1e-4, 3e-3), duration=2.0, limits=short)
        assert outside is Verdict.OUTSIDE_STROKE


def test_a_path_that_swings_beyond_the_stroke_between_its_ends_is_refused() -> None:
    # Its control points are a third of the duration along the tangents at the ends.
    assert verdict((0.5, 0.5), (0.29, -0.29)) is None
    assert verdict((0.5, 0.5), (0.31, -0.31)) is Verdict.OUTSIDE_STROKE


def test_the_setpoint_itself_keeps_the_rate_and_what_is_between_the_margin() -> None:
    rate = LIMITS.rate
    steady = 0.05 * rate
    for sign in (1.0, -1.0):
        there = 0.3, 0.3 + sign * steady
        speed = sign * rate
        assert verdict(there, (speed, speed), 0.05) is None
        beyond = speed * (1.0 + 3.0 * ROUNDING)
        assert verdict(there, (speed, beyond), 0.05) is Verdict.TOO_FAST
        # In between the margin holds: three times the mean rate is the sum of the control points.
        for share, expected in ((0.999, None), (1.001, Verdict.JUMP)):
            end, middle = 0.4 * speed, share * MARGIN * speed
            change = 0.5 * (end + middle + end) / 3.0
            assert verdict((0.3, 0.3 + change), (end, end), 0.5) is expected


def test_a_margin_below_one_holds_for_the_setpoint_too() -> None:
    there, rate = (0.3, 0.3 + 0.05 * 0.54), 0.54
    assert verdict(there, (rate, rate), 0.05, margin=0.91) is None
    found = refusal(there, (rate, rate), 0.05, margin=0.89)
    assert found is not None
    assert found[0] is Verdict.JUMP


def test_the_acceleration_at_either_end_keeps_the_margin() -> None:
    # From rest at a quadratic's end: its acceleration is even.
    for share, expected in ((0.999, None), (1.001, Verdict.JUMP)):
        for sign in (1.0, -1.0):
            acceleration = sign * share * MARGIN * LIMITS.acceleration
            way, rate = 0.5 * acceleration * 0.05**2, acceleration * 0.05
            assert verdict((0.3, 0.3 + way), (0.0, rate), 0.05) is expected
            assert verdict((0.3, 0.3 + way), (rate, 0.0), 0.05) is expected
            # A push away and back: the acceleration at the begin only, 6 changes per square.
            change = acceleration * 0.1**2 / 6.0
            assert verdict((0.3, 0.3 + change), (0.0, 0.0), 0.1) is expected


def test_a_jump_is_told_with_what_it_would_take() -> None:
    found = refusal((0.3, 0.31), duration=0.05)
    assert found == (
        Verdict.JUMP,
        'a setpoint jumps: leg 5 would need 24.000 m/s² and 0.6000 m/s to get there',
    )


def test_a_number_that_is_none_is_never_accepted() -> None:
    assert refusal((0.3, float('nan'))) is not None
