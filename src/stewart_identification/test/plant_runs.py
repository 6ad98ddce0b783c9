# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the EX800 on the simulated plant, and what the identifier makes of them.

The plant is the rig's own back end, without its clock: thirteen bodies with a payload, joints that
are not where the drawing has them, viscous and dry friction, servo drives that hear a target every
2.5 ms, quantised torque feedback, encoders. The identifier gets strokes and forces of the legs and
the nominal description, and never anything else, and it is the one that ``stewart identify`` runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from stewart_driver.path.motion import LegMotion
from stewart_dynamics.inertia import ten_parameters
from stewart_identification.choice import with_noise
from stewart_identification.estimators.consistent import Consistent
from stewart_identification.estimators.result import Result
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import cramer_rao
from stewart_identification.identify import Options
from stewart_identification.models.platform import PlatformModel
from stewart_identification.recording.from_bag import Extraction, motion_piece
from stewart_identification.recording.legs import LegPiece
from stewart_identification.recording.low_pass import LowPass
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories.fading import Faded
from stewart_kinematics.trajectories.multi_sine import from_yaml, MultiSine
from stewart_simulation.differences import PAYLOAD_RADIUS
from stewart_simulation.simulated_backend import SimulatedBackend, SimulatedOptions

PAYLOAD_MASS, PAYLOAD_POSITION = 2.0, (0.05, -0.03, 0.08)
FORCE_NOISE, JOINT_ERROR = 0.5, 1e-4
STRIDE, THIN, DURATION, FADE = 2, 2, 10.0, 2.0
"""Every second exchange is published, as `publish_rate` has it; every second of that is used."""
LOST = 0.8
"""What the filters take at both ends, and a little more [s]."""


def rig() -> SimulatedOptions:
    """Return the drives and the friction of ``rig_ex800.yaml``."""
    return SimulatedOptions(
        platform='ex800',
        enable_delay=1e-3,
        force_noise=FORCE_NOISE,
        force_limit=200.0,
        rated_force=50.0,
        position_gain=30.0,
        rate_loop_bandwidth=20.0,
        integral_time=0.05,
        viscous_friction=5.0,
        coulomb_friction=0.3,
        payload_mass=PAYLOAD_MASS,
        payload_position=PAYLOAD_POSITION,
        joint_error=JOINT_ERROR,
    )


@dataclass(frozen=True, eq=False)
class Run:
    """One run to be made: everything random follows from the seed."""

    platform: Platform
    motion: MultiSine
    seed: int
    options: SimulatedOptions = field(default_factory=rig)

    @property
    def truth(self) -> np.ndarray:
        """Ten inertial parameters and twelve of friction that the plant has."""
        masses = self.platform.masses
        assert masses is not None
        mass = self.options.payload_mass
        inertia = 0.4 * mass * PAYLOAD_RADIUS**2 * np.eye(3)
        sphere = RigidBody(mass, np.array(PAYLOAD_POSITION), inertia)
        ten = ten_parameters(masses.platform) + ten_parameters(sphere)
        friction = (self.options.viscous_friction, self.options.coulomb_friction)
        return np.concatenate([ten, np.repeat(friction, 6)])


def record(run: Run, *, instruments: bool = False) -> LegPiece:
    """Play the motion on the simulated back end; return what it reports, every other cycle."""
    platform, home = run.platform, run.platform.geometry.neutral_pose
    options = replace(run.options, seed=run.seed, plant_seed=run.seed)
    # The fade ends before the recording begins; a period more or less shows the same.
    start, whole = FADE + 0.2, FADE + 0.2 + DURATION + LOST
    endless = Faded(run.motion, home, FADE, duration=np.inf)
    count = round(whole / options.cycle_time)
    instants = options.cycle_time * np.arange(1, count + 1)
    legs = inverse(platform.geometry, endless.sample(instants))
    backend = SimulatedBackend(options)
    backend.open(0.0)
    backend.enable()
    kept, strokes, forces, asked = [], [], [], []
    for n, now in enumerate(instants):
        seen = backend.exchange(
            LegMotion(0.0, legs.stroke[n], legs.rate[n], np.zeros(6)), float(now)
        )
        if now >= start and n % STRIDE == 0:
            kept.append(now)
            strokes.append(seen.strokes)
            forces.append(seen.forces)
            asked.append(legs.stroke[n])
    backend.close()
    commands = np.array(asked) if instruments else None
    return LegPiece(np.array(kept), np.array(strokes), np.array(forces), commands)


def experiment_of(run: Run) -> Experiment:
    """Record, filter, and make the experiment as from a bag."""
    period = STRIDE * run.options.cycle_time
    extraction = Extraction()
    smoother = LowPass(period, extraction.passband, extraction.stopband)
    piece, _ = motion_piece(record(run), run.platform.geometry, smoother, THIN)
    assert piece is not None
    return piece[: round(DURATION / (period * THIN))]


def identify(run: Run) -> Result:
    """Make the run and fit it, as `stewart identify` does by default."""
    experiment = experiment_of(run)
    model = model_of(run.platform)
    rng = np.random.default_rng((run.seed, 2))
    fitted = Consistent().fit(model, with_noise(model, experiment), rng=rng)
    return replace(fitted, residuals=np.empty((0, 6)))


def model_of(platform: Platform) -> PlatformModel:
    """Return the model with all that is allowed for by default, joints as wrong as they are."""
    default = Options()
    return PlatformModel.from_platform(
        platform,
        friction=default.friction,
        joint_tolerance=JOINT_ERROR,
        force_delay=default.force_delay,
    )


def task(number: int, rng: np.random.Generator) -> Result:
    """Make run `number` of a study: another machine, another noise."""
    platform = Platform.from_yaml('ex800')
    motion = from_yaml('ex800_identification', platform.geometry.neutral_pose)
    return identify(Run(platform, motion, int(rng.integers(2**31))))


def bound(run: Run) -> np.ndarray:
    """Give the Cramér-Rao bound of ten seconds with friction and all else unknown, shape (22,).

    Every force that is recorded counts, with the noise of the sensor and the variance of rounding
    to the feedback's steps.
    """
    period = STRIDE * run.options.cycle_time
    time = period * np.arange(round(DURATION / period))
    step = 1e-3 * run.options.rated_force
    noise = np.sqrt(FORCE_NOISE**2 + step**2 / 12.0)
    motion, forces = run.motion.sample(time), np.zeros((len(time), 6))
    experiment = Experiment(time, motion, forces, noise=noise)
    return np.sqrt(np.diag(cramer_rao(model_of(run.platform), run.truth, experiment)))
