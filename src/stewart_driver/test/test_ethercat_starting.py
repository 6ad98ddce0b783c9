# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The way of the bus to OP."""

from __future__ import annotations

from dataclasses import replace
import datetime
from pathlib import Path
import struct
from typing import Any

import pytest
from scripted_wire import (
    COUNTS,
    CYCLE,
    ENTRIES_IN,
    ENTRIES_OUT,
    KIND,
    OP,
    OPTIONS,
    ScriptedSlave,
    ScriptedWire,
)
from stewart_driver.errors import HomingError
from stewart_driver.ethercat import guards, home
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.cia402.states import Control
from stewart_driver.ethercat.drive_setup import check_synchronisation, PdoLayout
from stewart_driver.ethercat.errors import (
    AlStatus,
    DisturbedMap,
    NotOperational,
    SdoRefused,
    WrongBus,
)
from stewart_driver.ethercat.home import Known
from stewart_driver.ethercat.op_requests import OpRequests
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.process_data import InputImage, OutputImage
from stewart_driver.ethercat.starting import merge_notes, start, StartedBus
from stewart_driver.ethercat.wires import OFFERS
from stewart_driver.rig_file import DriveCalibration, DriveIdentity, Rig, save_rig

SAFEOP = AlStatus(4, 0, '')


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


def test_the_bus_is_started_in_the_one_order_that_real_drives_take(wire: ScriptedWire) -> None:
    start(wire, KIND, OPTIONS, PhaseLock(CYCLE))

    log = [line for line in wire.log if line[0].isalpha()]
    frames = log.index('request 8') - 2
    assert log[:2] == ['scan', 'map 0.1 (0.002, 0.001)']
    assert frames > 5
    assert log[2 : 2 + frames] == ['frame'] * frames
    assert log[-1] == 'use_cycle_timeout'
    # A drive on its way down to SAFEOP counts frames that it misses, so they go on.
    down = log.index('request 4')
    assert set(log[3 + frames : down]) == set(log[down + 1 : -1]) == {'frame'}
    sixth = [line for line in wire.log if line.startswith('6')]
    assert [line for line in sixth if 'write 6060' in line]
    told = [line for line in sixth if 'write' in line]
    assert wire.log.index(told[-1]) < wire.log.index('map 0.1 (0.002, 0.001)')
    # In SAFEOP, before frames have to be punctual.
    assert wire.log.index('6 read 1C32') < wire.log.index('frame')
    assert {word for frame in wire.sent for word, _, _ in frame} == {Control.DISABLE_VOLTAGE}


def test_the_first_targets_on_the_way_to_op_are_where_the_drives_stand(
    wire: ScriptedWire,
) -> None:
    start(wire, KIND, OPTIONS, PhaseLock(CYCLE))

    assert [target for _, target, _ in wire.sent[-1]] == wire.positions


def test_drives_that_do_not_reach_a_state_are_named_with_their_reason(wire: ScriptedWire) -> None:
    refused = AlStatus(0x12, 0x30, 'Invalid DC SYNC config')
    wire.reached[4] = [AlStatus(4, 0, '')] * 5 + [refused]
    with pytest.raises(NotOperational, match=r'SAFEOP: leg 6: PREOP with error 0x0030 \(Inv'):
        start(wire, KIND, OPTIONS, PhaseLock(CYCLE))
    wire.reached[4] = [AlStatus(4, 0, '')] * 6
    wire.resettable = False
    wire.reached[8] = [OP] * 3 + [AlStatus(0x14, 0x1B, 'Sync manager watchdog')] + [OP] * 2
    with pytest.raises(NotOperational, match='OP: leg 4: SAFEOP with error 0x001B'):
        start(wire, KIND, OPTIONS, PhaseLock(CYCLE))


def test_nothing_is_written_to_a_wrong_drive(wire: ScriptedWire) -> None:
    wire.found[0] = DriveIdentity(0x2, 0xB0, 0x10004, 0)

    with pytest.raises(WrongBus, match='leg 1 has vendor 0x2'):
        start(wire, KIND, OPTIONS, PhaseLock(CYCLE))
    assert not [line for line in wire.log if 'write' in line]


@pytest.mark.parametrize('phase', [0.1, 0.5, 0.9])
def test_frames_are_far_from_sync0_before_the_drives_are_in_op(
    wire: ScriptedWire, phase: float
) -> None:
    """Reading, real hardware: drives that work on SYNC0 leave OP when frames miss it."""
    wire.time = 7.0 + phase * CYCLE

    start(wire, KIND, OPTIONS, PhaseLock(CYCLE))

    first = wire.log.index('request 8')
    in_op = wire.instants[wire.log[:first].count('frame') :]
    away = [abs((instant / CYCLE + 0.5) % 1.0 - 0.5) for instant in in_op]
    assert max(away) < 0.2


def test_what_all_drives_say_is_said_once() -> None:
    notes = [f'drive of leg {leg} refuses object 1600h:0: no' for leg in range(1, 7)]
    notes[4] = ''

    assert merge_notes(notes) == ['drive of leg 1, 2, 3, 4, 6 refuses object 1600h:0: no', '']


def test_a_drive_that_is_asked_for_op_again_and_again_is_named_with_its_reason(
    wire: ScriptedWire,
) -> None:
    """A segment of others: each request acknowledged the error, and the reason was gone."""
    refused = AlStatus(0x14, 0x32, 'PLL error')

    class Refusing(ScriptedWire):
        def recover(self, leg: int) -> None:
            self.log.append(f'recover {leg}')
            self.status = [AlStatus(4, 0, '') if item == refused else item for item in self.status]

    wire = Refusing()
    wire.reached[8] = [OP] * 3 + [refused] + [OP] * 2
    with pytest.raises(NotOperational, match=r'OP: leg 4: SAFEOP with error 0x0032 \(PLL error'):
        start(wire, KIND, OPTIONS, PhaseLock(CYCLE))


class Disturbed(ScriptedWire):
    """A wire on which emergencies come while the process data are laid out, so often."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def map(self, *, watchdog: float, sync: Any, sizes: Any) -> None:
        assert sizes == [(8, 11)] * 6
        super().map(watchdog=watchdog, sync=sync, sizes=sizes)
        if self.left:
            self.left -= 1
            raise DisturbedMap('SAFEOP', ['an emergency'])


def test_a_start_that_an_emergency_has_disturbed_is_repeated_once() -> None:
    wire = Disturbed(1)
    start(wire, KIND, OPTIONS, PhaseLock(CYCLE))

    second = wire.log.index('scan', 1)
    assert '6 write 6060' in wire.log[second:]
    assert wire.log[-1] == 'use_cycle_timeout'
    with pytest.raises(NotOperational, match='SAFEOP: an emergency'):
        start(Disturbed(2), KIND, OPTIONS, PhaseLock(CYCLE))


class HalfHearing(ScriptedWire):
    """Leg 4 takes the acknowledgement of its error alone; the next request brings it to OP."""

    def recover(self, leg: int) -> None:
        self.log.append(f'recover {leg} {self.time:.3f}')
        heard = OP if self.status[3] == SAFEOP else SAFEOP
        self.status = [*self.status[:3], heard, *self.status[4:]]


def test_a_drive_that_has_taken_the_acknowledgement_alone_is_asked_again() -> None:
    """It stood in SAFEOP for ever, and only one with an error was asked."""
    wire = HalfHearing()
    wire.reached[8] = [OP] * 3 + [AlStatus(0x14, 0x1A, 'Synchronization error')] + [OP] * 2

    start(wire, KIND, OPTIONS, PhaseLock(CYCLE))

    first, second = (float(line[10:]) for line in wire.log if line.startswith('recover 4'))
    assert second - first == pytest.approx(0.05, abs=5 * CYCLE + 1e-9)


def test_who_shows_no_error_is_asked_again_less_and_less_often() -> None:
    """Some begin anew with each request, and some need a second to say why they refuse."""
    wire = ScriptedWire()
    wire.resettable = False
    requests, asked = OpRequests(wire, 0.1), []
    states = {0.0: SAFEOP, 1.0: AlStatus(0x14, 0x32, 'PLL error'), 1.01: SAFEOP}
    for number in range(150):
        wire.time = 0.01 * number
        item = states[max(since for since in states if since <= wire.time)]
        wire.log.clear()
        requests.ask([OP, item])
        asked += [round(wire.time, 2)] * len(wire.log)

    assert wire.log == []
    assert asked == [0.1, 0.2, 0.4, 0.8, 1.0, 1.05, 1.15, 1.35]


def test_the_mode_of_a_drive_that_exchanges_it_is_not_asked_for_before_op(
    wire: ScriptedWire,
) -> None:
    layout = PdoLayout(
        OutputImage(1, (0x60400010, 0x60600008, 0x607A0020), lambda _index, _subindex: b''),
        InputImage(1, (0x60410010, 0x60640020)),
    )
    (slave, *_) = wire.scan(6)

    check_synchronisation(slave, KIND, layout)

    assert '1 read 6061' not in wire.log


@pytest.mark.parametrize(('shown', 'lacks'), [(8, 0), (0, 0), (1, 1)])
def test_a_drive_may_show_its_mode_in_operation_only(
    wire: ScriptedWire, monkeypatch: pytest.MonkeyPatch, shown: int, lacks: int
) -> None:
    layout = PdoLayout(OutputImage(1, ENTRIES_OUT, lambda *_: b''), InputImage(1, ENTRIES_IN))
    monkeypatch.setattr(ScriptedSlave, 'read', lambda *_: bytes([shown]))
    kind = replace(KIND, clocks=False)
    assert len(check_synchronisation(ScriptedSlave(1, wire), kind, layout)) == lacks


def test_a_drive_whose_watchdog_does_not_act_is_named(wire: ScriptedWire) -> None:
    assert not [
        note for note in start(wire, KIND, OPTIONS, PhaseLock(CYCLE)).notes if '0814h' in note
    ]
    wire.watchdogs = [0.1, 0.0995, 0.0, 0.1, 6.5, 0.1]
    (note,) = (
        note for note in start(wire, KIND, OPTIONS, PhaseLock(CYCLE)).notes if '0814h' in note
    )
    assert note.startswith(
        'the watchdog (0420h, 0814h) of leg 3 is not armed, of leg 5 acts after 6500 ms: without'
    )


def test_a_fault_from_before_the_start_is_told_at_the_start(
    wire: ScriptedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A segment of others, 603Fh in no map: it was fault 0x0000, no error code, of leg 3."""
    codes = {3: b'\x05\x73', 5: None}
    read = ScriptedSlave.read

    def faulty(slave: Any, index: int, subindex: int) -> bytes:
        if index == 0x6041:
            return b'\x18\x02' if slave.leg in codes else b'\x50\x02'
        code = codes.get(slave.leg) if index == 0x603F else None
        return read(slave, index, subindex) if code is None else code

    monkeypatch.setattr(ScriptedSlave, 'read', faulty)
    assert start(wire, KIND, OPTIONS, PhaseLock(CYCLE)).codes == (0, 0, 0x7305, 0, 0, 0)


def test_a_started_bus_is_in_safeop_before_anybody_looks(wire: ScriptedWire) -> None:
    """A segment of others: a reset saw drives still in OP, and never asked for it again."""

    class Late(ScriptedWire):
        down_at = 0.0

        def request(self, state: int) -> None:
            super().request(state)
            if state == 4:
                self.down_at = self.time + 0.02

        def statuses(self) -> list[AlStatus]:
            return [OP] * 6 if self.time < self.down_at else super().statuses()

    wire = Late()
    start(wire, KIND, OPTIONS, PhaseLock(CYCLE))

    assert all(item.state == 4 for item in wire.statuses())


class LimitedWire(ScriptedWire):
    """Six drives with software limits (607Dh); `off` is what a power cycle does to them."""

    def __init__(self) -> None:
        super().__init__()
        self.limits = {(leg, end): bytes(4) for leg in range(1, 7) for end in (1, 2)}

    def off(self, *, moved: float, keeps: bool) -> None:
        self.positions = [item + round(moved * COUNTS) for item in self.positions]
        if not keeps:
            self.limits = dict.fromkeys(self.limits, bytes(4))

    def scan(self, count: int, accepts: Any = None) -> Any:
        return [LimitedSlave(leg, self) for leg in range(1, count + 1)]


class LimitedSlave(ScriptedSlave):
    def read(self, index: int, subindex: int) -> bytes:
        wire = self._wire
        if index == 0x607D and isinstance(wire, LimitedWire):
            return wire.limits[self.leg, subindex]
        return super().read(index, subindex)

    def write(self, index: int, subindex: int, data: bytes) -> None:
        wire = self._wire
        if index == 0x607D and isinstance(wire, LimitedWire):
            wire.limits[self.leg, subindex] = data


def session(wire: LimitedWire, starts: int, *, keeps: bool, **known: bool) -> StartedBus:
    """Start so often, with a bus lost in between, while the legs sink by 3 mm each time."""
    wire.found = [item._replace(serial=7) for item in wire.found]
    zeros = (0,) * 6
    calibration = DriveCalibration(
        zeros, datetime.date(2026, 11, 1), 'home', zeros, tuple(wire.found), tuple(wire.positions)
    )
    seen, remembered = None, False
    for number in range(starts):
        if number:
            wire.off(moved=-0.003, keeps=keeps)
        lately = Known(calibration, 'rig.yaml', seen, remembered=remembered, **known)
        started = start(wire, KIND, OPTIONS, PhaseLock(CYCLE), lately)
        seen, remembered = tuple(wire.positions), started.remembered
        calibration = replace(calibration, parked_counts=seen)
    return started


def test_limits_are_proof_of_a_session_only_where_drives_forget_them() -> None:
    """Drives that keep 607Dh in an EEPROM may have been off, and have lost their turns."""
    wire = LimitedWire()
    # The cable was pulled, and they have not been off.
    assert session(wire, 2, keeps=True).not_homed == ''
    # They were off, and have forgotten.
    assert 'leg 1 stands -3.000 mm from where' in session(LimitedWire(), 2, keeps=False).not_homed
    # Another session: what they have told at its start is not from it.
    again = session(wire, 2, keeps=True)
    assert 'leg 1 stands -3.000 mm from where it was' in again.not_homed


def test_drives_stop_at_the_ends_of_the_platform_where_those_are_nearer() -> None:
    wire = LimitedWire()
    wire.positions = [round(0.3 * COUNTS)] * 6
    short = KIND.limits.within(0.2, 0.4)
    wanted = tuple(round(end * COUNTS) for end in (0.19, 0.41))

    started = session(wire, 1, keeps=True, limits=short)

    assert list(started.ends) == [wanted] * 6
    assert {struct.unpack('<i', wire.limits[leg, 1])[0] for leg in range(1, 7)} == {wanted[0]}
    assert {struct.unpack('<i', wire.limits[leg, 2])[0] for leg in range(1, 7)} == {wanted[1]}


def test_a_leg_beyond_the_limits_of_its_drive_is_named_unless_it_is_held() -> None:
    zeros = (0,) * 6
    calibration = DriveCalibration(zeros, datetime.date(2026, 11, 1), 'home', zeros, ())
    ends = [(round(0.19 * COUNTS), round(0.41 * COUNTS))] * 6
    inside, gear = [round(0.2 * COUNTS)] * 6, KIND.gear
    outside = [*inside[:3], round(0.1 * COUNTS), *inside[4:]]
    off, fourth = [False] * 6, [leg == 4 for leg in range(1, 7)]

    assert home.why_pulled(calibration, inside, gear, ends, off) == ''
    assert home.why_pulled(calibration, outside, gear, ends, fourth) == ''
    assert home.why_pulled(calibration, outside, gear, [None] * 6, off) == ''
    said = home.why_pulled(calibration, outside, gear, ends, off)
    assert said.startswith('leg 4 stands at 100.0 mm, outside of the 190.0 to 410.0 mm that')


def test_limits_that_a_drive_refuses_pull_nobody() -> None:
    assert guards.takes_limits([])
    assert not guards.takes_limits([guards.Lack('software limit (607Dh:1)', 'abort', 0x607D)])


@pytest.mark.parametrize(('factor', 'homed'), [(1.0, True), (2.0, False), (-1.0, False)])
def test_zero_offsets_of_another_gear_are_none(factor: float, *, homed: bool) -> None:
    wire = LimitedWire()
    wire.found = [item._replace(serial=7) for item in wire.found]
    parked, strokes = tuple(wire.positions), (0.3,) * 6
    then = factor * KIND.gear.counts_per_metre
    identities = tuple(wire.found)
    day = datetime.date(2026, 11, 1)
    known = Known(
        DriveCalibration((0,) * 6, day, 'neutral', strokes, identities, parked, then), 'rig.yaml'
    )
    started = start(wire, KIND, OPTIONS, PhaseLock(CYCLE), known)
    assert (started.not_homed == '') is homed
    assert homed or started.not_homed.startswith('the gear is')


class DisturbedLimits(Disturbed, LimitedWire):
    """Both: the first try to start has told the drives their limits already."""


def test_limits_that_a_disturbed_try_has_told_are_no_memory_of_the_drives() -> None:
    assert session(DisturbedLimits(1), 2, keeps=True).not_homed == ''


def test_limits_are_no_proof_for_incremental_encoders() -> None:
    """They count from 0 again after every power cycle, whatever else the drives keep."""
    started = session(LimitedWire(), 2, keeps=True, incremental=True)
    assert started.not_homed.startswith('the encoders are incremental')


@pytest.mark.parametrize('turned', [{2, 5}, {1, 2, 3, 4, 5, 6}])
def test_drives_that_count_the_other_way_round_are_named(
    wire: ScriptedWire, monkeypatch: pytest.MonkeyPatch, turned: set[int]
) -> None:
    read = ScriptedSlave.read

    def polarity(slave: Any, index: int, subindex: int) -> bytes:
        if index == 0x607E:
            return bytes([0xC0 if slave.leg in turned else 0x40])
        return read(slave, index, subindex)

    monkeypatch.setattr(ScriptedSlave, 'read', polarity)
    if len(turned) < 6:
        with pytest.raises(WrongBus, match=r'leg 2, 5 count the other way round \(607Eh, bit 7\)'):
            start(wire, KIND, OPTIONS, PhaseLock(CYCLE))
    else:
        notes = start(wire, KIND, OPTIONS, PhaseLock(CYCLE)).notes
        assert 'without bit 7 (607Eh): reads 0xC0' in ' '.join(notes)


def test_home_that_cannot_be_proven_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drives that tell 6064h in OP only: `driver/home` said how level the legs are, each time."""
    wire, sheet = ScriptedWire(), tmp_path / 'rig.yaml'
    wire.positions = [round(0.01 * COUNTS)] * 6
    calibration = DriveCalibration(
        (0,) * 6, datetime.date(2026, 11, 21), 'home', (0.01,) * 6, tuple(wire.found)
    )
    save_rig(sheet, Rig('vigo', drives=calibration))
    read = ScriptedSlave.read

    def silent(slave: Any, index: int, subindex: int) -> bytes:
        if index == 0x6064:
            raise SdoRefused(slave.leg, index, subindex, 'abort 0x08000022')
        return read(slave, index, subindex)

    monkeypatch.setattr(ScriptedSlave, 'read', silent)
    interface = OFFERS.offer(lambda receive_timeout: wire)
    backend = EthercatBackend(EthercatOptions(interface=interface, rig_file=str(sheet)))
    backend.open(0.0)

    with pytest.raises(HomingError, match=r'leg 1 does not tell where it stands \(6064h\)'):
        backend.home()
    assert not backend.homed
    monkeypatch.setattr(ScriptedSlave, 'read', read)
    assert 'from home' in backend.home()
    assert backend.homed
    backend.close()
    OFFERS.withdraw(interface)
