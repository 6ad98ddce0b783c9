# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the guard admits what breaks a limit, and forward kinematics assures a wrong pose.

Random setpoints, and those of a search that climbs, from many starts, towards what is forbidden.
`plain_judge` says what is: nothing of the guard is in it. Poses that are called converged are
compared with the pose that their joint positions came from, and their legs are measured anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import json
import sys

from harness import machine, save
import numpy as np
from numpy.typing import NDArray
from plain_judge import FACTS, Judge
from scipy.spatial.transform import Rotation
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.forward import forward_batch_from_positions

FAMILIES = {
    'linear': ('vigo', 'ex800', 'ps6tl_1500', 'srs'),
    'rotary': ('sg90_rotary',),
    'sliding': ('hexaglide_3d_mec',),
}
BEYOND = 1e-5
"""Part of a limit by which the judge's differences may be wrong; the guard itself has 1e-9."""

SAME_POSE, SAME_LENGTH = 1e-6, 1e-9
"""How alike poses are [length scales, rad], and how well legs fit [length scales]."""

BLOCK, STARTS, WIDE = 50_000, 20, 0.2
"""Samples at a time, climbers towards one limit, and their share that leaps."""

FAR = 3.0
"""How much wider the box is from which poses for forward kinematics are drawn."""

SPOILT = 0.01
"""Share of random setpoints with a number that is none or far too great, or a norm but 1."""


class Subject:
    """One platform with its guard, its judge and the box that setpoints are drawn from."""

    def __init__(self, name: str) -> None:
        self.platform = Platform.from_yaml(name)
        self.guard, self.judge = MotionGuard(self.platform), Judge(self.platform)
        limits, rods = self.platform.limits, self.platform.geometry.rods
        span = 0.5 * float(np.diff(limits.stroke[0])[0])
        if rods is not None and rods.kind.name == 'rotary':
            span = float(np.linalg.norm(rods.table[0, 3:6]))
        turns = [np.abs(angles).max() for angles in (limits.roll, limits.pitch, limits.yaw)]
        speeds = limits.linear_velocity, limits.angular_velocity
        pulls = limits.linear_acceleration, limits.angular_acceleration
        self.size = 1.2 * np.array([span] * 3 + turns + [*np.repeat([*speeds, *pulls], 3)])

    def random(self, rng: np.random.Generator, count: int) -> Array:
        """Return setpoints (count, 18) in parts of the box, its four vectors of any length."""
        parts = rng.uniform(-1.0, 1.0, (count, 6, 3))
        return np.reshape(parts * rng.uniform(0.0, 1.0, (count, 6, 1)), (count, 18))

    def motion(self, parts: Array) -> Motion:
        """Return the motion of setpoints in parts of the box."""
        values, home = parts * self.size, self.platform.geometry.neutral_pose
        turn = Rotation.from_rotvec(values[:, 3:6]) * Rotation.from_quat(home.quaternion_xyzw)
        return Motion(
            home.position + values[:, :3], turn.as_quat(), values[:, 6:12], values[:, 12:]
        )

    def beyond(self, motion: Motion) -> tuple[NDArray[np.bool_], Array]:
        """Return what the guard admits, and how far that is beyond each limit (m, facts)."""
        admitted = self.guard.allowed(motion)
        return admitted, self.judge.beyond(motion[admitted])

    def error(self, parts: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return errors of assured poses, gaps at their joints, and what is not assured.

        Errors are in length scales + rad, gaps in length scales, both NaN where not assured.
        """
        motion, scale = self.motion(parts), self.judge.scale
        truth = self.judge.stand(motion.position, motion.quaternion_xyzw).position
        found = forward_batch_from_positions(self.platform.geometry, truth)
        unsure = ~np.asarray(found.converged)
        place, attitude = found.position, found.quaternion_xyzw
        turn = Rotation.from_quat(attitude) * Rotation.from_quat(motion.quaternion_xyzw).inv()
        pose = np.linalg.norm(place - motion.position, axis=1) / scale + turn.magnitude()
        again = self.judge.misfit(place, attitude, truth) / scale
        return np.where(unsure, np.nan, pose), np.where(unsure, np.nan, again), unsure


def spoil(motion: Motion, rng: np.random.Generator) -> Motion:
    """Return a motion of which some samples have a number that is none, or a norm that is off."""
    fields = {
        key: np.array(getattr(motion, key))
        for key in ('position', 'quaternion_xyzw', 'twist', 'acceleration')
    }
    for row in np.flatnonzero(rng.random(len(motion.position)) < SPOILT):
        key = rng.choice(list(fields))
        number = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e200])
        if rng.random() < 0.3:
            part = 10.0 ** rng.uniform(-5.6, 0.0)
            fields['quaternion_xyzw'][row] *= 1.0 + rng.choice([-1.0, 1.0]) * part
        else:
            fields[key][row, rng.integers(fields[key].shape[1])] = number
    return Motion(**fields)


def guard_at_random(subject: Subject, count: int, rng: np.random.Generator) -> dict[str, object]:
    """Return what became of random setpoints."""
    admitted, broken, over, falsely = 0, 0, -np.inf, 0
    for begin in range(0, count, BLOCK):
        parts = subject.random(rng, min(BLOCK, count - begin))
        motion = spoil(subject.motion(parts), rng)
        passed, beyond = subject.beyond(motion)
        refused = motion[np.flatnonzero(~passed)[:1000]]
        falsely += int(np.sum(subject.judge.beyond(refused).max(axis=1) < -BEYOND))
        admitted += int(passed.sum())
        broken += int(np.sum(beyond.max(axis=1, initial=-1.0) > BEYOND))
        over = max(over, float(beyond.max(initial=-1.0)))
    return {
        'setpoints': count,
        'admitted': admitted,
        'beyond a limit': broken,
        'most beyond, of a limit': over,
        'refused within all limits': falsely,
    }


def climb(
    score: Callable[[Array], Array], start: Array, rng: np.random.Generator, steps: int
) -> Array:
    """Return the best scores (n,) of climbers from `start`; a score of -inf is forbidden.

    Every climber takes steps of its own size: longer after one that led up, shorter after another.
    """
    at, best, size = start, score(start), np.full(len(start), 0.1)
    for _ in range(steps):
        leap = rng.random(len(at)) < WIDE
        width = np.where(leap, rng.uniform(0.0, 1.0, len(at)), size)
        some = rng.random(at.shape) < rng.uniform(0.1, 1.0, (len(at), 1))
        trial = at + width[:, None] * some * rng.normal(size=at.shape)
        value = score(trial)
        up = value > best
        at, best = np.where(up[:, None], trial, at), np.where(up, value, best)
        size = np.clip(np.where(leap, size, size * np.where(up, 1.6, 0.85)), 1e-9, 0.5)
    return best


def starts(subject: Subject, rng: np.random.Generator, count: int) -> Array:
    """Return setpoints that the guard admits."""
    found = np.empty((0, 18))
    while len(found) < count:
        parts = subject.random(rng, 20 * count)
        found = np.concatenate([found, parts[subject.guard.allowed(subject.motion(parts))]])
    return found[:count]


def guard_attacked(subject: Subject, count: int, rng: np.random.Generator) -> dict[str, object]:
    """Return how far a search gets beyond each limit with setpoints that the guard admits."""
    reached: dict[str, float] = {}
    broken, tried = 0, 0
    for column, fact in enumerate(FACTS[:-1]):

        def score(parts: Array, column: int = column) -> Array:
            nonlocal broken, tried
            value = np.full(len(parts), -np.inf)
            admitted, beyond = subject.beyond(subject.motion(parts))
            broken += int(np.sum(beyond.max(axis=1, initial=-1.0) > BEYOND))
            tried += len(parts)
            value[admitted] = beyond[:, column]
            return value

        steps = max(1, count // (STARTS * (len(FACTS) - 1)))
        reached[fact] = float(climb(score, starts(subject, rng, STARTS), rng, steps).max())
    return {
        'setpoints': tried,
        'beyond a limit': broken,
        'most beyond, of a limit': max(reached.values()),
        'limits that were reached': sum(value > -1e-3 for value in reached.values()),
        'reached': reached,
    }


def forward_at_random(subject: Subject, count: int, rng: np.random.Generator) -> dict[str, object]:
    """Return what forward kinematics said of the joint positions of random poses."""
    assured, wrong, misfits, twins, worst, within, reached = 0, 0, 0, 0, 0.0, 0, 0
    for begin in range(0, count, BLOCK):
        parts = FAR * subject.random(rng, min(BLOCK, count - begin))
        parts[:, 6:] = 0.0
        motion = subject.motion(parts)
        legal = subject.judge.still(motion.position, motion.quaternion_xyzw) <= 0.0
        stand = subject.judge.stand(motion.position, motion.quaternion_xyzw)
        reach = np.isfinite(stand.position).all(axis=1)
        parts, legal = parts[reach], legal[reach]
        pose, again, unsure = subject.error(parts)
        other = ~unsure & (pose > SAME_POSE)
        reached, within = reached + len(parts), within + int(legal.sum())
        assured += int(np.sum(~unsure))
        wrong += int(np.sum(other & legal))
        twins += int(np.sum(other & ~legal))
        misfits += int(np.sum(~unsure & (again > SAME_LENGTH)))
        worst = max(worst, float(np.max(pose[~unsure & ~other], initial=0.0)))
    return {
        'poses': count,
        'in reach': reached,
        'within all limits': within,
        'assured': assured,
        'wrong within the limits': wrong,
        'beyond the limits, given a twin': twins,
        'do not have the joint positions': misfits,
        'worst error of the others': worst,
    }


def forward_attacked(subject: Subject, count: int, rng: np.random.Generator) -> dict[str, object]:
    """Return the worst errors that a search finds among assured poses within the limits."""
    tally = {'poses': 0, 'wrong within the limits': 0, 'do not have the joint positions': 0}

    def score(parts: Array) -> Array:
        parts = np.concatenate([parts, np.zeros((len(parts), 12))], axis=1)
        motion, value = subject.motion(parts), np.full(len(parts), -np.inf)
        legal = subject.judge.still(motion.position, motion.quaternion_xyzw) <= 0.0
        if legal.any():
            pose, again, unsure = subject.error(parts[legal])
            tally['wrong within the limits'] += int(np.sum(~unsure & (pose > SAME_POSE)))
            tally['do not have the joint positions'] += int(np.sum(again > SAME_LENGTH))
            value[legal] = np.where(unsure, -np.inf, pose)
        tally['poses'] += len(parts)
        return value

    steps = max(1, count // STARTS - 1)
    best = climb(score, starts(subject, rng, STARTS)[:, :6], rng, steps)
    return {**tally, 'worst error': float(best.max())}


def study(family: str, random: int, attacks: int, seed: int) -> dict[str, object]:
    """Return the results of the platforms of one family, which share the random samples."""
    rows, names = [], FAMILIES[family]
    for place, name in enumerate(names):
        subject, rng = Subject(name), np.random.default_rng([seed, place])
        share = random // len(names)
        rows.append(
            {
                'platform': name,
                'guard, random': guard_at_random(subject, share, rng),
                'guard, search': guard_attacked(subject, attacks, rng),
                'forward, random': forward_at_random(subject, share, rng),
                'forward, search': forward_attacked(subject, attacks, rng),
            }
        )
    return {'family': family, 'platforms': rows}


def faults(families: list[dict[str, object]]) -> list[str]:
    """Return what must not be: limits broken, and poses that are silently wrong."""
    forbidden = ('beyond a limit', 'wrong within the limits', 'do not have the joint positions')
    return [
        f'{row["platform"]}, {part}: {key}, {figures[key]}'
        for family in families
        for row in family['platforms']  # type: ignore[attr-defined]
        for part, figures in row.items()
        if isinstance(figures, dict)
        for key in forbidden
        if figures.get(key)
    ]


def main() -> int:
    """Print the results, write the JSON file; return 1 if a limit was broken or a pose wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--random', type=int, default=1_000_000, help='of each family')
    parser.add_argument('--attacks', type=int, default=100_000, help='of each platform')
    parser.add_argument('--families', nargs='+', choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument('--seed', type=int, default=20261125)
    given = parser.parse_args()
    about = machine(['numpy', 'scipy', 'numba'])
    families = [
        study(family, given.random, given.attacks, given.seed) for family in given.families
    ]
    print(json.dumps(families, indent=2))
    save('guard_and_forward', {'machine': about, 'attacked': families})
    found = faults(families)
    print('\n'.join(found))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
