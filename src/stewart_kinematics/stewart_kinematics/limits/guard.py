# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Refuse what a platform cannot or must not do."""

from __future__ import annotations

from dataclasses import replace
import itertools
import math

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.errors import ConfigurationError, MotionRefused, ShapeError, Violation
from stewart_kinematics.kernels import guard as columns
from stewart_kinematics.kernels import rods as rod_columns
from stewart_kinematics.limits.continuity import first_jump, first_turn
from stewart_kinematics.limits.guarded import columns_of, joint_axes
from stewart_kinematics.model.leg_kinds import LINEAR
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, mean_jerk, Motion, read_only, UNITS
from stewart_kinematics.solvers.inverse import LegKinematics

Flags = NDArray[np.bool_]

STROKES = slice(columns.STROKE, columns.RATE)
ATTITUDE = slice(columns.ROLL_PITCH_YAW, columns.DISTANCE)
RATES = slice(columns.RATE, columns.ACCELERATION)

SLACK = 1e-9
"""Part of a limit by which rounding may break it: fastest profiles run at the limit itself."""

JERK_SLACK = 1e-6  # the same for the jerk, a difference quotient

REST_MARGIN, REST_SHARE = 5e-3, 1.0 / 30.0
"""A motion may begin with joints this far beyond their ends [m], [rad], and by this part of their
range at most: there legs without brakes come to rest, and drives are enabled. The driver takes the
same; its `stroke_margin`, up to which it enables, is as large unless a rig sets it."""

OUTWARD_ROUNDING = 1e-12  # of a joint beyond its end that stands [m], [rad]


class MotionGuard:
    """Check motions against the limits of a platform.

    Guarded are: numbers that are finite, the quaternion's norm, position, rate and
    acceleration of the legs' joints, of rods also that they reach and their pressure angles, the
    angles of base and platform joints, roll, pitch, yaw, the distances between
    legs, velocity and acceleration of the platform, the condition number of the Jacobian and
    the sign of its determinant, which must be the one at the neutral pose; in `admit` and
    `check_way`, that a sample continues the one before, its cranks, too, and there and in
    `check_jerk` the jerk of the platform.

    A motion that begins with joints up to `REST_MARGIN` and `REST_SHARE` beyond their ends may
    bring them inside: in a sequence or a stream such a joint comes no further out from sample to
    sample. A single sample, `allowed` and the margins keep to the ends themselves.

    The jerk is the change of acceleration between two samples over the time between them, the mean
    of the jerk, and so never more than its greatest value; nothing is differentiated twice.
    `check_jerk` allows for rounding only, `admit` for that of the stamps, too.

    Args:
        scale: Part of the rates, velocities, accelerations and jerks that is allowed, in (0, 1].

    Raises:
        ConfigurationError: If `scale` is not above 0 and at most 1.
        MotionRefused: If the platform may not even rest at its neutral pose.
    """

    def __init__(self, platform: Platform, *, scale: float = 1.0) -> None:
        if not 0.0 < scale <= 1.0:
            raise ConfigurationError('scale', scale, 'a number above 0 and at most 1')
        self.platform = platform
        self.scale = scale
        self._axes = joint_axes(platform)
        self._rods = platform.kind is not LINEAR
        # Whether whole turns have to be added to what an attitude tells.
        self._turned = bool(np.abs(platform.limits.angles).max() > math.pi)
        accelerations, jerks = scale * platform.limits.accelerations, scale * platform.limits.jerks
        names, units = ('linear jerk', 'angular jerk'), ('m/s³', 'rad/s³')
        self._jerks = tuple(zip(names, jerks.tolist(), units, strict=True))
        self._steps = np.concatenate([accelerations, jerks])
        self._last: tuple[float, Motion] | None = None
        # Positions and rates of its joints (6,).
        self._joints = np.zeros(6), np.zeros(6)
        # How far beyond their ends joints may be where a motion begins.
        ranges = np.ptp(platform.limits.stroke, axis=1)
        self._outside = read_only(np.minimum(REST_MARGIN, REST_SHARE * ranges))
        # The same of the next sample of a stream.
        self._room = self._outside
        neutral = Motion.at_rest(platform.geometry.neutral_pose)
        determinant = float(self._evaluate(neutral)[1][0, columns.DETERMINANT])
        self._columns = columns_of(platform, scale, determinant)
        self._reference = read_only([column.reference for column in self._columns])
        slack = SLACK * self._reference
        self._lower = read_only([column.lower for column in self._columns]) - slack
        self._upper = read_only([column.upper for column in self._columns]) + slack
        self.check(neutral)

    def check(self, motion: Motion) -> LegKinematics:
        """Return the motion of the legs (..., 6) for samples (...), or refuse.

        Raises:
            MotionRefused: If a sample breaks a limit; it carries the first violation of the first
                such sample, whose index counts along the flattened leading axes.
        """
        return self._check(motion, self._outside if motion.shape else 0.0)

    def _check(self, motion: Motion, room: Array | float) -> LegKinematics:
        legs, values = self._evaluate(motion)
        refused = self._first_outside(values, room)
        if refused >= 0:
            raise MotionRefused(self._violation(motion, values, refused))
        length, rate, acceleration, stroke = legs.reshape(4, *motion.shape, 6)
        return LegKinematics(length, stroke, rate, acceleration)

    def check_way(self, motion: Motion, time: Array) -> LegKinematics:
        """Check n successive samples of one motion, and that each can follow the one before it.

        What happens between two of them shows where their velocities, or the change of pose, are
        not what accelerations within the limits could make of the one before.

        Args:
            motion, time: Samples (n,) and increasing times (n,) [s].

        Returns:
            The motion of the legs (n, 6).

        Raises:
            MotionRefused: If a sample breaks a limit, or cannot follow the one before it; the
                index is that of the later sample.
        """
        legs = self.check(motion)
        self.check_jerk(motion, time)
        start = float(time[0]), motion[0]
        count, violation = first_jump(*start, time[1:], motion[1:], self._steps)
        count += 1
        if violation is None:
            count, violation = self._first_turn(time, legs.stroke, legs.rate)
        if violation is not None:
            raise MotionRefused(replace(violation, index=count))
        return legs

    def check_jerk(self, motion: Motion, time: Array) -> None:
        """Refuse n successive samples between which the jerk of the platform breaks its limit.

        Raises:
            MotionRefused: If a mean jerk breaks a limit; the index is that of the later sample.
        """
        jerks = zip(self._jerks, mean_jerk(motion, time).T, strict=True)
        for (name, bound, unit), values in jerks:
            refused = np.flatnonzero(~(values <= bound * (1.0 + JERK_SLACK)))
            if refused.size:
                index = int(refused[0])
                violation = Violation(
                    name, float(values[index]), -math.inf, bound, unit, index=index + 1
                )
                raise MotionRefused(violation)

    def jerk_margins(self, motion: Motion, time: Array) -> dict[str, Array]:
        """Return what `check_jerk` looks at as `margins` has it, (n - 1,) between n samples."""
        jerks = zip(self._jerks, mean_jerk(motion, time).T, strict=True)
        return {name: 1.0 - values / bound for (name, bound, _), values in jerks}

    def margins(self, motion: Motion) -> dict[str, Array]:
        """Return how far from its limit every quantity is, the least over the legs, (...).

        Legs whose least distance is 0 have no margin there, for it bounds nothing.

        1 in the middle of the allowed interval (or far from a single bound), 0 at the limit,
        negative beyond, NaN where a number is not finite. The condition number κ gives κ_max / κ -
        1, which stays finite at a singularity.
        """
        values, distance = self._distances(motion)
        limit = self._upper[columns.CONDITION]
        distance[:, columns.CONDITION] = limit / values[:, columns.CONDITION] - 1.0
        bounded = [(k, column) for k, column in enumerate(self._columns) if column.bounded]
        groups = itertools.groupby(bounded, key=lambda item: item[1].group)
        return {
            group: distance[:, [k for k, _ in members]].min(axis=1).reshape(motion.shape)
            for group, members in groups
        }

    def leg_margins(self, motion: Motion) -> Array:
        """Return the least margin of each leg's own limits, as `margins` has it, (..., 6)."""
        _, distance = self._distances(motion)
        legs = np.array([column.leg or 0 for column in self._columns])
        least = [distance[:, legs == leg].min(axis=1) for leg in range(1, 7)]
        return np.stack(least, axis=-1).reshape(*motion.shape, 6)

    def _distances(self, motion: Motion) -> tuple[Array, Array]:
        """Return guarded quantities, and how far each is from its bounds, in references."""
        _, values = self._evaluate(motion)
        return values, np.minimum(values - self._lower, self._upper - values) / self._reference

    def allowed(self, motion: Motion) -> Flags:
        """Tell which samples `check` would accept, shape (...), bool."""
        _, values = self._evaluate(motion)
        inside = (values >= self._lower) & (values <= self._upper)
        return inside.all(axis=1).reshape(motion.shape)

    def nearer(self, motion: Motion, reserve: float, time: Array | None = None) -> str:
        """Name what comes nearer to its limit than at the first of n samples, and than a reserve.

        Args:
            motion: Samples (n,), of which the first is taken for granted; its joints may be as far
                beyond their ends as a motion may begin.
            reserve: Part of a limit, or of half its interval, that is to be left [-].
            time: When the samples are (n,), close enough for each to tell of the next [s]; then a
                crank that goes through the gap of its range between two of them is named, too.

        Returns:
            The quantity, with its leg; empty if everything keeps away.
        """
        _, values = self._evaluate(motion)
        room = reserve * self._reference
        lower, upper = self._lower.copy(), self._upper.copy()
        lower[STROKES] -= self._outside
        upper[STROKES] += self._outside
        lower = np.maximum(lower, np.minimum(self._lower + room, values[0] - OUTWARD_ROUNDING))
        upper = np.minimum(upper, np.maximum(self._upper - room, values[0] + OUTWARD_ROUNDING))
        refused = columns.first_outside(values, lower, upper)
        if refused < 0:
            joints = values[:, STROKES], values[:, RATES]
            turn = None if time is None else self._first_turn(time, *joints)[1]
            return '' if turn is None else turn.subject
        inside = (values[refused] >= lower) & (values[refused] <= upper)
        column = self._columns[_first_broken(inside)]
        return column.label + (f' of leg {column.leg}' if column.leg else '')

    def admit(self, motion: Motion, stamp: float) -> LegKinematics:
        """Check one sample of a stream, and that it continues the last one admitted; stamp in s.

        A refused sample is not remembered: the next one is compared with the last that passed.

        Raises:
            MotionRefused: If the sample breaks a limit, or cannot follow the last one within the
                limits.
            ShapeError: If there are several samples.
        """
        if motion.shape:
            raise ShapeError('motion', 'a single sample', motion.shape)
        legs = self._check(motion, self._room)
        if not math.isfinite(stamp):
            raise MotionRefused(Violation('stamp', stamp, -math.inf, math.inf, 's'))
        if self._last is not None:
            _, violation = first_jump(*self._last, np.array([stamp]), motion, self._steps)
            if violation is None and self._rods:
                _, violation = self._follow(np.array([stamp]), legs.stroke, legs.rate)
            if violation is not None:
                raise MotionRefused(violation)
        self._last, self._room = (stamp, motion), self._beyond(legs.stroke)
        self._joints = legs.stroke, legs.rate
        return legs

    def admit_run(self, motion: Motion, stamps: Array) -> LegKinematics:
        """Check n successive samples as `admit` does, up to the first that it refuses.

        Shape (m, 6); if m is less than n, `admit` tells why.
        """
        legs, values = self._evaluate(motion)
        passed = self._first_outside(values, self._room)
        passed = len(stamps) if passed < 0 else passed
        # Nothing is before the first sample of a stream.
        first = 0 if self._last else 1
        if passed > first:
            last = self._last or (float(stamps[0]), motion[0])
            run = slice(first, passed)
            passed = first + first_jump(*last, stamps[run], motion[run], self._steps)[0]
        if passed and self._rods:
            passed, _ = self._follow(stamps[:passed], legs[3, :passed], legs[1, :passed])
        if passed:
            self._joints = legs[3, passed - 1], legs[1, passed - 1]
            self._last = (float(stamps[passed - 1]), motion[passed - 1])
            self._room = self._beyond(legs[3, passed - 1])
        length, rate, acceleration, stroke = legs[:, :passed]
        return LegKinematics(length, stroke, rate, acceleration)

    def forget(self) -> None:
        """Forget the last admitted sample: the next one begins a new stream."""
        self._last, self._room = None, self._outside

    def _follow(
        self, stamps: Array, positions: Array, rates: Array
    ) -> tuple[int, Violation | None]:
        """Return what `first_turn` does of n samples after the last one that was admitted."""
        if self._last is None:
            return self._first_turn(stamps, positions, rates)
        stamps = np.concatenate([[self._last[0]], stamps])
        place, rate = self._joints
        joints = np.vstack([place, positions]), np.vstack([rate, rates])
        count, violation = self._first_turn(stamps, *joints)
        return count - 1, violation

    def _first_turn(
        self, stamps: Array, positions: Array, rates: Array
    ) -> tuple[int, Violation | None]:
        """Return the first of n samples whose rods' joints cannot follow, and why; see there."""
        if not self._rods:
            return len(stamps), None
        most = self.scale * self.platform.limits.acceleration
        return first_turn(stamps, positions, rates, self.platform.kind, most)

    def _beyond(self, strokes: Array) -> Array:
        """Return how far joints are beyond their ends, 0 inside, (..., 6)."""
        lower, upper = self._lower[STROKES], self._upper[STROKES]
        return np.maximum(np.maximum(lower - strokes, strokes - upper), 0.0)

    def _first_outside(self, values: Array, room: Array | float) -> int:
        """Return the first of n rows that breaks a limit; -1: none.

        Joints beyond their ends count as at them in a row that brings them no further out than the
        one before, the first one no further than `room`; `values` is changed so.
        """
        refused = columns.first_outside(values, self._lower, self._upper)
        if refused < 0 or not np.any(room):
            return refused
        strokes = values[:, STROKES]
        beyond = self._beyond(strokes)
        before = np.vstack([np.broadcast_to(room, 6), beyond[:-1]])
        passes = beyond <= np.minimum(before, self._outside) + OUTWARD_ROUNDING
        ends = np.clip(strokes, self._lower[STROKES], self._upper[STROKES])
        values[:, STROKES] = np.where(passes, ends, strokes)
        return columns.first_outside(values, self._lower, self._upper)

    def _evaluate(self, motion: Motion) -> tuple[Array, Array]:
        """Return the kernel's leg motion (4, n, 6) and guarded quantities (n, 55)."""
        geometry, rows = self.platform.geometry, motion.rows()
        rods, scale, joints = geometry.rods, geometry.length_scale, geometry.platform_joints
        width = columns.WIDTH if rods is None else rod_columns.GUARDED
        out = np.empty((4, len(rows[0]), 6)), np.empty((len(rows[0]), width))
        if rods is not None:
            rod_columns.guarded(rods.table, joints, self._axes, scale, *rows, *out)
        else:
            retracted = geometry.retracted_length
            columns.guarded_quantities(
                geometry.base_joints, joints, self._axes, retracted, scale, *rows, *out
            )
        if self._turned:
            values = out[1]
            values[:, ATTITUDE] = self.platform.limits.nearest_turn(values[:, ATTITUDE])
        return out

    def _violation(self, motion: Motion, values: Array, sample: int) -> Violation:
        """Return the first violation of a refused sample."""
        index = sample if motion.shape else None
        for field, unit in UNITS.items():
            numbers = getattr(motion, field).reshape(len(values), -1)[sample]
            for axis, number in zip('xyzw', numbers.tolist(), strict=False):
                if not math.isfinite(number):
                    name = f'{field.removesuffix("_xyzw").replace("_", " ")} {axis}'
                    return Violation(name, number, -math.inf, math.inf, unit, None, index)
        allowed = (values[sample] >= self._lower) & (values[sample] <= self._upper)
        place = _first_broken(allowed)
        column = self._columns[place]
        factor = 180.0 / math.pi if column.unit == 'deg' else 1.0
        numbers = values[sample, place], column.lower, column.upper
        value, lower, upper = (float(factor * number) for number in numbers)
        return Violation(column.label, value, lower, upper, column.unit, column.leg, index)


def _first_broken(allowed: Flags) -> int:
    """Return the first quantity of a row that is not allowed.

    A rod that does not reach goes before, as it makes every other quantity NaN.
    """
    reach = np.flatnonzero(~allowed[rod_columns.REACH :])
    return rod_columns.REACH + int(reach[0]) if reach.size else int(np.argmin(allowed))
