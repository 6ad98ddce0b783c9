# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time the dynamics of an asymmetric EX800 against Pinocchio and MuJoCo, one thread.

The peers are given their joint coordinates, which they would otherwise have to solve for, and what
is timed is checked first: all give the same actuator forces.
"""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

import sys

import asymmetric
import mujoco
from mujoco_chain import MujocoChain
import numpy as np
from pinocchio_chain import PinocchioChain
from stewart_dynamics import newton_euler_kernels
from stewart_dynamics.forward_dynamics import advance, initial_state, state_derivative
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.leg_kernels import PLATFORM
from stewart_dynamics.multibody import MultibodyModel
from stewart_dynamics.newton_euler import actuator_forces, reactions, regressor
from stewart_kinematics.motion import Array, Motion

PACKAGES = ('numpy', 'scipy', 'numba', 'mujoco', 'pin')
MUJOCO, TREE = 'MuJoCo, rigid closed chain', 'Pinocchio, regressor of the open tree'
BATCHES = (100, 1_000, 10_000, 100_000)


def main() -> int:
    """Measure, print and write."""
    platform = asymmetric.platform()
    model, multibody = (
        InertialModel.from_platform(platform),
        MultibodyModel.from_platform(platform),
    )
    motions = {count: asymmetric.motion(platform, count) for count in BATCHES}
    motion = motions[1_000]
    sample = motion[300]
    pinocchio, chain = PinocchioChain(platform), MujocoChain(platform)
    state = pinocchio.state(sample)
    chain.put(sample)
    ours = actuator_forces(model, sample)
    many = multibody.solve(motion).actuator_forces
    agreement = checked(
        {
            'pinocchio': pinocchio.forces(state) - ours,
            'mujoco': chain.forces() - ours,
            '78 coordinates': many - actuator_forces(model, motion),
        },
        float(np.abs(ours).max()),
    )
    tasks = [
        *of_one_sample(model, sample),
        harness.Task(MUJOCO, chain.forces),
        harness.Task(
            'MuJoCo, mj_inverse alone', lambda: mujoco.mj_inverse(chain.model, chain.data)
        ),
        harness.Task('Pinocchio, closed chain', lambda: pinocchio.forces(state)),
        harness.Task('Pinocchio, rnea of the open tree', lambda: pinocchio.tree(state)),
        *of_batches(model, motions),
        harness.Task(TREE, lambda: pinocchio.tree_regressor(state)),
        harness.Task('78 coordinates, batch', lambda: multibody.solve(motion), 1_000),
        *forward(model, initial_state(platform.geometry.neutral_pose), ours),
    ]
    about = harness.machine(PACKAGES)
    return harness.report('dynamics', harness.measure(tasks), about, agreement=agreement)


def checked(differences: dict[str, Array], scale: float) -> dict[str, float]:
    """Return by how much others differ, as shares of a force: no more than rounding."""
    agreement = {peer: float(np.abs(item).max() / scale) for peer, item in differences.items()}
    for peer, difference in agreement.items():
        print(f'{peer} differs by {difference:.1e} of the largest force')
        if not difference < 1e-9:
            raise RuntimeError(f'{peer} does something else')
    return agreement


def of_one_sample(model: InertialModel, sample: Motion) -> list[harness.Task]:
    """Return the forces of one sample, and their kernel alone."""
    arguments = (
        model.base_joints,
        model.platform_joints,
        model.universal_axes,
        model.gravity,
        model.parameters[None],
        sample.position[None],
        sample.quaternion_xyzw[None],
        sample.twist[None],
        sample.acceleration[None],
        np.empty((1, 1, 6)),
    )
    kernel = newton_euler_kernels.actuator_forces
    return [
        harness.Task(
            'actuator_forces(), one sample', lambda: actuator_forces(model, sample), 1, MUJOCO, 0.4
        ),
        harness.Task(
            'its kernel, called from Python', lambda: kernel(*arguments), 1, MUJOCO, 0.15
        ),
    ]


def of_batches(model: InertialModel, motions: dict[int, Motion]) -> list[harness.Task]:
    """Return forces, reactions and regressors of many samples at once."""
    motion = motions[1_000]
    forces = [
        harness.Task(
            f'actuator_forces(), batch of {count}',
            lambda several=several: actuator_forces(model, several),
            count,
            MUJOCO,
            0.05,
        )
        for count, several in motions.items()
    ]
    return [
        *forces,
        harness.Task('reactions(), batch', lambda: reactions(model, motion), 1_000),
        harness.Task('regressor(), batch, 30 columns', lambda: regressor(model, motion), 1_000),
        harness.Task(
            'regressor(), batch, platform',
            lambda: regressor(model, motion, columns=PLATFORM),
            1_000,
            TREE,
            0.25,
        ),
    ]


def forward(model: InertialModel, start: Array, forces: Array) -> list[harness.Task]:
    """Return the forward dynamics."""
    step = 1e-3
    return [
        harness.Task('state_derivative()', lambda: state_derivative(model, start, forces)),
        harness.Task('advance(), one step', lambda: advance(model, start, forces, step)),
        harness.Task(
            'advance(), 100 steps',
            lambda: advance(model, start, forces, step / 100, steps=100),
            100,
        ),
    ]


if __name__ == '__main__':
    sys.exit(main())
