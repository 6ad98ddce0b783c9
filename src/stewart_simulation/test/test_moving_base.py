# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A platform on a ship, against MuJoCo, finite differences and the spectrum."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.moving_base import add_base_wrench
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.ship import at_scale, HEAVE, Hull, responses, Ship
from stewart_simulation.start import leg_limits

sys.path.insert(0, str(Path(__file__).parents[3] / 'benchmarks'))

STEP = 0.02
STENCIL = np.array([-1 / 60, 3 / 20, -3 / 4, 0.0, 3 / 4, -3 / 20, 1 / 60])
SECOND = np.array([1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90])


def ship(scale=10.0):
    return Ship(Jonswap(3.0, 8.0), 5, np.radians(140.0), at_scale(scale))


def forces_on_base(model, motion, field):
    """Actuator forces (6,) of one sample of a motion on a moving base [N]."""
    here = replace(model, gravity=field[:3].copy())
    state = np.concatenate([motion.position, motion.quaternion_xyzw, motion.twist])
    load, idle = np.zeros(6), np.zeros(6)
    add_base_wrench(
        model.base_joints, model.platform_joints, model.universal_axes, field, model.parameters,
        idle, idle, 1.0, state, load,
    )  # fmt: skip
    arms = model.platform_joints @ Rotation.from_quat(motion.quaternion_xyzw).as_matrix().T
    legs = motion.position + arms - model.base_joints
    legs /= np.linalg.norm(legs, axis=1, keepdims=True)
    push = np.hstack([legs, np.cross(arms, legs)]).T
    return np.asarray(actuator_forces(here, motion) - np.linalg.solve(push, load))


def derivatives(values):
    """First and second derivative in the middle of seven samples."""
    return np.tensordot(STENCIL, values, 1) / STEP, np.tensordot(SECOND, values, 1) / STEP**2


def spins(rotations):
    """Angular velocity and acceleration in world axes, from seven rotations about the middle."""
    middle = rotations[3]
    small = np.array([Rotation.from_matrix(r @ middle.T).as_rotvec() for r in rotations])
    return derivatives(small)


def world_motion(vessel, moment, platform):
    """Platform's motion in the world by differences of its pose, and its motion on the base."""
    geometry = platform.geometry
    about, amplitude = np.array([0.6, -0.5, 0.4]), np.array([0.05, -0.04, 0.06])
    times = moment + STEP * np.arange(-3, 4)
    spots = geometry.neutral_pose.position + amplitude * np.sin(2.0 * times)[:, None]
    turns = [Rotation.from_rotvec(0.2 * about * np.sin(1.5 * t)).as_matrix() for t in times]
    bases = [vessel.at(float(t)) for t in times]
    velocity, acceleration = derivatives(spots)
    omega, alpha = spins(turns)
    quaternion = Rotation.from_matrix(turns[3]).as_quat()
    here = Motion.of_vectors(spots[3], quaternion, velocity, omega, acceleration, alpha)
    places = np.array([b.position + b.rotation @ p for b, p in zip(bases, spots, strict=True)])
    attitudes = [b.rotation @ r for b, r in zip(bases, turns, strict=True)]
    linear, angular = derivatives(places), spins(attitudes)
    return here, bases, (places[3], attitudes[3], *linear, *angular)


def test_ship_is_differentiated_right():
    vessel = ship()
    times = 3.0 + STEP * np.arange(-3, 4)
    bases = [vessel.at(float(t)) for t in times]
    now = bases[3]
    velocity, acceleration = derivatives(np.array([b.position for b in bases]))
    omega, alpha = spins([b.rotation for b in bases])
    assert velocity == pytest.approx(now.velocity, abs=1e-7)
    assert acceleration == pytest.approx(now.acceleration, abs=1e-6)
    assert now.rotation.T @ omega == pytest.approx(now.turn, abs=1e-7)
    assert now.rotation.T @ alpha == pytest.approx(now.turn_change, abs=1e-6)


def test_ship_follows_long_waves_and_has_the_spectrum_s_heave():
    slow = responses(np.array([0.05]), np.pi, Hull())
    assert abs(slow[HEAVE, 0]) == pytest.approx(1.0, abs=0.02)
    sea = Jonswap(3.0, 8.0)
    grid = np.linspace(0.4, 3.0, 4001) * sea.peak_frequency
    wanted = trapezoid(sea.density(grid) * np.abs(responses(grid, 2.4, Hull())[HEAVE]) ** 2, grid)
    heaves = [
        Ship(sea, seed, 2.4).coordinates(np.linspace(0.0, 2000.0, 4000))[:, 0, HEAVE].var()
        for seed in range(12)
    ]
    assert np.mean(heaves) == pytest.approx(wanted, rel=0.08)


@pytest.mark.parametrize('scale', [1.0, 10.0])
@pytest.mark.parametrize('moment', [1.0, 7.3])
def test_forces_on_a_ship_are_those_of_mujoco(scale, moment):
    mujoco = pytest.importorskip('mujoco')
    leg_coordinates = pytest.importorskip('leg_coordinates').leg_coordinates

    platform = load_platform('vigo')
    here, bases, there = world_motion(ship(scale), moment, platform)
    base = bases[3]
    root = ET.fromstring(mjcf(platform))
    world = root.find('worldbody')
    hull = ET.SubElement(world, 'body', name='hull')
    ET.SubElement(hull, 'freejoint', name='hull')
    ET.SubElement(hull, 'inertial', pos='0 0 0', mass='1000', diaginertia='900 900 900')
    for body in [b for b in world.findall('body') if b.get('name').endswith('_cylinder')]:
        world.remove(body)
        hull.append(body)
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding='unicode'))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    data = mujoco.MjData(model)
    value, rate, acceleration = leg_coordinates(platform.geometry, here)
    value[:, 2] -= platform.geometry.retracted_length

    def first(rotation):
        return Rotation.from_matrix(rotation).as_quat()[[3, 0, 1, 2]]

    place, attitude, velocity, linear, omega, alpha = there
    data.qpos[:] = np.concatenate(
        [place, first(attitude), base.position, first(base.rotation), value.ravel()]
    )
    data.qvel[:] = np.concatenate(
        [velocity, attitude.T @ omega, base.velocity, base.turn, rate.ravel()]
    )
    data.qacc[:] = np.concatenate(
        [linear, attitude.T @ alpha, base.acceleration, base.turn_change, acceleration.ravel()]
    )
    mujoco.mj_inverse(model, data)
    system = np.zeros((30, 30))
    system[14::3, :6] = np.eye(6)
    system[6:12, 6:12] = np.eye(6)
    system[:, 12:] = data.efc_J.reshape(18, -1).T
    theirs = np.linalg.solve(system, data.qfrc_inverse + data.qfrc_constraint)[:6]
    inertia = InertialModel.from_platform(platform)
    ours = forces_on_base(inertia, here, base.field(platform.masses.gravity))
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-5 * np.abs(theirs).max())
    still = forces_on_base(inertia, here, np.append(platform.masses.gravity, np.zeros(6)))
    assert np.abs(still - theirs).max() > 1.0


def drives_at(base, motion, forces):
    """Drives whose plant moves as told, under forces along the legs."""
    options = PlantOptions(
        base=base, sea_height=3.0, sea_seed=5, ship_heading_deg=140.0, viscous_friction=0.0,
        coulomb_friction=0.0, supported=False,
    )  # fmt: skip
    platform = load_platform('vigo')
    plant = options.plant(platform, platform.geometry.neutral_pose)
    drives = options.drives(plant, leg_limits(platform), hold_after=0.01)
    drives.state[:] = np.concatenate([motion.position, motion.quaternion_xyzw, motion.twist])
    drives.acting[:] = forces
    drives._resting = False
    return drives


def test_plant_on_a_ship_accelerates_as_its_forces_say():
    platform = load_platform('vigo')
    here, bases, _ = world_motion(ship(), 2.0, platform)
    inertia = InertialModel.from_platform(platform)
    forces = forces_on_base(inertia, here, bases[3].field(platform.masses.gravity))
    drives = drives_at('ship', here, forces)
    drives.time = 2.0
    assert drives.acceleration() == pytest.approx(here.acceleration, abs=1e-6)
    assert isinstance(drives, RigidDrives)
    assert np.abs(drives_at('still', here, forces).acceleration() - here.acceleration).max() > 0.1
