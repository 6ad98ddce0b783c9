# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What these poses show of a machine, in words, and how far off it is before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.special import chdtrc, fdtrc
from stewart_identification.calibration.fit import Calibration, MISFIT
from stewart_identification.calibration.machine import LENGTH, Machine, MOUNTING, SIZE
from stewart_identification.calibration.observations import Observations
from stewart_identification.calibration.prediction import weighted
from stewart_identification.estimators.result import rms
from stewart_kinematics.motion import Array

# Shown is what is known twice as well as before; together moves what is known in sum, not singly.
SHOWN, TOGETHER = 0.5, 0.9
TOLD = 1.0 - 1e-6
AXES = 'xyz'
IMU = (
    *((f'IMU mounting {axis}', 'rad') for axis in AXES),
    *((f'base tilt {axis}', 'rad') for axis in 'xy'),
    ('accelerometer scale', '1'),
    ('gyroscope scale', '1'),
    *((f'accelerometer bias {axis}', 'm/s²') for axis in AXES),
    *((f'gyroscope bias {axis}', 'rad/s') for axis in AXES),
)
"""Name and unit of the unknowns from `MOUNTING` on."""
OTHER = 10.0
"""What of an IMU differs by so many times its prior is not it, but read in another way [-]."""
QUESTIONS = {
    'IMU mounting': 'is imu.rpy_deg right?',
    'base tilt': 'is the base so far from level?',
    'accelerometer': 'are specific forces in m/s²?',
    'gyroscope': 'are rates in rad/s?',
}


@dataclass(frozen=True)
class Coordinate:
    """One unknown of the machine.

    Attributes:
        name: Such as ``base joint 3 y``.
        change: From the description.
        deviation: Standard deviation of what was found (`Calibration.deviations`).
        before: Standard deviation before.
        unit: Of these three.
    """

    name: str
    change: float
    deviation: float
    before: float
    unit: str

    @property
    def shown(self) -> bool:
        """Whether the poses tell more of it than was known."""
        return self.deviation < SHOWN * self.before


def coordinates(found: Calibration) -> list[Coordinate]:
    """Return the 42 joint coordinates and lengths, with the deviations before and after."""
    change = np.concatenate(
        [
            (found.machine.base - found.described.base).ravel(),
            (found.machine.platform - found.described.platform).ravel(),
            found.machine.length - found.described.length,
        ]
    )
    return _items(found, 0, [(name, 'm') for name in _names()], change)


def imu_unknowns(found: Calibration) -> list[Coordinate]:
    """Return mounting, tilt, scales and biases of the IMU, those that any row tells of."""
    now, then = found.machine, found.described
    change = np.concatenate(
        [
            Rotation.from_matrix(now.mounting @ then.mounting.T).as_rotvec(),
            np.cross(then.gravity, now.gravity)[:2] / (then.gravity @ then.gravity),
            now.scales - then.scales,
            now.biases - then.biases,
        ]
    )
    items = _items(found, MOUNTING.start, IMU, change)
    # Told of is what the rows weigh at all, however noisy they turn out to be.
    return [item for item in items if item.deviation < found.widening * TOLD * item.before]


def _items(
    found: Calibration, first: int, names: Sequence[tuple[str, str]], change: Array
) -> list[Coordinate]:
    """Return unknowns from `first` on, of names and units and changes (n,)."""
    unknowns = np.eye(SIZE)[first : first + len(names)]
    rows = unknowns @ found.directions
    before = np.sqrt(np.einsum('ij,jk,ik->i', rows, found.prior, rows)).tolist()
    after = found.deviations(unknowns).tolist()
    return [
        Coordinate(name, moved, now, then, unit)
        for (name, unit), moved, now, then in zip(
            names, change.tolist(), after, before, strict=True
        )
    ]


def _names() -> list[str]:
    joints = [
        f'{where} joint {leg} {axis}'
        for where in ('base', 'platform')
        for leg in range(1, 7)
        for axis in AXES
    ]
    return [*joints, *(f'length of leg {leg}' for leg in range(1, 7))]


def remarks(found: Calibration) -> list[str]:
    """Return, in sentences, what these poses cannot show."""
    said = []
    hidden = [item.name for item in coordinates(found) if not item.shown]
    if hidden:
        listed = ', '.join(hidden[:6]) + (', …' if len(hidden) > 6 else '')
        said.append(
            f'{len(hidden)} of {LENGTH.stop} coordinates are hardly better known than before: '
            f'{listed}'
        )
    felt = imu_unknowns(found)
    dark = [item.name for item in felt if not item.shown]
    if dark:
        said.append(f'{", ".join(dark)} of the IMU: hardly better known than before')
    names, rows = _shapes(found.machine)
    known = [name for name, _ in IMU]
    names += [item.name for item in felt]
    rows = np.vstack(
        [rows, *(np.eye(SIZE)[MOUNTING.start + known.index(item.name)] for item in felt)]
    )
    weights = rows @ found.directions
    covariance, prior = (weights @ each @ weights.T for each in (found.covariance, found.prior))
    sigma = np.sqrt(np.diag(covariance))
    loose = found.widening * sigma > 0.3 * np.sqrt(np.diag(prior))
    for one in range(len(names)):
        for other in range(one):
            correlation = covariance[one, other] / (sigma[one] * sigma[other])
            if loose[one] and loose[other] and abs(correlation) > TOGETHER:
                said.append(
                    f'{names[other]} and {names[one]} move together: these poses show what they '
                    'make of each other, not each of them'
                )
    said += beyond_prior(found)
    if found.misfit < MISFIT:
        said.append(
            f'the residuals are {found.excess:.3g} times what the stated noise leaves, and all '
            'intervals are multiplied by that: the noise is larger than stated, rows and poses do '
            'not belong together, or the machine has more than wrong joints (backlash, bending, a '
            'bearing with play)'
        )
    return said


def prediction_misfit(found: Calibration, others: Observations) -> float:
    """Return the probability that poses which were not used are as far off as these [-].

    Their residuals have the noise of the tracker and of the encoders, and what the fit does not
    know of the machine: r' (I + J C J')^-1 r is chi-square. Where the fit contradicts that noise,
    they are held against what it left.

    Args:
        others: Of a tracker; what else they hold is not looked at.
    """
    nothing = np.full((len(others), 3), np.nan)
    poses = replace(others, specific_force=nothing, angular_velocity=nothing)
    poses = poses[np.flatnonzero(poses.tracked)]
    residual, jacobian = weighted(found.machine, poses, found.machine.poses(poses), found.noise)
    reduced = jacobian @ found.directions
    gradient, shown = reduced.T @ residual, reduced.T @ reduced
    # As long as the unknowns, not as the poses.
    of_fit = np.linalg.solve(
        np.eye(len(shown)) + found.covariance @ shown, found.covariance @ gradient
    )
    size, count = float(residual @ residual - gradient @ of_fit), len(residual)
    if found.widening > 1.0:
        return float(fdtrc(count, found.freedoms, size / count / found.widening**2))
    return float(chdtrc(count, size))


def about_others(found: Calibration, others: Observations, chance: float) -> list[str]:
    """Say that poses which were not used contradict the machine, if its intervals hold.

    `chance` is that of `prediction_misfit`.
    """
    if beyond_prior(found) or chance >= MISFIT:
        return []
    off = accuracy(found.machine, others).position
    worst = others[np.flatnonzero(others.tracked)].source[off.argmax()]
    return [
        f'the machine found does not fit the validation poses, {worst} least of all: was the '
        'tracker or the target moved, have the strokes another zero, or is the noise larger than '
        'stated?'
    ]


def beyond_prior(found: Calibration) -> list[str]:
    """Say what changed by more than the prior allows, so that no interval holds."""
    said, changed = list[str](), coordinates(found)
    for what, option, items in (
        ('joints', '--joint-tolerance', changed[: LENGTH.start]),
        ('lengths', '--length-tolerance', changed[LENGTH]),
    ):
        size = sum((item.change / item.before) ** 2 for item in items)
        # What was found differs from the description by less than was allowed for, if that is so.
        if chdtrc(len(items), size) < MISFIT:
            most = 1e3 * max(abs(item.change) for item in items)
            said.append(
                f'the {what} change by up to {most:.3g} mm, beyond what was allowed for, and no '
                f'interval holds: allow for more ({option}), or are the strokes off their zero?'
            )
    return [*said, *beyond_imu(found)]


def beyond_imu(found: Calibration) -> list[str]:
    """Say what of the IMU cannot be so, but is read in another unit, sign or mounting."""
    said = []
    for item in imu_unknowns(found):
        times = abs(item.change) / item.before
        if times > OTHER:
            question = next(text for name, text in QUESTIONS.items() if item.name.startswith(name))
            unit = '' if item.unit == '1' else f' {item.unit}'
            said.append(
                f'{item.name} changes by {item.change:+.3g}{unit}, {times:.0f} times what was '
                f'allowed for, and no interval holds: {question}'
            )
    return said


def _shapes(machine: Machine) -> tuple[list[str], Array]:
    """Return shapes of a platform that an operator has names for, as rows over the unknowns."""
    rows = []
    for joints, start in ((machine.base, 0), (machine.platform, 18)):
        about = joints - joints.mean(axis=0)
        out = about * [1.0, 1.0, 0.0]
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        around = np.cross([0.0, 0.0, 1.0], out) * np.array([1.0, -1.0] * 3)[:, None]
        for shape in (out, around):
            row = np.zeros(SIZE)
            row[start : start + 18] = shape.ravel() / 6.0
            rows.append(row)
    legs = np.zeros(SIZE)
    legs[LENGTH] = 1.0 / 6.0
    names = [
        'the radius of the base',
        'the width of the pairs of the base',
        'the radius of the platform',
        'the width of the pairs of the platform',
        'the length of all legs',
    ]
    return names, np.array([*rows, legs])


@dataclass(frozen=True, eq=False)
class Accuracy:
    """How far the target is from where a machine has it, at poses that were measured.

    Attributes:
        position, attitude (n,): Distance [m] and angle [rad].
    """

    position: Array
    attitude: Array

    def line(self) -> str:
        """Return both as root mean square and maximum."""
        millimetres, milliradians = 1e3 * self.position, 1e3 * self.attitude
        return (
            f'{rms(millimetres):.4g} mm rms, {millimetres.max():.4g} mm at most; '
            f'{rms(milliradians):.4g} mrad rms, {milliradians.max():.4g} mrad at most'
        )


def accuracy(machine: Machine, observations: Observations) -> Accuracy:
    """Return how far a machine is off at poses of a tracker."""
    return Accuracy(*machine.distances(observations))
