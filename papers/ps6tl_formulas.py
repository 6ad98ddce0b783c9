# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The PS-6TL paper's formulas, printed, repaired and the package's, against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lagrangian import LagrangianModel
import numpy as np
from ps6tl_cases import Case
import ps6tl_printed as printed
from reproduction import Report
from scipy.spatial.transform import Rotation
from stewart_kinematics.motion import Array, read_only

STEP = 1e-6
SAMPLES = 20


def compare_formulas(
    report: Report, plate: LagrangianModel, second: Case, said: dict[str, Any]
) -> None:
    """Compare every formula with the definition that it claims to work out."""
    model = replace(plate, moments=read_only(said['moments_kgm2']))
    rng = np.random.default_rng(5)
    x = rng.uniform(-0.4, 0.4, size=(SAMPLES, 6))
    x[:, 2] += 2.3
    dx = rng.normal(size=(SAMPLES, 6))
    _compare_energy(report, model, x, dx, said)
    _compare_angular_velocity(report, x, dx, said)
    _compare_coriolis(report, model, x, dx, said)
    _compare_jacobian(report, model, x, second, said)
    _compare_leg_space(report, model, x, dx, said)


def _compare_energy(
    report: Report, model: LagrangianModel, x: Array, dx: Array, said: dict[str, Any]
) -> None:
    """Compare Eq. 17 and the package's M with the energy of a turning plate."""
    block = printed.mass_block(x[:, 3:], model.moments)
    ours = 0.5 * np.einsum('ni,nij,nj->n', dx[:, 3:], block, dx[:, 3:])
    for sequence, order, key, text in (
        ('XYZ', [0, 1, 2], 'energy_xyz', 'R_x R_y R_z'),
        ('ZYX', [2, 1, 0], 'energy_eq_3', 'Eq. 3'),
    ):
        omega = _body_rate(sequence, x[:, 3:][:, order], dx[:, 3:][:, order])
        energy = 0.5 * np.sum(model.moments * omega**2, axis=1)
        report.add(f'Eq. 17 as printed: energy, {text}', _worst(ours - energy), said[key])
    whole = 0.5 * np.einsum('ni,nij,nj->n', dx, model.mass_matrix(x), dx)
    moving = 0.5 * model.mass * np.sum(dx[:, :3] ** 2, axis=1)
    report.add('our M: energy, Eq. 3', _worst(whole - moving - energy), said['energy'])


def _compare_angular_velocity(report: Report, x: Array, dx: Array, said: dict[str, Any]) -> None:
    """Compare Eq. 15 with the derivative of its own rotation and of Eq. 3."""
    angles, rates = x[:, 3:], dx[:, 3:]
    own = _body_rate('YXZ', angles[:, [1, 0, 2]], rates[:, [1, 0, 2]])
    third = _body_rate('ZYX', angles[:, ::-1], rates[:, ::-1])
    ours = printed.angular_velocity(angles, rates, repaired=False)
    report.add('Eq. 15 as printed: ω, R_y R_x R_z', _worst(ours - own), said['omega'])
    report.add('Eq. 15 as printed: ω, Eq. 3', _worst(ours - third), said['omega_eq_3'])
    ours = printed.angular_velocity(angles, rates, repaired=True)
    report.add('Eq. 15 repaired: ω, R_y R_x R_z', _worst(ours - own), said['omega_repaired'])


def _compare_coriolis(
    report: Report, model: LagrangianModel, x: Array, dx: Array, said: dict[str, Any]
) -> None:
    """Compare Eqs. 22 to 24 with the derivative of Eq. 17, and the package's C with its M's."""
    angles, rates = x[:, 3:], dx[:, 3:]
    equal = np.full(3, 0.085)
    for text, moments, repaired, key in (
        ('as printed', model.moments, False, 'skew'),
        ('as printed, I_p = 0.085 kg m²', equal, False, 'skew'),
        ('repaired', model.moments, True, 'skew_repaired'),
    ):
        rate = _along(lambda q, m=moments: printed.mass_block(q, m), angles, rates)
        coriolis = printed.coriolis_block(angles, rates, moments, repaired=repaired)
        report.add(
            f'Eq. 24 {text}: symmetric part of Ṁ − 2C', _symmetric(rate, coriolis), said[key]
        )
    force = np.einsum('nij,nj->ni', coriolis, rates)
    lagrange = _lagrange(lambda q: printed.mass_block(q, model.moments), angles, rates)
    report.add('Eq. 24 repaired: C q̇ against Eq. 7', _worst(force - lagrange), said['lagrange'])
    rate = _along(model.mass_matrix, x, dx)
    ours = model.coriolis_matrix(x, dx)
    source = {'source': 'Eq. 3'}
    report.add(
        'our C: symmetric part of Ṁ − 2C', _symmetric(rate, ours), said['skew_repaired'] | source
    )
    force = np.einsum('nij,nj->ni', ours, dx)
    lagrange = _lagrange(model.mass_matrix, x, dx)
    report.add('our C: C q̇ against Eq. 7', _worst(force - lagrange), said['lagrange'] | source)


def _compare_jacobian(
    report: Report, model: LagrangianModel, x: Array, second: Case, said: dict[str, Any]
) -> None:
    """Compare Eq. 25 and the package's J with the derivative of the leg lengths."""
    joints = model.base_joints, model.platform_joints
    numeric = np.stack(
        [
            _along(lambda q: printed.leg_lengths(*joints, q), x, np.broadcast_to(axis, x.shape))
            for axis in np.eye(6)
        ],
        axis=-1,
    )
    ours = printed.jacobian(*joints, x, repaired=False) - numeric
    report.add('Eq. 25 as printed: J(i,5)', _worst(ours[..., 4]), said['fifth'])
    report.add('Eq. 25 as printed: J(i,6)', _worst(ours[..., 5]), said['sixth'])
    ours = printed.jacobian(*joints, x, repaired=True) - numeric
    report.add('Eq. 25 repaired: J', _worst(ours), said['jacobian_repaired'])
    source = {'source': 'Eq. 3'}
    report.add('our J', _worst(model.jacobian(x) - numeric), said['jacobian_repaired'] | source)
    matrix = printed.jacobian(*joints, second.coordinates, repaired=False)
    values = np.linalg.svd(matrix, compute_uv=False)
    report.add(
        'Eq. 25 as printed, case 2: singular value, least to largest',
        (values[:, -1] / values[:, 0]).max(),
        said['singular'],
        'J as printed has no inverse there: no force could have been computed with it',
    )


def _compare_leg_space(
    report: Report, model: LagrangianModel, x: Array, dx: Array, said: dict[str, Any]
) -> None:
    """Compare Eqs. 20 and 21, which go from the coordinates to the legs."""
    jacobian, mass = model.jacobian(x), model.mass_matrix(x)
    rates = np.einsum('nij,nj->ni', jacobian, dx)
    back = np.linalg.solve(np.swapaxes(jacobian, 1, 2), rates[..., None])[..., 0]
    report.add('Eq. 20 as printed: Ẋ from the leg rates', _worst(back - dx), said['rates'])
    energy = 0.5 * np.einsum('ni,nij,nj->n', dx, mass, dx)
    slope = _along(model.jacobian, x, dx)
    coriolis = model.coriolis_matrix(x, dx)
    weight = model.gravity_vector()
    inverse = np.linalg.inv(jacobian)
    for text, suffix, outer, inner in (
        ('as printed', '', model.jacobian, jacobian),
        ('repaired', '_repaired', lambda q: np.linalg.inv(model.jacobian(q)), inverse),
    ):
        left = outer(x)

        def leg_mass(q: Array, outer: Callable[[Array], Array] = outer) -> Array:
            side = outer(q)
            return np.asarray(np.swapaxes(side, 1, 2) @ model.mass_matrix(q) @ side)

        ours = 0.5 * np.einsum('ni,nij,nj->n', rates, leg_mass(x), rates)
        report.add(f'Eq. 21 {text}: energy', _worst(ours - energy), said[f'leg_energy{suffix}'])
        legs = np.swapaxes(left, 1, 2) @ (coriolis - mass @ inner @ slope) @ left
        report.add(
            f'Eq. 21 {text}: symmetric part of Ṁ − 2C',
            _symmetric(_along(leg_mass, x, dx), legs),
            said[f'leg_skew{suffix}'],
        )
        holding = np.einsum('nji,j->ni', left, weight)
        lifted = np.einsum('nij,ni->nj', jacobian, holding)
        report.add(
            f'Eq. 21 {text}: what G lifts, against the weight',
            _worst(lifted - weight),
            said[f'leg_weight{suffix}'],
        )


def _body_rate(sequence: str, angles: Array, rates: Array) -> Array:
    """Return the angular velocity in body axes by a central difference, shape (n, 3) [rad/s]."""
    before, after = (
        Rotation.from_euler(sequence, angles + sign * STEP * rates) for sign in (-1.0, 1.0)
    )
    return (before.inv() * after).as_rotvec() / (2.0 * STEP)


def _along(function: Callable[[Array], Array], x: Array, direction: Array) -> Array:
    """Return the derivative of a function along a direction by a central difference."""
    return (function(x + STEP * direction) - function(x - STEP * direction)) / (2.0 * STEP)


def _symmetric(rate: Array, coriolis: Array) -> float:
    """Return the largest entry of the symmetric part of rate − 2 coriolis, which should be 0."""
    rest = rate - 2.0 * coriolis
    return _worst(0.5 * (rest + np.swapaxes(rest, 1, 2)))


def _lagrange(mass: Callable[[Array], Array], x: Array, dx: Array) -> Array:
    """Return dM/dt dx − ½ ∂(dxᵀ M dx)/∂x, Eq. 7, by central differences."""
    slope = np.stack(
        [
            np.einsum('ni,nij,nj->n', dx, _along(mass, x, np.broadcast_to(axis, x.shape)), dx)
            for axis in np.eye(x.shape[1])
        ],
        axis=1,
    )
    return np.einsum('nij,nj->ni', _along(mass, x, dx), dx) - 0.5 * slope


def _worst(values: Array) -> float:
    """Return the largest magnitude."""
    return float(np.abs(values).max())
