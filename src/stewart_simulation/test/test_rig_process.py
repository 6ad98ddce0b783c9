# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One plant behind real wires: what the master commands, card and sensor measure, truth tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import pi
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

from ethercat_rig import until
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.control.state_machine import Request, State
from stewart_driver.daq.options import SensorOptions
from stewart_driver.daq.sensors import DaqReader
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.path.motion import LegMotion
from stewart_driver.witmotion.frames import AccelerationFrame, AngularVelocityFrame
from stewart_driver.witmotion.samples import Decoder
from stewart_driver.witmotion.transport import SerialTransport
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.spatial.rotations import matrix_from_quaternion
from stewart_simulation.errors import ControlError, RigError
from stewart_simulation.rig.launcher import RigProcess
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.rig.truth import Truth

PATIENT = InterpolationSettings(playout_delay=0.1, extrapolation_time=0.2)
STEP, RATE, SOFT = 0.005, 0.02, 0.2
WATCHDOG = 0.8
# On a busy machine, no frame came back for 0.2 s without a fault.
WIRE = {'patience': 0.5, 'drive_watchdog': WATCHDOG}
# Of those who judge no time: any number of cycles, frames and commands may be late.
PATIENT_WIRE = {
    'cycle_time': 0.01,
    'receive_timeout': 0.2,
    'patience': 4.0,
    'drive_watchdog': 5.0,
    'start_timeout': 30.0,
}
PATIENT_SUPERVISION = SupervisionSettings(command_timeout=4.0, overrun_share=1.0)
VIGO = Platform.from_yaml('vigo')


def running(place: Path) -> Iterator[RigProcess]:
    # Kind in two ways: motors with brakes, because processes are killed here, and drives that wait
    # for late frames, because this scheduler is no real-time one.
    settings = RigSettings(
        platform='vigo',
        drive='omron_1s_free',
        seed=5,
        sync_error_limit=0,
        brake=True,
        brake_apply_s=0.0,
        brake_release_s=0.0,
    )
    try:
        process = RigProcess(settings, place)
    except RigError as error:
        if 'What permits it' in str(error):
            pytest.skip(str(error))
        raise
    with process:
        yield process


@pytest.fixture
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RigProcess]:
    # One for each test: where a process was killed, nobody knows any more where the legs are.
    yield from running(tmp_path_factory.mktemp('r') / 'd')


@pytest.fixture(scope='module')
def idle_rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RigProcess]:
    """One for those who only look at it, the last tests of this file, and the last one ends it."""
    yield from running(tmp_path_factory.mktemp('r') / 'd')


class Mover:
    """The cyclic process of a driver on the rig's EtherCAT wire, and a path for it."""

    def __init__(self, rig: RigProcess, *, patient: bool) -> None:
        backend = EthercatBackend(
            EthercatOptions(
                interface=rig.ends['interface'],
                namespace=rig.ends['namespace'],
                drive='omron_1s_free',
                rig_file=rig.ends['rig_file'],
                **PATIENT_WIRE if patient else WIRE,
            )
        )
        supervision = PATIENT_SUPERVISION if patient else SupervisionSettings()
        self.client = CycleClient(
            backend, CycleConfiguration(backend.limits, PATIENT, supervision), timeout=90.0
        )
        self.state = State.DISABLED
        self.reason = ''
        self.strokes = np.zeros(6)

    def look(self) -> State:
        for change in self.client.state_changes():
            self.state, self.reason = change.state, change.reason
        for sample in self.client.samples():
            self.strokes = sample.strokes
        return self.state

    def enable(self) -> None:
        until(self.client.counters)
        until(lambda: self.look() in {State.DISABLED, State.FAULT})
        if self.state is State.FAULT:
            # The drives remember the end of the process before this one.
            assert self.client.request(Request.RESET_FAULT, timeout=30.0)[0]
            until(lambda: self.look() is State.DISABLED)
        accepted, reason = self.client.request(Request.ENABLE, timeout=30.0)
        assert accepted, reason
        until(lambda: self.look() in {State.ENABLED, State.FAULT})
        assert self.state is State.ENABLED, self.reason
        until(lambda: self.look() and self.strokes.any())

    def lift(self, duration: float) -> None:
        """Lengthen all legs, with a soft beginning, and do not stop but for a fault."""
        self.look()
        begin, start = time.monotonic(), self.strokes.copy()
        for count in range(round(duration / STEP)):
            at = count * STEP
            until(lambda due=begin + at: time.monotonic() >= due)
            moved = RATE * (min(at, SOFT) ** 2 / (2.0 * SOFT) + max(at - SOFT, 0.0))
            rate = RATE * min(at / SOFT, 1.0)
            self.client.offer(LegMotion(begin + at, start + moved, np.full(6, rate), np.zeros(6)))
            if self.look() is State.FAULT:
                return


@pytest.fixture
def mover(request: pytest.FixtureRequest, rig: RigProcess) -> Iterator[Mover]:
    made = Mover(rig, patient=request.node.get_closest_marker('realtime') is None)
    try:
        made.enable()
        yield made
    finally:
        if made.client.alive:
            made.client.end()
        # A rig whose drives hold, for their master was killed, would stay for ten seconds.
        with rig.control() as control:
            for slave in range(1, 7):
                control.call('ethercat.power_off', slave=slave)


def check_forward_kinematics(truth: Truth) -> None:
    """Truth's pose is the one that its strokes have."""
    geometry = VIGO.geometry
    start = Pose(truth.position, truth.quaternion_xyzw)
    found = forward(geometry, geometry.retracted_length + truth.strokes, start)
    assert found.converged
    assert np.abs(found.position - truth.position).max() < 1e-9
    assert np.abs(found.quaternion_xyzw - truth.quaternion_xyzw).max() < 1e-9
    lengths = leg_lengths(geometry, truth.position, truth.quaternion_xyzw)
    assert np.abs(lengths - geometry.retracted_length - truth.strokes).max() < 1e-12


@pytest.mark.realtime
@pytest.mark.installed
def test_frames_move_the_plant_and_card_and_encoders_see_it(rig: RigProcess, mover: Mover) -> None:
    reader, before = rig.truth(), rig.truth().read()
    mover.lift(0.8)
    moving = reader.read()
    until(lambda: abs(reader.read().rates).max() < 1e-5)
    after = reader.read()
    until(lambda: mover.look() in {State.ENABLED, State.FAULT})
    until(lambda: mover.look() and abs(mover.strokes - after.strokes).max() < 1e-4)
    assert mover.state is State.ENABLED, mover.reason
    sensors = DaqReader(
        SensorOptions(
            card='simulated',
            device=rig.ends['card'],
            rig_file=rig.ends['rig_file'],
            longest_call=0.25,
        )
    )
    sensors.open()
    read = np.array([sensors.read().strokes for _ in range(50)])
    sensors.close()

    assert moving.powered.all()
    assert after.strokes - before.strokes == pytest.approx(0.7 * RATE, abs=0.25 * RATE)
    check_forward_kinematics(moving)
    check_forward_kinematics(after)
    # encoders: 1 µm and a count; the card: 0.2 mV and half a code of 0.3 mV on 37 mm/V
    assert np.abs(mover.strokes - after.strokes).max() < 6e-6
    assert np.abs(read.mean(axis=0) - after.strokes).max() < 2.5e-5
    assert 3e-6 < read.std(axis=0).mean() < 3e-5


@pytest.mark.realtime
@pytest.mark.slow
def test_a_killed_cyclic_process_leaves_the_plant_held_by_its_drives(
    rig: RigProcess, mover: Mover, lateness: Callable[[], float]
) -> None:
    reader, before = rig.truth(), rig.truth().read()
    mover.lift(0.6)
    moving = reader.read()
    os.kill(mover.client.pid, signal.SIGKILL)
    killed = time.monotonic()
    until(lambda: np.abs(reader.read().rates).max() < 1e-3)
    stopped = reader.read()
    time.sleep(0.2)
    rest = reader.read()
    time.sleep(0.3)

    assert (moving.strokes - before.strokes).min() > 0.1 * RATE
    # The drives' watchdog, then they ramp down.
    assert stopped.stamp - killed < WATCHDOG + 0.3 + 3 * lateness()
    assert np.abs(rest.strokes - moving.strokes).max() < 0.4 * RATE
    assert rest.powered.all()
    np.testing.assert_allclose(reader.read().strokes, rest.strokes, atol=1e-4)


# test_ethercat_inline.py has faults of drives and encoders in simulated time.
@pytest.mark.slow
@pytest.mark.parametrize(
    ('fault', 'arguments', 'said'),
    [
        ('ethercat.drive_fault', {'slave': 4}, 'leg 4'),
        ('plant.encoder_jump', {'leg': 3, 'metres': 0.03}, 'leg 3'),
        ('plant.torque_limit', {'leg': 1, 'share': 0.0}, 'leg 1'),
    ],
)
def test_a_fault_in_motion_lets_go_of_all_legs(
    rig: RigProcess, mover: Mover, fault: str, arguments: dict[str, Any], said: str
) -> None:
    reader = rig.truth()
    mover.lift(0.4)
    before = reader.read()
    with rig.control() as control:
        control.call(fault, **arguments)
    mover.lift(1.5)
    until(lambda: mover.look() is State.FAULT)

    assert said in mover.reason
    assert np.abs(reader.read().strokes - before.strokes).max() < 0.06
    # Five motors without brakes do not hold a platform whose sixth leg is lost: decision 0070.
    until(lambda: not reader.read().powered.any())


# As a shell without job control starts what runs in its background.
DEAF = ('sh', '-c', 'trap "" INT; exec "$@"', 'sh')
VERB = [
    sys.executable,
    '-c',
    'import argparse; from stewart_simulation.verbs import virtual_rig as verb; '
    'p = argparse.ArgumentParser(); verb.add_arguments(p); '
    'raise SystemExit(verb.main(p.parse_args()))',
]
ENVIRONMENT = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}


@pytest.mark.parametrize(
    'number',
    [
        *(
            pytest.param(number, marks=pytest.mark.slow)
            for number in (signal.SIGINT, signal.SIGTERM)
        ),
        signal.SIGKILL,
    ],
)
def test_nothing_outlives_the_end_of_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    place = tmp_path / ('d' * 120)  # deeper than the name of a socket may be long
    process = subprocess.Popen(
        [*DEAF, *VERB, '--moved-by', 'card', '--no-ethercat', '--directory', str(place)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(6)]
    children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)

    assert [line.split()[0] for line in said] == [
        *('directory', 'control', 'truth', 'rig_file', 'card', 'imu'),
    ]
    assert len(children) == 1
    until(lambda: not Path('/proc', children[0]).exists())
    assert not place.exists()
    if number is not signal.SIGKILL:
        assert process.returncode == 0, errors


def require_end_with_0(process: RigProcess, number: signal.Signals) -> None:
    os.kill(process.pid, number)
    until(lambda: not process.alive)
    assert process._process.returncode == 0, process.exit_reason()
    assert not process.directory.exists()


@pytest.mark.slow
def test_the_rig_process_itself_ends_with_0_on_a_ctrl_c(tmp_path: Path) -> None:
    settings = RigSettings(platform='ex800', ethercat=False, moved_by='card')
    process = RigProcess(settings, tmp_path / 'd')
    require_end_with_0(process, signal.SIGINT)
    process.end()


def test_a_killed_rig_leaves_nothing_after_its_owner_has_ended_it(tmp_path: Path) -> None:
    settings = RigSettings(platform='ex800', ethercat=False, moved_by='card')
    process = RigProcess(settings, tmp_path / 'd')
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: not process.alive)

    assert 'was killed by signal 9' in process.exit_reason()
    process.end()
    assert not (tmp_path / 'd').exists()


@pytest.mark.slow
@pytest.mark.realtime
def test_a_stuck_encoder_is_found_before_its_drive_runs_away(
    rig: RigProcess, mover: Mover
) -> None:
    reader = rig.truth()
    mover.lift(0.4)
    before = reader.read()
    with rig.control() as control:
        control.call('plant.encoder_stuck', leg=2)
    mover.lift(1.5)
    until(lambda: mover.look() is State.FAULT)
    until(lambda: not reader.read().powered[1])

    assert abs(reader.read().strokes[1] - before.strokes[1]) < 0.02


def test_the_truth_is_consistent_and_at_rest_on_its_brakes(idle_rig: RigProcess) -> None:
    truth = idle_rig.truth().read()

    # A busy machine may take a while from one line, or one clock, to the next.
    assert 0.0 <= time.monotonic() - truth.stamp < 30.0
    offset = max(time.time() - time.monotonic() for _ in range(100))
    assert abs(offset - truth.wall_offset) < 0.01
    assert not truth.powered.any()
    assert not truth.linear_acceleration.any()
    check_forward_kinematics(truth)


def test_the_sensor_feels_gravity_at_rest(idle_rig: RigProcess) -> None:
    truth = idle_rig.truth()
    # Brakes let it swing for a second.
    until(lambda: not (truth.read().powered.any() or truth.read().rates.any()))
    with idle_rig.control() as control:
        # A line keeps the oldest bytes that nobody has read, of the motion before; a new one none.
        control.call('imu.unplug')
        control.call('imu.plug')
    transport = SerialTransport(idle_rig.ends['imu'], 9600)
    decoder, end, forces, rates = Decoder(), time.monotonic() + 60.0, [], []
    while len(rates) < 15 and time.monotonic() < end:
        for decoded in decoder.feed(transport.read(0.1)):
            if isinstance(decoded.frame, AccelerationFrame):
                forces.append(decoded.frame.specific_force)
            elif isinstance(decoded.frame, AngularVelocityFrame):
                rates.append(decoded.frame.angular_velocity)
    transport.close()

    assert len(forces) >= 15
    attitude = matrix_from_quaternion(truth.read().quaternion_xyzw)
    felt = attitude.T @ np.array([0.0, 0.0, 9.80665])
    assert np.mean(forces, axis=0) == pytest.approx(felt, abs=0.03)
    assert np.mean(rates, axis=0) == pytest.approx(np.zeros(3), abs=0.1 * pi / 180.0)


def test_a_second_rig_in_the_same_place_is_refused(idle_rig: RigProcess) -> None:
    with pytest.raises(RigError, match=r'runs in .* already'):
        RigProcess(RigSettings(ethercat=False, moved_by='card'), idle_rig.directory)
    assert idle_rig.truth().read().stamp > 0.0
    with idle_rig.control() as control, pytest.raises(ControlError, match='does not exist'):
        control.call('ethercat.explode')


def test_the_rig_process_itself_ends_with_0_on_a_termination(idle_rig: RigProcess) -> None:
    require_end_with_0(idle_rig, signal.SIGTERM)
