# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a machine may have beside viscous and dry friction, as columns beside the parameters.

Columns that bend with the sign of a rate are made of sharply filtered rates and then pass the
low-pass of the forces, so that both keep the same part of every reversal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from stewart_kinematics.motion import Array

TURNING_RATE = 1e-3
"""Rate from which on a leg counts as moving in one direction [m/s]."""
STRIBECK_RATES = (5e-3, 1e-2, 2e-2, 4e-2)
"""Tried, at which the extra friction of starting has fallen to 1/e [m/s]."""
SPRING = 'spring'
"""Along and about the axes of base_link: how stiff, and how it pulls in the neutral pose."""


def per_leg(unit: str) -> dict[str, str]:
    """Return the ends of six names, and one unit for all."""
    return {f'_{leg}': unit for leg in range(1, 7)}


@dataclass(frozen=True)
class Term:
    """A law that the drives follow, or what else holds the platform.

    Attributes:
        kind: What it is called where it is asked for.
        about: What it is, for reports.
        units: Of its parameters, by what these are called behind the name of the term.
        signed: Whether they may be negative.
    """

    kind: str
    about: str
    units: Mapping[str, str]
    signed: bool = False


TERMS = {
    'offset': Term(
        'offset',
        'force offset or dry friction that differs by direction',
        per_leg('N'),
        signed=True,
    ),
    'asymmetry': Term(
        'asymmetry',
        'viscous friction that differs by direction',
        per_leg('N s/m'),
        signed=True,
    ),
    **{
        f'stribeck_{1e3 * rate:g}mm': Term(
            'stribeck', f'Stribeck friction below {1e3 * rate:g} mm/s', per_leg('N'), signed=True
        )
        for rate in STRIBECK_RATES
    },
    'load': Term('load', 'friction in proportion to the load', per_leg('N/N')),
    'rotor': Term('rotor', 'rotor inertia, the same for all legs', {'': 'kg'}),
    'rotors': Term('rotor', 'rotor inertia of each leg', per_leg('kg')),
    SPRING: Term(
        'spring',
        'a spring at the platform, such as a hose',
        {
            f'{end}_{axis}': unit
            for end, unit in {'': 'N/m', '_about': 'N m/rad', '_pull': 'N', '_turn': 'N m'}.items()
            for axis in 'xyz'
        },
        signed=True,
    ),
}
"""By name, in the order of their columns."""
EXACT = ('offset', 'rotor', 'rotors', SPRING)
"""Those that are no friction by a shape of the rate, which drives follow only roughly."""
KINDS = tuple(dict.fromkeys(term.kind for term in TERMS.values()))


def friction_shapes(rates: Array, forces: Array) -> Array:
    """Return what friction multiplies: direction, |rate|, Stribeck's, and direction times load.

    Args:
        rates (n, m): Of the legs [m/s].
        forces (n, m): Along the legs [N]; NaN counts as none.

    Returns:
        (n, m, s): [-], [m/s], [-] once per `STRIBECK_RATES`, [N].
    """
    direction = np.clip(rates / TURNING_RATE, -1.0, 1.0)
    bumps = [direction * np.exp(-((rates / rate) ** 2)) for rate in STRIBECK_RATES]
    load = direction * np.abs(np.nan_to_num(forces))
    return np.stack([direction, np.abs(rates), *bumps, load], axis=-1)


def term_column(name: str, shapes: Array, acceleration: Array) -> Array:
    """Return what a unit of a term of the drives adds to each leg's force, shape (n, m).

    Args:
        name: Of the term; any but `SPRING`.
        shapes (n, m, s): `friction_shapes`, filtered as the forces.
        acceleration (n, m): Of the legs [m/s²].
    """
    if name.startswith('rotor'):
        return acceleration
    if name == 'offset':
        return np.ones_like(acceleration)
    places = [name for name in TERMS if name not in EXACT]
    return np.asarray(shapes[..., 1 + places.index(name)])
