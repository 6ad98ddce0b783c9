# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The Cylindrical paper's robot, trajectories, samples and limits."""

from __future__ import annotations

import itertools
from typing import Any

from cylindrical_robot import CylindricalRobot
import numpy as np
from serial_robot import JointMotion
from stewart_identification.experiment import Experiment
from stewart_kinematics.motion import Array

# From the order of Tables V to VII to the model's: m, s, Ixx, Ixy, Ixz, Iyy, Iyz, Izz, fv, fc.
ORDER = [0, 1, 2, 3, 4, 7, 9, 5, 8, 6, 11, 10]


def parameters(said: dict[str, Any], key: str) -> Array:
    """Return `key` of all links, shape (36,), in the model's order."""
    return np.concatenate([np.array(link[key], dtype=float)[ORDER] for link in said['links']])


def statuses(said: dict[str, Any]) -> list[str]:
    """Return the printed status of all parameters, in the model's order."""
    return [link['status'][k] for link in said['links'] for k in ORDER]


def box(said: dict[str, Any]) -> Array:
    """Return the bounds of the swarm, shape (2, 36)."""
    b = said['box']
    rows = [b['m'], *[b['s']] * 3, *[b['I']] * 6, *[b['f']] * 2]
    return np.tile(np.array(rows).T, 3)


def robot(said: dict[str, Any]) -> CylindricalRobot:
    """Return the closed form with the true values as nominal ones."""
    return CylindricalRobot(parameters(said, 'truth'), box(said), said['choices']['gravity_mps2'])


def sines(a: Array, w: Array, c: Array, time: Array) -> JointMotion:
    """Return q_j = c_j + sum_k a_kj sin(w_kj t) and its derivatives; a, w of shape (3, k)."""
    angle = np.multiply.outer(time, w)
    return JointMotion(
        c + np.sum(a * np.sin(angle), axis=-1),
        np.sum(a * w * np.cos(angle), axis=-1),
        -np.sum(a * w**2 * np.sin(angle), axis=-1),
    )


def instants(said: dict[str, Any]) -> Array:
    """Return the instants of the samples."""
    chosen = said['choices']
    return np.linspace(0.0, chosen['duration_s'], chosen['samples'])


def excess(motion: JointMotion, limits: dict[str, Any]) -> Array:
    """Return by how much each joint leaves its limits at worst, shape (3,); 0 if it does not."""
    low, high = np.array(limits['position'], dtype=float).T
    over = [
        np.maximum(motion.position - high, low - motion.position),
        np.abs(motion.velocity) - limits['velocity'],
        np.abs(motion.acceleration) - limits['acceleration'],
    ]
    return np.maximum(np.max(over, axis=(0, 1)), 0.0)


def least_excess(
    said: dict[str, Any], a: Array, w: Array, c: Array, limits: dict[str, Any]
) -> tuple[float, Array, Array]:
    """Try all signs of amplitudes and constants that the text may have lost.

    Returns:
        Largest excess of any joint, with the signs that make it least.
        Amplitudes and constants with these signs.
    """
    time = np.linspace(0.0, said['choices']['duration_s'], 1001)
    best_a, best_c, worst = np.array(a, dtype=float), np.array(c, dtype=float), np.full(3, np.inf)
    for signs in itertools.product((1.0, -1.0), repeat=4):
        turned_a, turned_c = np.abs(a) * signs[:3], np.abs(c) * signs[3]
        found = excess(sines(turned_a, np.array(w), turned_c, time), limits)
        better = found < worst
        best_a[better], best_c[better] = turned_a[better], turned_c[better]
        worst = np.minimum(worst, found)
    return float(worst.max()), best_a, best_c


def disturbed(
    model: CylindricalRobot, motion: JointMotion, said: dict[str, Any], rng: np.random.Generator
) -> Experiment:
    """Return the samples: forces of the true robot, each with an error of up to 10 %."""
    time = instants(said)
    clean = Experiment(time, motion, np.zeros((len(time), 3)))
    forces = model.predict(model.nominal, clean)
    part = said['choices']['noise']
    return clean.with_forces(forces * (1.0 + rng.uniform(-part, part, forces.shape)))
