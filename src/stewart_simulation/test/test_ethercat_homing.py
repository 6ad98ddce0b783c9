# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives that find home by themselves, on a segment in this process, in simulated time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle_link import StateChange
from stewart_driver.control.inline_cycle import InlineCycle
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.drive_type import drive_path
from stewart_driver.ethercat.errors import WrongBus
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.rig_file import load_rig, Rig, save_rig
from stewart_simulation.ethercat.drive_model import FollowingDrives
from stewart_simulation.ethercat.homing import HomingSwitches
from stewart_simulation.ethercat.master.bus import InlineWire
from stewart_simulation.ethercat.omron_1s import DriveType
from stewart_simulation.ethercat.segment import Line, Segment
import yaml

BEGIN = 1_000_000_000
CYCLE, STEP = 0.004, 2_000_000
COUNTS = 2**23 / 0.01
FAST, SLOW, ACCELERATION = 0.1, 0.02, 2.0
# Where the limit switches are, in the counts of motors that know nothing of strokes [count].
SWITCHES = [round((-0.004 - 0.0005 * axis) * COUNTS) for axis in range(6)]
UPPER = [round((0.003 + 0.0002 * axis) * COUNTS) for axis in range(6)]
INDICES = [round(-0.0031 * COUNTS)] * 6


class Machine:
    """Six drives with switches, a driver, and somebody who asks it to home."""

    def __init__(
        self,
        folder: Path,
        method: int,
        homing: list[HomingSwitches | None] | None = None,
        drive: str = 'omron_1s',
        *,
        mapped: bool = False,
    ) -> None:
        self.now, self._ahead = BEGIN, 0
        found = homing or [
            HomingSwitches(SWITCHES[axis], UPPER[axis], INDICES[axis]) for axis in range(6)
        ]
        self.model = FollowingDrives([0.0] * 6)
        types = [DriveType(homing=item) for item in found]
        self.segment = Segment(types, self._now_ns, self.model)
        self._wire = InlineWire(Line(self.segment, 1), self._now_ns, self._let_pass)
        self.rig_file = folder / 'rig.yaml'
        save_rig(self.rig_file, Rig('vigo'))
        content = yaml.safe_load(drive_path(drive).read_text())
        content['homing'] = {
            'methods': [method],
            'fast_speed_mps': FAST,
            'slow_speed_mps': SLOW,
            'acceleration_mps2': ACCELERATION,
            'stroke_m': 0.001,
        }
        if mapped:
            content['maps']['outputs']['write'].append('mode')
            content['maps']['inputs']['write'].append('mode_display')
        # A short stroke, so that its time is short, too.
        content['legs']['stroke_m'] = [0.0, 0.05]
        path = folder / 'drive.yaml'
        path.write_text(yaml.safe_dump(content))
        self.backend = EthercatBackend(
            EthercatOptions(
                interface=self._wire.interface,
                rig_file=str(self.rig_file),
                drive=str(path),
                cycle_time=CYCLE,
                homing_method=method,
            )
        )
        self.changes: list[StateChange] = []
        self.loop = InlineCycle(self.backend, CycleConfiguration(self.backend.limits), self.now)
        self._hear()

    def close(self) -> None:
        if self.loop.alive:
            self.loop.end()
        self._wire.withdraw()

    def _now_ns(self) -> int:
        return max(self.now, self._ahead)

    def _let_pass(self, duration: float) -> None:
        self._ahead = self._now_ns() + ceil(1e9 * duration)

    def _hear(self) -> None:
        self.changes += self.loop.state_changes()
        list(self.loop.samples())

    def let_pass(self, duration: float) -> None:
        end = self.now + round(1e9 * duration)
        while self.now < end:
            self.now += STEP
            self.loop.advance(self.now)
            self._hear()

    def home(self) -> str:
        accepted, said = self.loop.request(Request.HOME)
        self._hear()
        assert accepted, said
        return said

    def until(self, reached: Callable[[], Any], limit: float = 40.0, *, asks: bool = True) -> None:
        end = self.now + round(1e9 * limit)
        while not reached():
            assert self.now < end, self.changes[-1]
            self.let_pass(0.05)
            if asks and self.state is State.ENABLING:
                self.home()

    @property
    def state(self) -> State:
        return self.changes[-1].state

    @property
    def reason(self) -> str:
        return self.changes[-1].reason

    @property
    def positions(self) -> np.ndarray:
        """Where the motors really are [count]."""
        return np.array(self.model.positions)

    def leg(self) -> int | None:
        """Return which drive, from 1, is in mode 6; None if none is."""
        modes = [slave.dictionary.objects[0x6061][0].number for slave in self.segment.slaves]
        assert modes.count(6) <= 1
        return modes.index(6) + 1 if 6 in modes else None

    def until_leg_moves(self, leg: int) -> None:
        self.until(
            lambda: self.leg() == leg and abs(self.model.velocities[leg - 1]) > 0.01 * COUNTS
        )


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    built: list[Machine] = []

    def make(method: int = 17, **options: Any) -> Machine:
        built.append(Machine(tmp_path, method, **options))
        return built[-1]

    yield make
    for machine in built:
        machine.close()


@pytest.mark.parametrize(
    ('drive', 'mapped'),
    [pytest.param('omron_1s', False, marks=pytest.mark.slow), ('omron_1s_free', True)],
)
def test_all_legs_home_to_their_limit_switches_one_after_the_other(
    drive: str, mapped: bool, build: Callable[..., Machine]
) -> None:
    """Where the mode is exchanged cyclically, it is told there, else by SDO."""
    machine = build(drive=drive, mapped=mapped)
    machine.let_pass(0.1)
    assert not machine.changes[-1].homed
    assert machine.loop.request(Request.ENABLE) == (
        False,
        'the strokes are not known to be absolute: home first',
    )

    assert machine.home().startswith('homing begins, legs 1 to 6 one after the other')
    assert machine.state is State.ENABLING
    order: list[int | None] = []
    machine.until(lambda: order.append(machine.leg()) or machine.state is not State.ENABLING)

    seen = [leg for leg in order if leg is not None]
    assert seen == sorted(seen)
    assert set(seen) == set(range(1, 7))
    assert (machine.state, machine.changes[-1].homed) == (State.DISABLED, True)
    assert machine.reason.startswith('all legs have homed, by method 17; home is saved')
    drives = load_rig(machine.rig_file).drives
    assert drives is not None
    assert drives.zero_offsets_counts == (-round(0.001 * COUNTS),) * 6
    # The counts of the drives are those from the edges of the switches.
    told = np.array(drives.parked_counts)
    assert machine.home() == 'all legs have homed'
    assert machine.state is State.DISABLED
    assert machine.positions - SWITCHES == pytest.approx(told, abs=2)
    # Beside the edge by what the leg needs to stop from the slow speed.
    beside = SLOW**2 / (2.0 * ACCELERATION) + 2.0 * SLOW * CYCLE
    assert np.abs(told).max() < beside * COUNTS
    machine.let_pass(0.1)
    assert machine.loop.request(Request.ENABLE)[0]
    machine.until(lambda: machine.state is State.ENABLED, asks=False)
    before = machine.positions
    machine.let_pass(0.2)
    assert machine.positions == pytest.approx(before, abs=1e-6 * COUNTS)


@pytest.mark.parametrize(('method', 'side'), [(33, -1), (34, 1)])
def test_index_pulses_are_found_on_the_side_of_the_method(
    method: int, side: int, build: Callable[..., Machine]
) -> None:
    machine = build(method)
    machine.home()
    machine.until(lambda: machine.state is not State.ENABLING)

    assert machine.changes[-1].homed, machine.reason
    drives = load_rig(machine.rig_file).drives
    assert drives is not None
    home = machine.positions - np.array(drives.parked_counts)
    turn = 0.01 * COUNTS
    expected = INDICES[0] + (0 if side < 0 else turn)
    assert home == pytest.approx(np.full(6, expected), abs=2)


def test_the_motion_halts_when_nobody_asks_for_it_any_more(build: Callable[..., Machine]) -> None:
    machine = build()
    machine.home()
    machine.until_leg_moves(2)
    asked_at = machine.now

    machine.until(lambda: machine.state is not State.ENABLING, asks=False)

    # The dead man's second, the ramp, and the way back to mode 8.
    assert 1e-9 * (machine.now - asked_at) < 1.5
    assert (machine.state, machine.changes[-1].homed) == (State.DISABLED, False)
    assert 'homing was halted: nobody has asked for it for 1 s' in machine.reason
    assert machine.leg() is None
    machine.let_pass(0.3)
    rest = machine.positions
    machine.let_pass(0.3)
    assert machine.positions == pytest.approx(rest, abs=1)
    assert load_rig(machine.rig_file).drives is None
    # It can be asked for again.
    machine.let_pass(1.0)
    machine.home()
    machine.until(lambda: machine.state is not State.ENABLING)
    assert machine.changes[-1].homed, machine.reason


@pytest.mark.parametrize('request_', [Request.DISABLE, None])
def test_who_switches_off_halts_the_leg_first(
    request_: Request | None, build: Callable[..., Machine]
) -> None:
    machine = build()
    machine.home()
    machine.until_leg_moves(1)
    if request_ is None:
        machine.loop.quick_stop()
    else:
        assert machine.loop.request(request_)[0]
    words, rates = [], []
    for _ in range(200):
        machine.let_pass(CYCLE)
        words.append(machine.segment.slaves[0].dictionary.objects[0x6040][0].number)
        rates.append(machine.model.velocities[0] / COUNTS)

    assert machine.state is State.DISABLED
    assert 0x11F in words
    # No harder than the ramp of homing, and the voltage goes at rest.
    assert np.abs(np.diff(rates)).max() < 2.0 * ACCELERATION * CYCLE
    assert abs(rates[-1]) < 1e-6
    assert machine.leg() is None
    assert words[-1] & 0x08 == 0
    # Who renews the request has not heard of it, and begins nothing anew.
    assert machine.loop.request(Request.HOME) == (
        False,
        'homing has just ended: ask again in a second to begin anew',
    )
    machine.let_pass(0.1)
    assert machine.state is State.DISABLED


def test_the_end_of_the_driver_stops_the_leg(build: Callable[..., Machine]) -> None:
    machine = build()
    machine.home()
    machine.until_leg_moves(1)

    machine.loop.end()

    assert not any(slave.drive.command.enabled for slave in machine.segment.slaves)
    assert abs(machine.model.velocities[0]) < 0.01 * COUNTS


def test_a_homing_error_of_a_drive_is_a_fault_of_its_leg(build: Callable[..., Machine]) -> None:
    switches: list[HomingSwitches | None] = [
        HomingSwitches(lower, fails=axis == 3) for axis, lower in enumerate(SWITCHES)
    ]
    machine = build(homing=switches)
    machine.home()
    machine.until(lambda: machine.state is not State.ENABLING)

    assert machine.state is State.FAULT
    assert machine.reason == 'leg 4: its drive reports a homing error (statusword bit 13)'
    assert not machine.changes[-1].homed
    machine.let_pass(0.5)
    assert not any(slave.drive.command.enabled for slave in machine.segment.slaves)
    assert machine.leg() is None
    assert machine.loop.request(Request.RESET_FAULT)[0]
    machine.let_pass(0.1)
    assert machine.state is State.DISABLED


def test_a_leg_that_finds_no_switch_is_halted_when_its_time_is_over(
    build: Callable[..., Machine],
) -> None:
    switches: list[HomingSwitches | None] = [HomingSwitches(lower) for lower in SWITCHES]
    switches[1] = HomingSwitches(-100.0 * COUNTS)
    machine = build(homing=switches)
    machine.home()
    machine.until_leg_moves(2)
    begun = machine.now
    machine.until(lambda: machine.state is not State.ENABLING)

    # 50 mm fast, two turns and the braking slowly, four ramps; half as much again.
    longest = 1.5 * (0.05 / FAST + (0.02 + 2.5e-3) / SLOW + 4 * FAST / ACCELERATION) + 1.0
    assert machine.state is State.FAULT
    assert machine.reason == f'leg 2: it has not come home within {longest:.1f} s'
    assert 1e-9 * (machine.now - begun) == pytest.approx(longest, abs=0.5)
    machine.let_pass(0.5)
    assert machine.leg() is None
    rest = machine.positions
    machine.let_pass(0.2)
    assert machine.positions == pytest.approx(rest, abs=1)


def test_drives_without_homing_are_refused_before_anything_moves(
    build: Callable[..., Machine],
) -> None:
    switches: list[HomingSwitches | None] = [HomingSwitches(lower) for lower in SWITCHES]
    switches[4] = None
    with pytest.raises(WrongBus, match='drive of leg 5 has no mode 6'):
        build(homing=switches)


def test_a_method_that_a_drive_does_not_take_is_told(build: Callable[..., Machine]) -> None:
    with pytest.raises(WrongBus, match=r'leg 1 does not take its homing method .*0x06090030'):
        build(21)


def test_a_leg_that_is_lost_ends_the_homing_of_all(build: Callable[..., Machine]) -> None:
    machine = build()
    machine.home()
    machine.until_leg_moves(1)
    machine.segment.slaves[4].drive.fault(0x2310)
    machine.until(lambda: machine.state is not State.ENABLING)

    assert machine.state is State.FAULT
    assert 'leg 5' in machine.reason
    machine.let_pass(1.5)
    assert machine.leg() is None
    assert not any(slave.drive.command.enabled for slave in machine.segment.slaves)


def test_a_driver_that_starts_anew_has_to_home_again(build: Callable[..., Machine]) -> None:
    """Parked where the counts begin, an incremental encoder looks as if it knew its place."""
    machine = build()
    machine.home()
    machine.until(lambda: machine.state is not State.ENABLING)
    machine.loop.end()
    again = EthercatBackend(machine.backend._options)

    again.open(1e-9 * machine._now_ns())

    assert not again.homed
    assert 'the encoders are incremental' in again.notes
    again.close()


def test_a_method_that_the_drive_type_does_not_have_is_refused(tmp_path: Path) -> None:
    options = {'interface': 'eth1', 'rig_file': str(tmp_path / 'rig.yaml')}
    save_rig(tmp_path / 'rig.yaml', Rig('vigo'))
    with pytest.raises(
        ConfigurationError, match='homing_method: expected 0, for omron_1s has no homing methods'
    ):
        EthercatBackend(EthercatOptions(homing_method=17, **options))  # type: ignore[arg-type]
