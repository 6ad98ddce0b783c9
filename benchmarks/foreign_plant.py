# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A second plant, on MuJoCo, that shares no code with `stewart_dynamics` or the identifier.

The mechanism is what `stewart export` writes, changed where a machine differs from its drawing.
Bodies, closings and dry friction (with true stiction) are MuJoCo's; drives and sensors are written
here. Every imperfection is an attribute of `Imperfections`, off at 0 or False; 'bare' has none.

    python benchmarks/foreign_plant.py BAG --seed 3 --without rotor_mass base_bends

writes a recording that ``stewart identify`` and ``stewart estimate`` read, and prints the truth.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass, fields, replace
import json
from pathlib import Path
import sys
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories.fading import Faded
from stewart_kinematics.trajectories.multi_sine import from_yaml, MultiSine

STEP, PUBLISH_EVERY = 5e-4, 10
"""Of the simulation and the drives' loops [s]; steps from one recorded sample to the next."""
FADE, SETTLED, LOST = 2.0, 2.2, 0.8
"""Fade-in, when the recording begins, and what the identifier's filters take from its ends [s]."""
PAYLOAD_MASS, PAYLOAD_PLACE, PAYLOAD_INERTIA = 2.0, (0.05, -0.03, 0.08), 0.002
"""What is bolted on and in no drawing [kg], [m], [kg m²]."""
IMU_BANDWIDTH, BASE_MODE, BASE_MASS = 40.0, 25.0, 40.0
"""[Hz], [Hz], [kg]."""
HOSE_ABOVE, HOSE_PLACE, HOSE_LENGTH = (0.3, 0.2, 1.0), (0.05, -0.02, 0.01), 0.6
"""Its ends, in the world and on the platform, and up to which length it hangs loose [m]."""
POSITION_GAIN, RATE_GAIN, RESET_TIME = 30.0, 250.0, 0.05
"""Of the drives: position loop [1/s], rate loop [N s/m] and its integral [s]."""


@dataclass(frozen=True)
class Imperfections:
    """What the machine has and no description says; standard deviations are per leg.

    Attributes:
        coulomb, viscous: Friction of the legs [N], [N s/m].
        stribeck, stribeck_rate: Extra friction at rest [N], and the rate at which it fades [m/s].
        asymmetry: Share by which retracting rubs less than extending.
        load_friction: Friction in units of the load along the leg.
        rotor_mass: Rotor inertia reflected to the leg [kg].
        joint_error: Of every coordinate of every joint centre [m].
        encoder_noise, encoder_step: [m].
        force_gain, force_offset, force_noise, force_delay: [-], [N], [N], [s].
        base_bends: Whether the base sways in one mode of 25 Hz.
        hose: Stiffness of a hose from above to a place beside the platform's centre [N/m].
        imu: Whether the IMU has errors of scale (1 %) and mounting (10 mrad) and 40 Hz bandwidth.
    """

    coulomb: float = 2.0
    viscous: float = 15.0
    stribeck: float = 1.0
    stribeck_rate: float = 0.01
    asymmetry: float = 0.2
    load_friction: float = 0.02
    rotor_mass: float = 0.1
    joint_error: float = 1e-4
    encoder_noise: float = 2e-5
    encoder_step: float = 5e-6
    force_gain: float = 0.01
    force_offset: float = 0.5
    force_noise: float = 0.5
    force_delay: float = 1e-3
    base_bends: bool = True
    hose: float = 0.0
    imu: bool = True

    def without(self, *names: str) -> Imperfections:
        """Switch imperfections off; ValueError names one that does not exist."""
        known = {item.name for item in fields(self)}
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f'no imperfection {unknown[0]!r}, there are {", ".join(known)}')
        return replace(self, **dict.fromkeys(names, 0))


@dataclass(frozen=True, eq=False)
class Recorded:
    """What the machine reported: n samples of time, strokes, forces and IMU, with commands."""

    time: Array
    strokes: Array
    forces: Array
    commands: Array
    specific_force: Array
    angular_rate: Array


class ForeignPlant:
    """One machine; which one follows from the seed.

    Args:
        platform: As described, with masses.
        wrong: Its imperfections.
        seed: Of everything random.
        payload: Mass of what is bolted on [kg]; its place and shape scale with nothing.
    """

    def __init__(
        self,
        platform: Platform,
        wrong: Imperfections | None = None,
        seed: int = 0,
        payload: float = PAYLOAD_MASS,
    ) -> None:
        self.platform, self.wrong = platform, wrong or Imperfections()
        machine, self._rng = np.random.default_rng(seed).spawn(2)
        self._gain = 1.0 + machine.normal(0.0, self.wrong.force_gain, 6)
        self._offset = machine.normal(0.0, self.wrong.force_offset, 6)
        self._varied = machine.uniform(0.8, 1.2, 6)
        tilt = machine.normal(0.0, 0.01 / np.sqrt(3.0), (2, 3)) * self.wrong.imu
        scale = 1.0 + machine.normal(0.0, 0.01, (2, 3)) * self.wrong.imu
        turned = Rotation.from_rotvec(tilt).as_matrix()
        self._imu_errors = turned * scale[:, None, :]
        text = _mechanism(platform, self.wrong, machine, payload)
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        slides = [self.model.joint(f'leg_{n}') for n in range(1, 7)]
        self._places = np.array([item.qposadr[0] for item in slides])
        self._speeds = np.array([item.dofadr[0] for item in slides])

    @property
    def truth(self) -> dict[str, float]:
        """Mass, centre and inertia about it of all that moves with the platform, [kg], [m]."""
        model = self.model
        names = [n for n in ('platform_link', 'payload_link') if _has_body(model, n)]
        rows = [model.body(name) for name in names]
        masses = np.array([float(row.mass[0]) for row in rows])
        centres = np.array([row.ipos for row in rows])
        centre = masses @ centres / masses.sum()
        inertia = np.zeros((3, 3))
        for mass, place, row in zip(masses, centres, rows, strict=True):
            axes = Rotation.from_quat(row.iquat[[1, 2, 3, 0]]).as_matrix()
            arm = place - centre
            inertia += axes @ np.diag(row.inertia) @ axes.T
            inertia += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        values = [masses.sum(), *centre, *inertia[np.triu_indices(3)]]
        names = ['m', 'cx', 'cy', 'cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz']
        return dict(zip(names, map(float, values), strict=True))

    def record(self, motion: MultiSine, duration: float = 10.0) -> Recorded:
        """Fade the motion in, then record `duration` seconds that an identifier can use."""
        whole = SETTLED + duration + LOST
        endless = Faded(motion, self.platform.geometry.neutral_pose, FADE, duration=np.inf)
        instants = STEP * np.arange(round(whole / STEP))
        asked = inverse(self.platform.geometry, endless.sample(instants))
        late = round(self.wrong.force_delay / STEP)
        count = len(instants)
        strokes, forces, sensed = np.empty((count, 6)), np.empty((count, 6)), np.empty((count, 6))
        self._settle(asked.stroke[0])
        for k in range(count):
            strokes[k] = self.data.qpos[self._places]
            forces[k] = self._drive(asked.stroke[k], asked.rate[k])
            mujoco.mj_step(self.model, self.data)
            sensed[k] = self.data.sensordata[-6:]
        sensed = self._sensed(sensed)
        kept = np.arange(round(SETTLED / STEP), count, PUBLISH_EVERY)
        return Recorded(
            instants[kept],
            self._encoded(strokes[kept]),
            forces[kept - late] * self._gain
            + self._offset
            + self._rng.normal(0.0, self.wrong.force_noise, (len(kept), 6)),
            asked.stroke[kept],
            sensed[kept, :3],
            sensed[kept, 3:],
        )

    def _settle(self, stroke: Array) -> None:
        """Let the drives take up the load at rest for half a second."""
        self._integral = np.zeros(6)
        for _ in range(round(0.5 / STEP)):
            self._drive(stroke, np.zeros(6))
            mujoco.mj_step(self.model, self.data)

    def _drive(self, stroke: Array, rate: Array) -> Array:
        """Run the loops of the drives on their motor encoders; return the motors' forces."""
        data, wrong = self.data, self.wrong
        speed = data.qvel[self._speeds]
        error = POSITION_GAIN * (stroke - data.qpos[self._places]) + rate - speed
        self._integral += STEP / RESET_TIME * error
        force = RATE_GAIN * (error + self._integral)
        data.ctrl[:] = force
        # Dry friction by direction, rate and load; what sticks is for MuJoCo's solver to say.
        share = self._varied * (1.0 - wrong.asymmetry * (speed < 0.0))
        bump = wrong.stribeck * np.exp(-np.abs(speed) / max(wrong.stribeck_rate, 1e-9))
        dry = share * (wrong.coulomb + bump) + wrong.load_friction * np.abs(force)
        self.model.dof_frictionloss[self._speeds] = dry
        self.model.dof_damping[self._speeds] = share * wrong.viscous
        return np.array(force)

    def _sensed(self, true: Array) -> Array:
        """Return specific forces and angular rates, shape (n, 6), as the IMU has them."""
        wrong = np.einsum('kij,nkj->nki', self._imu_errors, true.reshape(-1, 2, 3))
        share = 1.0 - np.exp(-2.0 * np.pi * IMU_BANDWIDTH * STEP) if self.wrong.imu else 1.0
        return np.asarray(lfilter([share], [1.0, share - 1.0], wrong.reshape(-1, 6), axis=0))

    def _encoded(self, strokes: Array) -> Array:
        noisy = strokes + self._rng.normal(0.0, self.wrong.encoder_noise, strokes.shape)
        step = self.wrong.encoder_step
        return np.asarray(step * np.rint(noisy / step) if step else noisy)


def _has_body(model: mujoco.MjModel, name: str) -> bool:
    return mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0


def _mechanism(
    platform: Platform, wrong: Imperfections, rng: np.random.Generator, payload: float
) -> str:
    """Change the exported mechanism: joint centres, rotors, payload, and what carries the base."""
    root = ET.fromstring(mjcf(platform))
    option, world = root.find('option'), root.find('worldbody')
    assert option is not None
    assert world is not None
    option.attrib |= {'timestep': f'{STEP}', 'integrator': 'implicitfast'}
    for element in root.findall('default/equality'):
        element.set('solref', f'{2 * STEP} 1')
    rest = next(body for body in world.iter('body') if body.get('name') == 'platform_link')
    if payload > 0.0:
        load = ET.SubElement(rest, 'body', name='payload_link')
        place = ' '.join(map(str, PAYLOAD_PLACE))
        size = f'{PAYLOAD_INERTIA} ' * 3
        ET.SubElement(load, 'inertial', pos=place, mass=f'{payload}', diaginertia=size)
    carrier = ET.SubElement(world, 'body', name='base')
    ET.SubElement(carrier, 'inertial', pos='0 0 0', mass=f'{BASE_MASS}', diaginertia='2 2 4')
    if wrong.base_bends:
        carried = sum(float(str(item.get('mass'))) for item in root.iter('inertial'))
        turning = 2.0 * np.pi * BASE_MODE
        ET.SubElement(
            carrier,
            'joint',
            name='base',
            type='slide',
            axis='0.8 0.6 0',
            stiffness=f'{carried * turning**2}',
            damping=f'{0.04 * carried * turning}',
        )
    for body in world.findall('body'):
        if str(body.get('name')).endswith('_cylinder'):
            world.remove(body)
            carrier.append(body)
            _move(body, rng.normal(0.0, wrong.joint_error, 3))
    for site in rest.findall('site'):
        if str(site.get('name')).endswith('_socket'):
            _move(site, rng.normal(0.0, wrong.joint_error, 3))
    if wrong.hose > 0.0:
        ends = {'hose_above': (world, HOSE_ABOVE), 'hose_platform': (rest, HOSE_PLACE)}
        for name, (body, place) in ends.items():
            ET.SubElement(body, 'site', name=name, pos=' '.join(map(str, place)))
        tendon = ET.SubElement(ET.SubElement(root, 'tendon'), 'spatial', name='hose')
        tendon.attrib |= {'stiffness': f'{wrong.hose}', 'springlength': f'0 {HOSE_LENGTH}'}
        for name in ends:
            ET.SubElement(tendon, 'site', site=name)
    for joint in root.iter('joint'):
        if joint.get('type') == 'slide' and str(joint.get('name')).startswith('leg_'):
            hard = {'solreffriction': f'{2 * STEP} 1', 'solimpfriction': '0.99 0.99 0.001 0.5 2'}
            joint.attrib |= {'armature': f'{wrong.rotor_mass}', 'frictionloss': '1', **hard}
    return ET.tostring(root, encoding='unicode')


def _move(element: ET.Element, by: Array) -> None:
    place = np.array(str(element.get('pos')).split(), dtype=float) + by
    element.set('pos', ' '.join(repr(float(value)) for value in place))


def main() -> int:
    """Record one machine into a bag."""
    from stewart_bags.writing import BagWriter

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('bag', type=Path)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--payload', type=float, default=PAYLOAD_MASS, metavar='KG')
    parser.add_argument('--without', nargs='*', default=[], metavar='IMPERFECTION')
    parser.add_argument('--hose', type=float, default=0.0, metavar='N_PER_M')
    arguments = parser.parse_args()
    platform = Platform.from_yaml('ex800')
    wrong = replace(Imperfections(), hose=arguments.hose).without(*arguments.without)
    plant = ForeignPlant(platform, wrong, arguments.seed, arguments.payload)
    motion = from_yaml('ex800_identification', platform.geometry.neutral_pose)
    recorded = plant.record(motion)
    with BagWriter(arguments.bag) as writer:
        types, names = writer.typestore.types, [f'leg_{n}' for n in range(1, 7)]
        vector, none = types['geometry_msgs/msg/Vector3'], np.zeros(9)
        level = types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
        unknown = np.append(-1.0, np.zeros(8))
        for k, moment in enumerate(recorded.time):
            nanoseconds = 1_700_000_000_000_000_000 + round(float(moment) * 1e9)
            stamp = types['builtin_interfaces/msg/Time'](*divmod(nanoseconds, 10**9))

            def joints(strokes: Array, forces: Array, stamp: object = stamp) -> object:
                header = types['std_msgs/msg/Header'](stamp, '')
                return types['sensor_msgs/msg/JointState'](
                    header, names, strokes, np.empty(0), forces
                )

            header = types['std_msgs/msg/Header'](stamp, 'imu_link')
            imu = types['sensor_msgs/msg/Imu'](
                header,
                level,
                unknown,
                vector(*map(float, recorded.angular_rate[k])),
                none,
                vector(*map(float, recorded.specific_force[k])),
                none,
            )
            commanded = joints(recorded.commands[k], np.empty(0))
            writer.write('/joint_commands', nanoseconds, commanded)
            state = joints(recorded.strokes[k], recorded.forces[k])
            writer.write('/actuator_states', nanoseconds, state)
            writer.write('/imu/data', nanoseconds, imu)
    print(json.dumps({'imperfections': asdict(wrong), 'truth': plant.truth}, indent=2))
    return 0


if __name__ == '__main__':
    sys.exit(main())
