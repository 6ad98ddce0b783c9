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

PACKAGES = ('numpy', 'scipy', 'numba', 'mujoco', 'pin')
MUJOCO = 'MuJoCo, rigid closed chain'
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
    scale = np.abs(ours).max()
    agreement = {
        'pinocchio': float(np.abs(pinocchio.forces(state) - ours).max() / scale),
        'mujoco': float(np.abs(chain.forces() - ours).max() / scale),
        '78 coordinates': float(np.abs(many - actuator_forces(model, motion)).max() / scale),
    }
    for peer, difference in agreement.items():
        print(f'{peer} differs by {difference:.1e} of the largest force')
        if not difference < 1e-9:
            raise RuntimeError(f'{peer} does something else')

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
    start, step = initial_state(platform.geometry.neutral_pose), 1e-3
    tasks = [
        harness.Task(
            'actuator_forces(), one sample',
            lambda: actuator_forces(model, sample),
            1,
            MUJOCO,
            0.4,
        ),
        harness.Task(
            'its kernel, called from Python',
            lambda: newton_euler_kernels.actuator_forces(*arguments),
            1,
            MUJOCO,
            0.15,
        ),
        harness.Task(MUJOCO, chain.forces),
        harness.Task(
            'MuJoCo, mj_inverse alone', lambda: mujoco.mj_inverse(chain.model, chain.data)
        ),
        harness.Task('Pinocchio, closed chain', lambda: pinocchio.forces(state)),
        harness.Task('Pinocchio, rnea of the open tree', lambda: pinocchio.tree(state)),
        *(
            harness.Task(
                f'actuator_forces(), batch of {count}',
                lambda motion=motions[count]: actuator_forces(model, motion),
                count,
                MUJOCO,
                0.05,
            )
            for count in BATCHES
        ),
        harness.Task('reactions(), batch', lambda: reactions(model, motion), 1_000),
        harness.Task('regressor(), batch, 30 columns', lambda: regressor(model, motion), 1_000),
        harness.Task(
            'regressor(), batch, platform',
            lambda: regressor(model, motion, columns=PLATFORM),
            1_000,
            'Pinocchio, regressor of the open tree',
            0.25,
        ),
        harness.Task(
            'Pinocchio, regressor of the open tree', lambda: pinocchio.tree_regressor(state)
        ),
        harness.Task('78 coordinates, batch', lambda: multibody.solve(motion), 1_000),
        harness.Task('state_derivative()', lambda: state_derivative(model, start, ours)),
        harness.Task('advance(), one step', lambda: advance(model, start, ours, step)),
        harness.Task(
            'advance(), 100 steps', lambda: advance(model, start, ours, step / 100, steps=100), 100
        ),
    ]
    about = harness.machine(PACKAGES)
    return harness.report('dynamics', harness.measure(tasks), about, agreement=agreement)


if __name__ == '__main__':
    sys.exit(main())
