# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Weigh the precision of the forward dynamics against its cost, beside MuJoCo and Pinocchio.

An asymmetric EX800 is let go at home with all six velocities, under the constant forces that would
hold it there. Pose error is the largest distance from a reference, energy drift the largest gap
between the energy and the forces' work, both looked at every 40 ms. The energy is MuJoCo's in all
cases. MuJoCo's connect constraints are soft: they are made as hard as it takes (time constant of
two steps, impedance 0.9999), and once left at its defaults. Pinocchio's are rigid, without a
corrector; it gives accelerations, and the Runge-Kutta steps are taken in Python.
"""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

from collections.abc import Callable
from dataclasses import asdict, dataclass
import sys

import asymmetric
from matplotlib.figure import Figure
import mujoco
from mujoco_chain import MujocoChain
import numpy as np
from pinocchio_chain import PinocchioChain
from scipy.integrate import DOP853
from scipy.spatial.transform import Rotation
from stewart_dynamics.forward_dynamics import advance, initial_state, state_derivative
from stewart_dynamics.forward_kernels import ANGULAR_VELOCITY, LINEAR_VELOCITY
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion

PACKAGES = ('numpy', 'scipy', 'numba', 'mujoco', 'pin')
LOOKS, LOOK_EVERY_MS = 8, 40
OUR_STEPS_MS = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25)
MUJOCO_STEPS_MS = (4.0, 2.0, 1.0, 0.5, 0.25)
PINOCCHIO_STEPS_MS = (4.0, 2.0, 1.0)
INTEGRATORS = ('Euler', 'implicitfast', 'RK4')


@dataclass(frozen=True)
class Case:
    """The problem: the platform, how it starts, and the forces."""

    platform: Platform
    model: InertialModel
    start: Array
    forces: Array
    reference: Array

    @property
    def motion(self) -> Motion:
        """The start as a motion."""
        return as_motion(self.start)


@dataclass(frozen=True)
class Run:
    """What one integrator with one step made of it; times are added when they are known."""

    method: str
    step_ms: float
    pose_error_m: float
    energy_drift_j: float
    gap_m: float


def as_motion(state: Array) -> Motion:
    """Return a state as a motion without acceleration."""
    return Motion(state[:3], state[3:7], state[7:])


def reference(model: InertialModel, start: Array, forces: Array, longest_step: float) -> Array:
    """Integrate by DOP853 at 1e-13; return the states at the looks, shape (LOOKS, 13)."""
    states, state = [], start
    for _ in range(LOOKS):
        solver = DOP853(
            lambda _, y: state_derivative(model, y, forces),
            0.0,
            state,
            LOOK_EVERY_MS * 1e-3,
            rtol=1e-13,
            atol=1e-15,
            max_step=longest_step,
        )
        while solver.status == 'running':
            solver.step()
        state = solver.y
        states.append(state)
    return np.array(states)


def make_case() -> tuple[Case, float]:
    """Return the problem and how far its reference moves when the longest step is halved."""
    platform = asymmetric.platform()
    model, home = InertialModel.from_platform(platform), platform.geometry.neutral_pose
    forces = actuator_forces(model, Motion.at_rest(home))
    start = initial_state(home)
    start[LINEAR_VELOCITY], start[ANGULAR_VELOCITY] = [0.05, -0.1, 0.08], [0.4, 0.3, -0.6]
    coarse, fine = (reference(model, start, forces, step) for step in (2e-3, 1e-3))
    return Case(platform, model, start, forces, fine), float(np.abs(coarse - fine).max())


def pose_error(case: Case, look: int, pose: Array) -> float:
    """Return the distance from the reference, an angle counted at the joints' radius [m]."""
    wanted = case.reference[look]
    turn = Rotation.from_quat(wanted[3:7]).inv() * Rotation.from_quat(pose[3:7])
    return float(
        np.hypot(
            np.linalg.norm(pose[:3] - wanted[:3]),
            case.model.length_scale * np.linalg.norm(turn.as_rotvec()),
        )
    )


def run_ours(case: Case, step_ms: float) -> Run:
    """Integrate with our Runge-Kutta steps."""
    judge = MujocoChain(case.platform)

    def energy_and_work(state: Array) -> tuple[float, float]:
        judge.put(as_motion(state))
        strokes = judge.data.qpos[9::3].copy()
        return judge.energy(), float(case.forces @ strokes)

    state, first = case.start, energy_and_work(case.start)
    errors, drifts = [], []
    for look in range(LOOKS):
        steps = round(LOOK_EVERY_MS / step_ms)
        state = advance(case.model, state, case.forces, step_ms * 1e-3, steps=steps)
        energy, work = energy_and_work(state)
        errors.append(pose_error(case, look, state))
        drifts.append(abs(energy - first[0] - (work - first[1])))
    return Run('ours, Runge-Kutta 4', step_ms, max(errors), max(drifts), judge.gap())


def make_chain(case: Case, integrator: str, step_ms: float, *, hard: bool) -> MujocoChain:
    """Put MuJoCo at the start with the same forces."""
    chain = MujocoChain(case.platform, integrator, step_ms * 1e-3, hard=hard)
    chain.put(case.motion)
    chain.data.qfrc_applied[:] = chain.drive @ case.forces
    return chain


def run_mujoco(case: Case, integrator: str, step_ms: float, *, hard: bool) -> Run:
    """Integrate with MuJoCo."""
    chain = make_chain(case, integrator, step_ms, hard=hard)
    first = chain.energy(), float(case.forces @ chain.data.qpos[9::3])
    errors, drifts, gaps = [], [], []
    for look in range(LOOKS):
        mujoco.mj_step(chain.model, chain.data, round(LOOK_EVERY_MS / step_ms))
        errors.append(pose_error(case, look, chain.platform_state()))
        work = float(case.forces @ chain.data.qpos[9::3]) - first[1]
        drifts.append(abs(chain.energy() - first[0] - work))
        gaps.append(chain.gap())
    name = f'MuJoCo, {integrator}' + ('' if hard else ', default connect')
    return Run(name, step_ms, max(errors), max(drifts), max(gaps))


def run_pinocchio(case: Case, step_ms: float) -> Run:
    """Integrate with Pinocchio's constraint dynamics."""
    judge, chain = MujocoChain(case.platform), PinocchioChain(case.platform)
    state = np.concatenate(chain.state(case.motion)[:2])
    errors, drifts, gaps = [], [], []
    strokes = state[2:18:3].copy()
    judge.put(case.motion)
    start = judge.energy()
    for look in range(LOOKS):
        for _ in range(round(LOOK_EVERY_MS / step_ms)):
            state = chain.step(state, case.forces, step_ms * 1e-3)
        motion = chain.motion(state)
        judge.put(motion)
        errors.append(pose_error(case, look, state[18:25]))
        drifts.append(abs(judge.energy() - start - case.forces @ (state[2:18:3] - strokes)))
        gaps.append(chain.gap(state))
    return Run('Pinocchio, Runge-Kutta 4', step_ms, max(errors), max(drifts), max(gaps))


def task_pinocchio(case: Case, step_ms: float) -> Callable[[], object]:
    """Return the whole run as something to time."""
    chain = PinocchioChain(case.platform)
    start = np.concatenate(chain.state(case.motion)[:2])

    def run() -> None:
        state = start
        for _ in range(round(LOOKS * LOOK_EVERY_MS / step_ms)):
            state = chain.step(state, case.forces, step_ms * 1e-3)

    return run


def task_ours(case: Case, step_ms: float) -> Callable[[], object]:
    """Return the whole run as something to time."""
    steps = round(LOOKS * LOOK_EVERY_MS / step_ms)
    return lambda: advance(case.model, case.start, case.forces, step_ms * 1e-3, steps=steps)


def task_mujoco(
    case: Case, integrator: str, step_ms: float, *, hard: bool
) -> Callable[[], object]:
    """Return the whole run as something to time, the loop over the steps in C."""
    chain = make_chain(case, integrator, step_ms, hard=hard)
    start = chain.data.qpos.copy(), chain.data.qvel.copy()
    steps = round(LOOKS * LOOK_EVERY_MS / step_ms)

    def run() -> None:
        chain.data.qpos[:], chain.data.qvel[:] = start
        mujoco.mj_step(chain.model, chain.data, steps)

    return run


def plot(rows: list[dict[str, object]]) -> Figure:
    """Draw error and drift over the cost of a simulated second."""
    figure = Figure(figsize=(10.0, 4.6), layout='constrained')
    left, right = figure.subplots(1, 2, sharex=True)
    for method in dict.fromkeys(row['method'] for row in rows):
        chosen = [row for row in rows if row['method'] == method]
        cost = [row['cost_ms_per_s'] for row in chosen]
        style = 'o-' if str(method).startswith('ours') else '.--'
        left.loglog(cost, [row['pose_error_m'] for row in chosen], style, label=method)
        right.loglog(cost, [row['energy_drift_j'] for row in chosen], style, label=method)
    left.set_ylabel('largest pose error [m]')
    right.set_ylabel('largest energy drift [J]')
    for axes in (left, right):
        axes.set_xlabel('computing time per simulated second [ms]')
        axes.grid(visible=True, alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc='outside lower center', ncols=5)
    return figure


def main() -> int:
    """Measure, print, draw and write."""
    case, doubt = make_case()
    print(f'the reference moves by {doubt:.1e} when its longest step is halved from 2 to 1 ms')
    if not doubt < 1e-12:
        raise RuntimeError('the reference is not converged to 1e-12')
    runs = [run_ours(case, step) for step in OUR_STEPS_MS]
    calls = [task_ours(case, step) for step in OUR_STEPS_MS]
    choices = [(name, step, True) for name in INTEGRATORS for step in MUJOCO_STEPS_MS]
    choices += [('Euler', step, False) for step in MUJOCO_STEPS_MS]
    for name, step, hard in choices:
        runs.append(run_mujoco(case, name, step, hard=hard))
        calls.append(task_mujoco(case, name, step, hard=hard))
    runs += [run_pinocchio(case, step) for step in PINOCCHIO_STEPS_MS]
    calls += [task_pinocchio(case, step) for step in PINOCCHIO_STEPS_MS]
    tasks = [
        harness.Task(
            f'{run.method}, {run.step_ms:g} ms', call, round(LOOKS * LOOK_EVERY_MS / run.step_ms)
        )
        for run, call in zip(runs, calls, strict=True)
    ]
    about = harness.machine(PACKAGES)
    timings = harness.measure(tasks)
    rows: list[dict[str, object]] = [
        {**asdict(run), 'cost_ms_per_s': timing.median_us / run.step_ms}
        for run, timing in zip(runs, timings, strict=True)
    ]
    print(f'{"":38s} {"step":>6s} {"cost":>9s} {"error":>9s} {"drift":>9s} {"gap":>9s}')
    for row in rows:
        print(
            f'{row["method"]:38s} {row["step_ms"]:6g} {row["cost_ms_per_s"]:9.3g} '
            f'{row["pose_error_m"]:9.2g} {row["energy_drift_j"]:9.2g} {row["gap_m"]:9.2g}'
        )
    print('step [ms], cost [ms per simulated second], pose error [m], drift [J], gap [m]\n')
    code = harness.report('forward_dynamics', timings, about, reference=doubt, runs=rows)
    plot(rows).savefig(harness.OUTPUT / 'forward_dynamics.png', dpi=120)
    return code


if __name__ == '__main__':
    sys.exit(main())
