# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig to break: virtual_rig, driver and imu of a shipped configuration, and hands on them.

What is looked at is what an operator has: driver/state, actuator_states, imu/data, /diagnostics
and the answers of services; and simulation/truth, which is the platform itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from fault_case import Act, ANSWER, Case, GONE, IMU, Outcome, SILENCE, STATE
from fault_path import Array, FASTEST, HEIGHT, OMEGA, stamp_of, Swing, Witness
from nav_msgs.msg import Odometry
from node_harness import Harness
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Imu, JointState
from std_srvs.srv import SetBool, Trigger
from stewart_bringup.composition import make_node
from stewart_bringup.rigs import config_file
from stewart_driver.legs import LEG_NAMES
from stewart_interfaces.msg import DriverState, Jog, TrackingError
from stewart_interfaces.srv import InjectFault
from stewart_kinematics.model.platform import Platform
from stewart_node_support.lifecycle import bring_up, take_down
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS
from stewart_node_support.stamps import from_seconds

NAMES = {
    value: name
    for name, value in vars(DriverState).items()
    if name.isupper() and isinstance(value, int)
}
# Setpoints are sent this much before their stamp, so that a busy machine is no fault [s].
AHEAD, COMMAND_TIMEOUT = 0.25, 0.5
PERIOD, TICK, PER_TICK = 0.01, 0.005, 4
# The end of a path is said for so long [s].
AFTER = 0.5
HOMING_RATE, AT_HOME = 0.1, 1e-3
# Legs are jogged up to here, and so fast [m], [m/s].
NEAR_END, JOG_RATE = 0.005, 0.02
SILENT_FOR = 0.25
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
OK = 0
TRIES = 4
# From a fault to legs that follow, bus and all [s].
READY_WITHIN = 30.0
SWINGS = 3.0


class Bench(Harness):
    """A virtual rig and a driver of a shipped configuration.

    Args:
        rig: Name of the configuration.
        directory: Where the wires shall end; it must not exist.
    """

    def __init__(self, rig: str, directory: Path) -> None:
        super().__init__(real=True)
        try:
            self._begin(rig, directory)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    def _begin(self, rig: str, directory: Path) -> None:
        self._file, self._directory = config_file('rig', rig), directory
        self._driver: Any = None
        self._imu: Any = None
        self._process: subprocess.Popen[bytes] | None = None
        self.truths: list[Any] = self.listen(Odometry, 'simulation/truth', SENSOR_QOS)
        self.states: list[Any] = self.listen(DriverState, 'driver/state', LATCHED)
        self.legs: list[Any] = self.listen(JointState, 'actuator_states', SENSOR_QOS)
        self.reports: list[Any] = self.listen(
            DiagnosticArray, '/diagnostics', QoSProfile(depth=50)
        )
        self.samples: list[Any] = self.listen(Imu, 'imu/data', SENSOR_QOS)
        made = self._add('virtual_rig', {'directory': str(directory), 'truth_rate': 100.0})
        self._wiring = made.wiring()
        self._told = {**self._wiring['driver'], 'command_timeout': COMMAND_TIMEOUT}
        platform = Platform.from_yaml(made.get_parameter('platform').value)
        self._witness = Witness(platform.geometry, self.truths)
        self._path: Swing | None = None
        self._due, self._spoilt = 0.0, 0
        self._offset = self._shift = self._second = 0.0
        self._answers: list[tuple[float, str]] = []
        self._commands = self.probe.create_publisher(JointState, 'joint_commands', COMMAND_QOS)
        self._keys = self.probe.create_publisher(Jog, 'driver/jog', COMMAND_QOS)
        self._errors = self.probe.create_publisher(
            TrackingError, 'platform/tracking_error', COMMAND_QOS
        )
        self.probe.create_timer(TICK, self._pump)
        self.until(lambda: self.truths)
        self._home = self._witness.strokes()
        self.start_driver()

    def end(self) -> None:
        """End everything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.__exit__(None, None, None)

    # The rig.

    @property
    def now(self) -> float:
        """Time of the stamps [s]."""
        return 1e-9 * float(self.probe.get_clock().now().nanoseconds)

    @property
    def state(self) -> str:
        """What driver/state said last."""
        return NAMES[self.states[-1].state] if self.states else ''

    @property
    def away(self) -> float:
        """How far the leg that is furthest from home is from it [m]."""
        return float(np.abs(self._home - np.array(self.legs[-1].position)).max())

    def _add(self, name: str, overrides: dict[str, Any]) -> Any:
        def make(**_: Any) -> Any:
            return make_node(name, [self._file], overrides=overrides)

        return self.add(make)

    def _drop(self, node: Any) -> None:
        self._executor.remove_node(node)
        self._nodes.remove(node)
        take_down(node)

    def start_driver(self) -> None:
        """Run the driver in this process."""
        self.states.clear()
        self._driver = self._add('driver', self._told)
        bring_up(self._driver)
        self._meet()

    def start_process(self) -> None:
        """Run the driver in a process of its own."""
        self._drop(self._driver)
        self._driver = None
        self.states.clear()
        self.legs.clear()
        told = self._directory / 'driver.yaml'
        told.write_text(json.dumps({'/**/driver': {'ros__parameters': self._told}}))
        self._process = subprocess.Popen(
            [
                *(sys.executable, '-m', 'stewart_driver.nodes.driver', '--ros-args'),
                *('--params-file', str(self._file), '--params-file', str(told)),
            ],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        )
        self._meet()

    def _meet(self) -> None:
        self.until(lambda: self.states and self.legs, 20.0)
        self.until(lambda: self._commands.get_subscription_count() > 0)
        # A killed node is still counted: leave the new one time to be found.
        self.spin(0.5)

    def start_imu(self) -> None:
        """Run the sensor's node until all is well."""
        if self._imu is None:
            self._imu = self._add('imu', self._wiring['imu'])
            bring_up(self._imu)
        self.reports.clear()
        try:
            self.until(lambda: self._said(IMU, OK), 30.0)
        except TimeoutError as error:
            said = [s.message for item in self.reports for s in item.status if s.name == IMU]
            raise TimeoutError(f'the sensor is not well: {said[-3:]}') from error

    def _said(self, name: str, level: int) -> bool:
        return level in self.levels(self.reports, name)

    def ask(self, service: str) -> str:
        """Call a service of the driver; return its sentence."""
        return str(self.call(Trigger, f'driver/{service}').message)

    # The way of the legs.

    def _pump(self) -> None:
        path = self._path
        if path is None:
            return
        for _ in range(PER_TICK):
            if self._due > min(self.now + AHEAD, path.end + AFTER):
                break
            strokes, rates = path.at(self._due)
            strokes = strokes + self._offset * np.eye(6)[0]
            self._offset = 0.0
            if self._spoilt:
                strokes[0], self._spoilt = np.nan, self._spoilt - 1
            self._say(self._due, strokes, rates)
            if self._second:
                between = self._due + 0.5 * PERIOD
                self._say(between, path.at(between)[0] + self._second, rates)
            self._due += PERIOD

    def _say(self, stamp: float, strokes: Array, rates: Array) -> None:
        message = JointState(
            name=list(LEG_NAMES), position=strokes.tolist(), velocity=rates.tolist()
        )
        message.header.stamp = from_seconds(stamp + self._shift)
        self._commands.publish(message)

    def _go(self, travel: Array, omega: float, duration: float) -> Swing:
        self._due = self.now + 0.02
        start = np.array(self.legs[-1].position)
        self._path = Swing(self._due, duration, start, travel, omega)
        return self._path

    def _arrive(self, path: Swing) -> None:
        self.until(lambda: self.now > path.end + AFTER or self.state != 'ENABLED', 30.0)
        self._path = None

    def make_ready(self) -> None:
        """Enable the drives, without a fault, and bring the platform home."""
        latest, said = self.now + READY_WITHIN, ''
        while self.state != 'ENABLED':
            if self.now > latest:
                raise TimeoutError(f'not enabled within {READY_WITHIN:g} s: {said}')
            said = self.ask('reset_fault' if self.state == 'FAULT' else 'enable')
            if 'override' in said:
                self._override()
            # A drive may remember what happened to the process before this one.
            self.spin(0.3)
        self.spin(0.1)
        self._jog_inside()
        if self.away > AT_HOME:
            omega = HOMING_RATE / max(0.5 * self.away, 0.02)
            way = self._home - np.array(self.legs[-1].position)
            self._arrive(self._go(way, omega, np.pi / omega))
            self.until(lambda: self._witness.still(self.now))

    def _override(self) -> None:
        """Let legs that lie on their mechanical ends be switched on."""
        self._answer(self.call(SetBool, 'driver/override', SetBool.Request(data=True)).message)

    def _jog_inside(self) -> None:
        """Jog legs that are at the end of their stroke, or beyond it, inwards."""

        def inside() -> bool:
            low = np.array(self.legs[-1].position) < NEAR_END
            message = Jog(rates=np.where(low, JOG_RATE, 0.0).tolist())
            message.header.stamp = from_seconds(self.now)
            if low.any():
                self._keys.publish(message)
                self.spin(0.02)
            return not low.any()

        self.until(inside)
        self.spin(0.3)

    # The fault.

    def run(self, case: Case) -> Outcome:
        """Break the rig; return what came of it, before it is repaired."""
        if 'do.kill_node' in {act.name for act in case.acts} and self._process is None:
            self.start_process()
        if case.source.startswith('imu'):
            self.start_imu()
        path = self._set_out(case)
        known = len(self.states)
        self.reports.clear()
        self._answers.clear()
        begin = self.now
        for act in case.acts:
            begin = self.do(act) or begin
        detected, sentence = self._watch(case, begin, known)
        # Legs without voltage begin to fall from rest, and may swing for a while.
        if case.sinks:
            with suppress(TimeoutError):
                self.until(lambda: self._witness.lowest() < 0.0, SWINGS)
        with suppress(TimeoutError) if case.sinks else nullcontext():
            self._settle(path, SWINGS if case.sinks else 20.0)
        final = self._final(case)
        ended = next((stamp_of(s) for s in self.states[known:] if NAMES[s.state] == final), None)
        if ended is None:
            ended = begin + (detected or 0.0)
        moved, fallen = self._moved(case, path, begin, ended)
        # A change of state is stamped with the instant of its cycle, which may have begun before.
        told = None if detected is None else max(detected, 0.0)
        return Outcome(told, sentence, final, moved, fallen, self._witness.lowest())

    def _moved(
        self, case: Case, path: Swing | None, begin: float, ended: float
    ) -> tuple[float, float]:
        if case.goes_on or not case.says:
            return self._witness.off_path(path, begin), 0.0
        return self._witness.way(begin, ended), self._witness.way(ended)

    def _set_out(self, case: Case) -> Swing | None:
        """Bring the platform to where the fault finds it; a busy machine needs several tries."""
        self._spoilt, self._shift, self._second = 0, 0.0, 0.0
        for _ in range(TRIES):
            self.make_ready()
            for heard in (self.truths, self.reports, self.samples, self.legs):
                heard.clear()
            self.until(lambda: self.legs and self.truths)
            path = None
            if case.moving:
                path = self._go(np.full(6, HEIGHT), OMEGA, 4.0 * np.pi / OMEGA)
                self.spin(path.begin + FASTEST + 0.05 - self.now)
            if self.state == 'ENABLED':
                return path
        raise TimeoutError(f'not in motion after {TRIES} tries: {self.states[-1].reason}')

    def repair(self, case: Case) -> str:
        """End the fault; return what the driver says when it is reset, if it has to be."""
        for act in case.repair:
            self.do(act)
        if self.state != 'FAULT':
            return ''
        said = self.ask('reset_fault')
        if 'disable first' in said:
            self.ask('disable')
            self.spin(SWINGS)
            said = self.ask('reset_fault')
        if 'switch the override on' in said:
            self._override()
            said = self.ask('reset_fault')
        return said

    def do(self, act: Act) -> float | None:
        """Carry out an act; return when it began, if it was not at once."""
        if act.name.startswith('do.'):
            method: Callable[..., float | None] = getattr(self, '_' + act.name.removeprefix('do.'))
            return method(**act.arguments)
        request = InjectFault.Request(
            fault=act.name, arguments_json=json.dumps(dict(act.arguments))
        )
        answer = self.call(InjectFault, 'simulation/inject_fault', request)
        assert answer.success, answer.message
        return None

    def _watch(self, case: Case, begin: float, known: int) -> tuple[float | None, str]:
        """Wait for the operator's sentence; return when it came and what it was."""
        limit = begin + case.within + 2.0
        while self.now < limit:
            for stamp, sentence in self._heard(case, known):
                if case.says and re.search(case.says, sentence):
                    return stamp - begin, sentence
                if not case.says:
                    return stamp - begin, sentence
            self.spin(0.02)
        return None, ''

    def _heard(self, case: Case, known: int) -> list[tuple[float, str]]:
        if case.source == STATE:
            return [(stamp_of(item), item.reason) for item in self.states[known:]]
        if case.source == ANSWER:
            return self._answers
        if case.source == SILENCE:
            last = stamp_of(self.legs[-1])
            silent = self.now - last > SILENT_FOR
            return [(last + SILENT_FOR, 'actuator_states is silent')] if silent else []
        return [
            (stamp_of(item), status.message)
            for item in self.reports
            for status in item.status
            if status.name == case.source and status.level[0] > OK
        ]

    def _settle(self, path: Swing | None, patience: float) -> None:
        """Wait until the platform is at rest, and the path is over unless it was broken off."""
        if path is not None:
            self.until(lambda: self.now > path.end + AFTER or self.state != 'ENABLED', 20.0)
            self._path = None
        self.until(lambda: self.state in {'ENABLED', 'DISABLED', 'FAULT'}, 20.0)
        self.until(lambda: self._witness.still(self.now), patience)

    def _final(self, case: Case) -> str:
        gone = self._process is not None and self._process.poll() is not None
        return GONE if gone else self.state

    # Acts beside those of the virtual rig.

    def _cycle(self) -> int:
        parent = os.getpid() if self._process is None else self._process.pid
        for place in Path(f'/proc/{parent}/task').iterdir():
            # A thread may end meanwhile, but not the one that has started the cycle.
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in map(int, (place / 'children').read_text().split()):
                    if b'cyclic_process' in Path(f'/proc/{child}/cmdline').read_bytes():
                        return child
        raise ProcessLookupError(f'{parent} has no cyclic process')

    def _kill_cycle(self) -> None:
        os.kill(self._cycle(), signal.SIGKILL)

    def _freeze_cycle(self, seconds: float) -> None:
        pid = self._cycle()
        os.kill(pid, signal.SIGSTOP)
        self.spin(seconds)
        os.kill(pid, signal.SIGCONT)

    def _hang_cycle(self) -> None:
        os.kill(self._cycle(), signal.SIGSTOP)

    def _kill_node(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def _restart(self) -> None:
        self._path = None
        if self._process is None:
            self._drop(self._driver)
        else:
            # The fault may not have come about.
            self._kill_node()
        self._process = None
        self.start_driver()

    def _deactivate(self) -> None:
        self._driver.trigger_deactivate()

    def _activate(self) -> None:
        self._driver.trigger_activate()

    def _silence(self) -> float:
        self._path = None
        return self._due - PERIOD

    def _not_a_number(self, count: int) -> float | None:
        self._spoilt = count
        return self._due - PERIOD if count > 1 else None

    def _jump(self, metres: float) -> None:
        self._offset = metres

    def _tracking_error(self, metres: float) -> None:
        message = TrackingError()
        message.header.stamp = from_seconds(self.now)
        message.position.x = metres
        self._errors.publish(message)

    def _await_fault(self) -> None:
        self.until(lambda: self.state == 'FAULT')

    def _call(self, service: str) -> None:
        self._answer(self.ask(service))

    def _answer(self, sentence: str) -> None:
        self._answers.append((self.now, sentence))

    def _jog(self, rate: float) -> None:
        message = Jog(rates=[rate] * 6)
        message.header.stamp = from_seconds(self.now)
        self._keys.publish(message)

    def _shift_stamps(self, seconds: float) -> float:
        self._shift = seconds
        return self._due - PERIOD

    def _contradict(self, metres: float) -> None:
        self._second = metres
