# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The wire with slaves that take their time, refuse, or are no drives."""

from __future__ import annotations

from collections.abc import Generator
import os
import queue
import threading
from typing import Any

import pytest

pytest.importorskip('pysoem')

from scripted_cable import (
    accepts,
    Cable,
    close_sockets,
    COUPLER,
    DRIVE,
    INIT_WITH_ERROR,
    PREOP,
    Slave,
    TERMINAL,
)
from stewart_driver.ethercat import bus as bus_module
from stewart_driver.ethercat.errors import DisturbedMap, NotOperational, UnusableMap, WrongCount

SAFEOP, OP, ERROR_OR_ACKNOWLEDGE = 4, 8, 0x10

closed = pytest.fixture(autouse=True)(close_sockets)


def test_a_drive_may_take_seconds_to_preop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment of others: after half a second it was asked, and nothing answered."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.preop_at[3] = 2.5

    assert len(cable.bus.scan(6, accepts)) == 6
    assert 2.5 <= cable.time < 2.6


def test_a_drive_that_has_missed_a_request_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment of others, which reads AL control every 20 ms: PREOP came before INIT was read."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.preop_at[3] = 60.0

    def ask() -> None:
        cable.preop_at[3] = cable.time + 0.02

    monkeypatch.setattr(cable.master, 'write_state', ask)

    assert len(cable.bus.scan(6, accepts)) == 6
    assert cable.time < 2.0


def test_soem_waits_for_eeproms_and_maps_as_long_as_for_other_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An EEPROM had 20 ms on a busy machine, where a frame alone may take 0.2 s."""
    Cable(monkeypatch, DRIVE)
    timeouts = bus_module.pysoem.settings.timeouts
    assert timeouts.eeprom >= 4 * timeouts.ret == 800_000
    assert timeouts.rx_mailbox == 2_000_000


def test_a_drive_that_refuses_preop_or_never_comes_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cable = Cable(monkeypatch, COUPLER, *[DRIVE] * 6)
    cable.error[4] = 0x16
    with pytest.raises(NotOperational, match='PREOP: leg 4: INIT with error 0x0016'):
        cable.bus.scan(6, accepts)
    assert cable.time < 0.2
    cable = Cable(monkeypatch, COUPLER, *[DRIVE] * 6)
    cable.preop_at[0] = 60.0
    with pytest.raises(NotOperational, match=r'PREOP: slave 1 \(KW-44C2C52\): INIT'):
        cable.bus.scan(6, accepts)


def test_a_request_acknowledges_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slaves with an error ignored INIT at the end, and kept what they had (ETG.1000.6)."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    cable.bus.request(SAFEOP)
    assert cable.master.state == SAFEOP | ERROR_OR_ACKNOWLEDGE
    cable.bus.close()
    assert cable.master.state == INIT_WITH_ERROR


def test_an_error_is_acknowledged_in_the_word_that_asks_for_op(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two words in turn: a slave that reads AL control each millisecond lost the second."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    cable.bus.recover(3)

    assert [slave.written for slave in cable.master.slaves] == [[], [], [0x18], [], [], []]


def test_couplers_and_terminals_among_the_drives_are_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cable = Cable(monkeypatch, COUPLER, TERMINAL, *[DRIVE] * 3, TERMINAL, *[DRIVE] * 3)
    drives = cable.bus.scan(6, accepts)

    assert [drive.leg for drive in drives] == [1, 2, 3, 4, 5, 6]
    slaves = [cable.master.slaves[place] for place in (2, 3, 4, 6, 7, 8)]
    for leg, slave in enumerate(slaves, 1):
        slave.input = bytes([leg])
    cable.bus.exchange([bytes([10 + leg]) for leg in range(1, 7)])
    assert [slave.output for slave in slaves] == [bytes([10 + leg]) for leg in range(1, 7)]
    assert cable.master.slaves[0].output == cable.master.slaves[5].output == b''
    assert cable.bus.inputs() == [bytes([leg]) for leg in range(1, 7)]
    assert len(cable.bus.statuses()) == 6


def test_names_of_an_eeprom_need_not_be_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    cable = Cable(monkeypatch, DRIVE, DRIVE)
    eeprom = b'Verst\xe4rker'
    monkeypatch.setattr(Slave, 'name', property(lambda _: eeprom.decode()))
    drives = cable.bus.scan(2)
    assert [drive.name for drive in drives] == ['Verst\u00e4rker'] * 2
    with pytest.raises(WrongCount, match='1: Verst\u00e4rker, 2: Verst\u00e4rker'):
        cable.bus.scan(6)


def test_a_missing_drive_is_told_with_all_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    cable = Cable(monkeypatch, COUPLER, *[DRIVE] * 4)

    with pytest.raises(
        WrongCount, match=r'5 slaves answer on eth1, expected are 6.*1: KW-44C2C52'
    ):
        cable.bus.scan(6, accepts)


def test_a_lost_frame_is_not_waited_for_by_ticks_of_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SOEM reads with a time-out of one tick, which may be 4 ms, and more than once."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    outputs = [b''] * 6

    assert cable.bus.exchange(outputs) == -1
    cable.master.cable.send(bytes(18))
    assert cable.bus.exchange(outputs) == 18
    # All else waits as ever, without turning a processor.
    assert cable.master.socket.getblocking()
    assert os.get_blocking(cable.master.socket.fileno())


def test_what_comes_late_does_not_answer_the_question_for_the_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SOEM has 16 numbers for frames: after as many lost ones an old frame fits a new question."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    # While a drive is asked beside the cycle, what waits may be its answer.
    answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    asked = cable.bus.beside(2, answers.get)
    next(asked)
    for _ in range(20):
        cable.master.cable.send(bytes(18))
    cable.bus.statuses()
    assert cable.bus.exchange([b''] * 6) > 0
    answers.put(b'')
    answer(asked)

    cable.bus.statuses()
    assert cable.bus.exchange([b''] * 6) == -1


def test_mailboxes_are_left_alone_while_frames_may_come_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A drive went to INIT with error 0x0016: SOEM wrote what it took for a mailbox's state."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    second = cable.master.slaves[1]
    monkeypatch.setattr(cable.master, 'receive_processdata', lambda timeout: -1)
    for _ in range(8):
        cable.bus.emergencies(2)
        cable.bus.exchange([b''] * 6)
    assert second.mailbox_reads == 8

    monkeypatch.setattr(cable.master, 'receive_processdata', lambda timeout: 18)
    for _ in range(32):
        cable.bus.emergencies(2)
        cable.bus.exchange([b''] * 6)
    assert second.mailbox_reads == 8
    cable.bus.emergencies(2)
    assert second.mailbox_reads == 9


@pytest.mark.parametrize('word', [0x0F, 0x06, 0x1234])
def test_states_that_are_none_are_no_answer(monkeypatch: pytest.MonkeyPatch, word: int) -> None:
    """A controlword, 0Fh, in a late frame: a healthy leg was lost, and all let go."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    for state in (1, 2, 3, 4, 8, 0x14, 0x11):
        cable.master.slaves[0]._says = lambda state=state: (state, 0)
        assert cable.bus.statuses()[0].state == state
    cable.master.slaves[0]._says = lambda: (word, 0)

    assert {item.state for item in cable.bus.statuses()} == {0}


@pytest.mark.parametrize(('state', 'code'), [(0x18, 0x11), (0x28, 0), (0x38, 0x11)])
def test_a_drive_in_op_that_shows_an_error_or_its_identification_is_in_op(
    monkeypatch: pytest.MonkeyPatch, state: int, code: int
) -> None:
    """A segment of others: such a flag that blinked was a lost leg, 2 mm behind the other five."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    cable.master.slaves[2]._says = lambda: (state, code)

    seen = cable.bus.statuses()[2]
    assert seen.state == OP
    assert ('0x0011' in str(seen)) == bool(code)


def answer(asked: Generator[None, None, Any]) -> Any:
    try:
        while True:
            next(asked)
    except StopIteration as end:
        return end.value


def test_a_drive_is_asked_while_frames_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer is not taken for an emergency, and an error comes to who has asked."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    asked = cable.bus.beside(2, answers.get)
    for _ in range(3):
        next(asked)
        assert cable.bus.exchange([b''] * 6) == -1
        assert cable.bus.emergencies(2) == []
    assert cable.master.slaves[1].mailbox_reads == 0
    answers.put(b'\6')
    assert answer(asked) == b'\6'
    cable.bus.emergencies(2)
    assert cable.master.slaves[1].mailbox_reads == 1
    with pytest.raises(ZeroDivisionError):
        answer(cable.bus.beside(2, lambda: 1 // 0))
    cable.bus.close()


def test_clocks_settle_by_frames_before_safeop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive that waits for its clock says 0x32 for ever where no frame sets it."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    monkeypatch.setattr(cable.master, 'receive_processdata', lambda timeout: 18)
    for slave in cable.master.slaves:
        slave._says = lambda: (SAFEOP if cable.master.frames > 50 else PREOP, 0)

    with pytest.raises(NotOperational):
        cable.bus.map(watchdog=0.1, sync=None)
    cable.bus.map(watchdog=0.1, sync=(0.004, 0.002))
    assert cable.master.frames > 50


def test_a_state_that_is_refused_at_first_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that still took what was written before had to be started twice."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    for slave in cable.master.slaves:
        slave._says = lambda: (SAFEOP, 0)
    begin, asked = cable.time, []
    monkeypatch.setattr(cable.master, 'write_state', lambda: asked.append(cable.time))

    def hesitant() -> tuple[int, int]:
        at_once = not asked or cable.time < asked[-1] + 0.05
        return (PREOP | ERROR_OR_ACKNOWLEDGE, 0x1E) if at_once else (SAFEOP, 0)

    cable.master.slaves[3]._says = hesitant
    cable.bus.map(watchdog=0.1, sync=None)
    assert asked == [begin]

    cable.master.slaves[3]._says = lambda: (PREOP | ERROR_OR_ACKNOWLEDGE, 0x1E)
    with pytest.raises(NotOperational, match='SAFEOP: leg 4: PREOP with error 0x001E'):
        cable.bus.map(watchdog=0.1, sync=None)
    assert len(asked) == 2


def test_a_watchdog_time_that_a_slave_cannot_count_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    said = r'SAFEOP: leg 1: the watchdog time: wd_time_ms is limited to .*\(0400h\) stays 2498'
    with pytest.raises(NotOperational, match=said):
        cable.bus.map(watchdog=7.0, sync=None)


def test_the_divider_of_the_watchdogs_is_what_it_is_after_power_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With 0 a watchdog counts to 5 ms: the rig did not start, and the error named no leg."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    for slave in cable.master.slaves:
        slave._says = lambda: (SAFEOP, 0)
    third = cable.master.slaves[2]
    third.registers[0x0400] = 0
    cable.bus.map(watchdog=0.1, sync=None)
    assert third.registers[0x0400] == 2498

    third.registers[0x0400] = 0
    third.fixed.add(0x0400)
    with pytest.raises(NotOperational, match=r'leg 3: the watchdog time: .*\(0400h\) stays 0'):
        cable.bus.map(watchdog=0.1, sync=None)


def test_a_watchdog_that_the_eeprom_does_not_arm_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time may be written, and bit 6 of the sync manager lets nobody look at it."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    for slave in cable.master.slaves:
        slave._says = lambda: (SAFEOP, 0)
    cable.master.slaves[2].registers[0x0814] = 0x24
    cable.bus.map(watchdog=0.2, sync=None)

    assert cable.bus.watchdogs == [0.2, 0.2, 0.0, 0.2, 0.2, 0.2]


def laid_out(monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> Cable:
    """Return a cable in SAFEOP, on which SOEM notes errors while it reads the maps."""
    cable = Cable(monkeypatch, COUPLER, *[DRIVE] * 6)
    cable.bus.scan(6, accepts)
    for slave in cable.master.slaves:
        slave._says = lambda: (SAFEOP, 0)
        slave.output, slave.input = bytes(12), bytes(28)
    read = cable.master.config_map

    def note() -> None:
        read()
        if errors:
            raise bus_module.pysoem.ConfigMapError(list(errors))

    monkeypatch.setattr(cable.master, 'config_map', note)
    return cable


SIZES = [(12, 28)] * 6


def test_process_data_of_another_length_than_the_maps_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A map that was misread by one entry, and a position two octets away."""
    cable = laid_out(monkeypatch)
    cable.bus.map(watchdog=0.1, sync=None, sizes=SIZES)
    cable.master.slaves[3].input = bytes(30)
    with pytest.raises(UnusableMap, match=r': leg 3 has 12 and 30 octets, its maps 12 and 28$'):
        cable.bus.map(watchdog=0.1, sync=None, sizes=SIZES)


def test_an_emergency_while_the_maps_are_read_does_not_end_a_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What SOEM has noted beside answers pysoem calls an unexpected error."""
    cable = laid_out(monkeypatch, Exception('unexpected error'))
    cable.bus.map(watchdog=0.1, sync=None, sizes=SIZES)
    # What waited in the mailboxes was taken before.
    assert [slave.mailbox_reads for slave in cable.master.slaves] == [1] * 7
    assert cable.bus.watchdogs == [0.1] * 6
    cable.master.slaves[6].output = b''
    with pytest.raises(DisturbedMap, match=r'an emergency came .* leg 6 has 0 and 28 octets'):
        cable.bus.map(watchdog=0.1, sync=None, sizes=SIZES)
    cable.master.slaves[6]._says = lambda: (INIT_WITH_ERROR, 0x1D)
    with pytest.raises(DisturbedMap, match=r'an emergency came .* leg 6: INIT with error 0x001D'):
        cable.bus.map(watchdog=0.1, sync=None)


def test_terminals_of_a_few_bits_count_in_the_working_counter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SOEM counts who moves on by an octet: 18, and each frame that came back was another."""
    cable = laid_out(monkeypatch)
    cable.master.slaves[0].output = b''
    cable.bus.map(watchdog=0.1, sync=None)
    assert cable.bus.expected == 19
    # A frame for each of two datagrams of long process data counts more than once.
    cable.master.expected_wkc = 36
    cable.bus.map(watchdog=0.1, sync=None)
    assert cable.bus.expected == 36


def refused(slave: int) -> Exception:
    return bus_module.pysoem.SdoError(slave, 0x1C12, 0, 0x06010004, 'no complete access')


def test_a_refused_object_of_the_maps_ends_no_start_whose_sizes_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SOEM asks in another way, or goes by the EEPROM, and a start with the right map ended."""
    cable = laid_out(monkeypatch, refused(3))
    assert not any(slave.complete_access for slave in cable.master.slaves)
    cable.bus.map(watchdog=0.1, sync=None, sizes=SIZES)
    cable.master.slaves[2].output = b''
    said = r'leg 2 refuses 1C12h:0 \(no complete access\); .* leg 2 has 0 and 28 octets'
    with pytest.raises(NotOperational, match=said) as caught:
        cable.bus.map(watchdog=0.1, sync=None, sizes=SIZES)
    assert not isinstance(caught.value, DisturbedMap)


def test_a_refused_object_behind_an_emergency_lets_a_start_begin_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cable = laid_out(monkeypatch, Exception('unexpected error'), refused(3))
    with pytest.raises(DisturbedMap, match='the process data'):
        cable.bus.map(watchdog=0.1, sync=None, sizes=SIZES)


def test_all_drives_are_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, behind mailboxes of 50 ms, six drives took 28 s to start."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    all_there = threading.Barrier(6, timeout=10.0)

    assert sorted(cable.bus.each(lambda _leg: all_there.wait(), range(6))) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ZeroDivisionError):
        cable.bus.each(lambda divisor: 1 // divisor, [1, 0])


def test_a_clock_of_32_bits_is_unwrapped_from_the_begin_of_sync0_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each time that it began anew frames were pulled by half a cycle, into SYNC0."""
    cable = laid_out(monkeypatch)
    master, cycle, span = cable.master, 2_000_000, 2**32
    begun = span - 5 * cycle + 7

    def at(now: float) -> int:
        """Return the time of the wire after a frame at an instant [s]; the bus runs 30 ppm off."""
        cable.time = now
        master.dc_time = (begun + round(1e9 * now * (1.0 + 30e-6))) % span
        assert cable.bus.exchange([b''] * 6) == 18
        return cable.bus.clock - begun

    monkeypatch.setattr(master, 'receive_processdata', lambda timeout: 18)
    for slave in master.slaves:
        slave.registers[0x0910] = begun
    cable.bus.map(watchdog=0.1, sync=(0.002, 0.001))
    # A start takes longer than the span, and no frame may ask meanwhile.
    for now in (6.0, 6.002, 10.3, 10.302, 60.0, 64.4):
        assert at(now) == pytest.approx(1e9 * now, rel=31e-6)
    # The reference clock is lost, and comes back.
    for now in (64.402, 67.0, 70.0):
        cable.time = now
        cable.bus.exchange([b''] * 6)
        assert cable.bus.clock - begun == pytest.approx(64.4e9, rel=31e-6)
    assert at(75.0) == pytest.approx(75e9, rel=31e-6)
    master.dc_time = 10**18
    cable.bus.exchange([b''] * 6)
    assert cable.bus.clock == 10**18
