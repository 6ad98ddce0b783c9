# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where SYNC0 comes in the time of the reference clock, and what is done where it does not."""

from __future__ import annotations

import pytest

pytest.importorskip('pysoem')

from scripted_cable import Cable, close_sockets, COUPLER, DRIVE, Slave
from stewart_driver.ethercat.errors import NotOperational

SPAN, CYCLE, SHIFT = 1 << 32, 2_000_000, 1_000_000
SAFEOP = 4

closed = pytest.fixture(autouse=True)(close_sockets)


class Clocked(Cable):
    """Slaves with one time, of which drives show 32 bits; each question takes half a millisecond.

    Attributes:
        ns: The true time [ns].
        begins: That of each drive's first SYNC0 [ns].
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ns: int, reference_bits: int) -> None:
        super().__init__(monkeypatch, COUPLER, *[DRIVE] * 6)
        self.ns, self.begins = ns, {}
        self.lost: list[int] = []
        self.bus.scan(None)
        self.bus._slaves = self.master.slaves[1:]
        bits = {self.master.slaves[0]: reference_bits}
        ask, synchronise = Slave._fprd, Slave.dc_sync

        def answer(slave: Slave, register: int, length: int) -> bytes:
            self.ns += 500_000
            slave.registers[0x0910] = self.ns % (1 << bits.get(slave, 32))
            return ask(slave, register, length)

        def begin(slave: Slave, act: bool, cycle: int, shift: int) -> None:
            synchronise(slave, act, cycle, shift)
            self.begins[slave] = self.ns // SPAN * SPAN + slave.registers[0x0990]
            if self.lost:
                slave.registers[self.lost.pop()] = 0

        monkeypatch.setattr(self.master, 'receive_processdata', lambda timeout: 18)
        monkeypatch.setattr(Slave, '_fprd', answer)
        monkeypatch.setattr(Slave, 'dc_sync', begin)
        for slave in self.master.slaves:
            slave._says = lambda: (SAFEOP, 0)
            slave.registers.update({0x0981: 0, 0x09A0: 0})

    def map(self) -> None:
        self.bus.map(watchdog=0.1, sync=(1e-9 * CYCLE, 1e-9 * SHIFT))


@pytest.mark.parametrize('reference_bits', [32, 64])
@pytest.mark.parametrize('ahead', [10_000_000, 8_000_000, 7_500_000, -1_000_000_000])
def test_sync0_of_all_drives_is_on_one_grid_although_32_bits_begin_anew(
    monkeypatch: pytest.MonkeyPatch, reference_bits: int, ahead: int
) -> None:
    """A span is no multiple of a cycle: drives behind its end were 0.97 ms beside the others."""
    cable = Clocked(monkeypatch, 3 * SPAN - ahead, reference_bits)
    first = cable.ns
    cable.map()

    # What the reference has shown at first is where its time begins.
    shown_from = 0 if reference_bits == 64 else first // SPAN * SPAN
    places = {(begin - shown_from) % CYCLE for begin in cable.begins.values()}
    assert places == {SHIFT}
    assert len(cable.begins) == 6
    assert abs(cable.bus.clock + shown_from - cable.ns) < 30_000_000


@pytest.mark.parametrize('register', [0x0981, 0x09A0])
def test_a_frame_that_is_lost_while_sync0_begins_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, register: int
) -> None:
    cable = Clocked(monkeypatch, 10**9, 32)
    cable.lost = [register] * 2
    cable.map()
    assert [slave.registers[0x0981] for slave in cable.bus._slaves] == [3] * 6
    assert [slave.registers[0x09A0] for slave in cable.bus._slaves] == [CYCLE] * 6
    cable.lost = [register] * 3
    with pytest.raises(NotOperational, match=r'SAFEOP: leg 1: no SYNC0'):
        cable.map()


def test_a_sync0_that_would_begin_in_the_past_is_begun_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It never comes then, and a frame of the start may take longer than SOEM looks ahead."""
    cable = Clocked(monkeypatch, 10**9, 32)
    begin, late = Slave.dc_sync, [150_000_000]

    def begin_late(slave: Slave, act: bool, cycle: int, shift: int) -> None:
        begin(slave, act, cycle, shift)
        cable.ns += late.pop() if late else 0
        assert len(late) == 0

    monkeypatch.setattr(Slave, 'dc_sync', begin_late)
    cable.map()
    assert all(cable.begins[slave] > 1.15e9 for slave in cable.bus._slaves)
    assert cable.begins[cable.bus._slaves[0]] > 1.25e9


def test_clocks_settle_before_op_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every drive waits itself; one whose offset got lost is apart for ever, either way."""
    cable = Clocked(monkeypatch, 10**9, 32)
    drives = cable.bus._slaves

    def settle(timeout: int) -> int:
        drives[1].registers[0x092C] = max(60_000 - 1000 * cable.master.frames, 0)
        return 18

    monkeypatch.setattr(cable.master, 'receive_processdata', settle)
    cable.map()
    assert 50 <= cable.master.frames < 60
    drives[4].registers[0x092C] = 0x8000_0000 + 3_000_000
    with pytest.raises(NotOperational, match=r'OP: leg 5: its clock is 3 ms from the .*092Ch'):
        cable.map()
