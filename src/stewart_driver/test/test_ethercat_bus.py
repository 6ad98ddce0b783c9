# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The wire with slaves that take their time, refuse, or are no drives."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from io import BytesIO
import os
import queue
import socket
import threading
from typing import Any

import pytest

pytest.importorskip('pysoem')

from stewart_driver.ethercat import bus as bus_module
from stewart_driver.ethercat import mailbox
from stewart_driver.ethercat.bus import Bus
from stewart_driver.ethercat.errors import NotOperational, SdoRefused, WrongCount
from stewart_driver.rig_file import DriveIdentity

PREOP, SAFEOP, INIT_WITH_ERROR, ERROR_OR_ACKNOWLEDGE = 2, 4, 0x11, 0x10
COUPLER, TERMINAL, DRIVE = (2, 0x044C2C52), (2, 0x07D83052), (0xAB, 0x1402)


SOCKETS: list[socket.socket] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close what the masters have opened."""
    yield
    while SOCKETS:
        SOCKETS.pop().close()


class Slave:
    """A slave as pysoem shows it; its state is that of `says` at every look."""

    def __init__(self, identity: tuple[int, int], says: Callable[[], tuple[int, int]]) -> None:
        self.man, self.id = identity
        self.rev = 0x10000
        self.state = self.al_status = 0
        self.input, self.output = b'', b''
        self._says, self.mailbox_reads = says, 0
        self.watchdog_ms, self.output_manager = 100.0, 0x64
        self.written: list[int] = []

    @property
    def name(self) -> str:
        return f'KW-{self.id:X}'

    def look(self) -> None:
        self.state, self.al_status = self._says()

    def write_state(self) -> int:
        """As pysoem: AL control is written with what `state` is."""
        self.written.append(self.state)
        return 1

    def add_emergency_callback(self, callback: Any) -> None:
        """None comes."""

    sdo_read: Callable[..., bytes]

    def mbx_receive(self) -> int:
        self.mailbox_reads += 1
        return 0

    def set_watchdog(self, kind: str, time_ms: float) -> None:
        """As pysoem, for a slave that counts tenths of a millisecond."""
        if 10.0 * time_ms > 65535.0:
            raise AttributeError('wd_time_ms is limited to 6553.5 ms')
        self.watchdog_ms = time_ms

    def get_watchdog(self, kind: str) -> float:
        return self.watchdog_ms

    def _fprd(self, register: int, length: int) -> bytes:
        assert (register, length) == (0x0814, 1)
        return bytes([self.output_manager])

    def dc_sync(self, *_: Any) -> None: ...

    setup_func: Callable[[Slave], None]


class Master:
    """As pysoem's."""

    expected_wkc = 18
    state = 0
    sdo_read_timeout = sdo_write_timeout = 700_000

    def __init__(self, slaves: list[Slave]) -> None:
        self.slaves = slaves
        self.interface, self.cable = socket.socketpair()
        SOCKETS.extend((self.interface, self.cable))

    def open(self, interface: str) -> None:
        self.socket = self.interface.dup()
        SOCKETS.append(self.socket)

    def config_init(self) -> int:
        return len(self.slaves)

    def read_state(self) -> None:
        for slave in self.slaves:
            slave.look()

    def write_state(self) -> None: ...

    def close(self) -> None: ...

    frames = 0

    def config_dc(self) -> None: ...

    def config_map(self) -> None:
        for slave in self.slaves:
            slave.setup_func(slave)

    def send_processdata(self) -> None:
        self.frames += 1

    def receive_processdata(self, timeout: int) -> int:
        """Read once, as SOEM does even where no time is left."""
        try:
            return len(self.socket.recv(100))
        except BlockingIOError:
            return -1


class Cable:
    """A bus with given slaves, and a time of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *identities: tuple[int, int]) -> None:
        self.time = 0.0
        self.preop_at = [0.0] * len(identities)
        self.error: dict[int, int] = {}
        slaves = [Slave(item, self._state_of(place)) for place, item in enumerate(identities)]
        self.master = Master(slaves)
        monkeypatch.setattr(bus_module.pysoem, 'Master', lambda: self.master)
        monkeypatch.setattr(bus_module.network, 'check', lambda name: None)
        monkeypatch.setattr(bus_module.network, 'claim', lambda name: BytesIO())
        self.bus = Bus('eth1', 0.002)
        monkeypatch.setattr(self.bus, 'now', lambda: self.time)
        monkeypatch.setattr(self.bus, 'sleep', self._sleep)

    def _sleep(self, duration: float) -> None:
        self.time += duration

    def _state_of(self, place: int) -> Callable[[], tuple[int, int]]:
        def state() -> tuple[int, int]:
            if place in self.error:
                return INIT_WITH_ERROR, self.error[place]
            return (PREOP if self.time >= self.preop_at[place] else 1), 0

        return state


def accepts(identity: DriveIdentity) -> bool:
    return (identity.vendor, identity.product) == DRIVE


def test_a_drive_may_take_seconds_to_preop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment of others: after half a second it was asked, and nothing answered."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.preop_at[3] = 2.5

    assert len(cable.bus.scan(6, accepts)) == 6
    assert 2.5 <= cable.time < 2.6


def test_a_drive_that_refuses_preop_or_never_comes_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cable = Cable(monkeypatch, COUPLER, *[DRIVE] * 6)
    cable.error[4] = 0x16
    with pytest.raises(NotOperational, match='PREOP: leg 4: INIT with error 0x0016'):
        cable.bus.scan(6, accepts)
    assert cable.time == 0.0
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


def test_a_watchdog_time_that_a_slave_cannot_count_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    with pytest.raises(NotOperational, match=r'the watchdog time: wd_time_ms is limited to'):
        cable.bus.map(watchdog=7.0, sync=None)


def test_a_watchdog_that_the_eeprom_does_not_arm_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time may be written, and bit 6 of the sync manager lets nobody look at it."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    for slave in cable.master.slaves:
        slave._says = lambda: (SAFEOP, 0)
    cable.master.slaves[2].output_manager = 0x24
    cable.bus.map(watchdog=0.2, sync=None)

    assert cable.bus.watchdogs == [0.2, 0.2, 0.0, 0.2, 0.2, 0.2]


def test_all_drives_are_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, behind mailboxes of 50 ms, six drives took 28 s to start."""
    cable = Cable(monkeypatch, *[DRIVE] * 6)
    cable.bus.scan(6)
    all_there = threading.Barrier(6, timeout=10.0)

    assert sorted(cable.bus.each([all_there.wait] * 6)) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ZeroDivisionError):
        cable.bus.each([lambda: 1, lambda: 1 // 0])


def test_a_drive_asks_again_that_got_the_answer_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SOEM has one list of errors for all slaves, and pysoem takes the oldest."""
    cable = Cable(monkeypatch, COUPLER, DRIVE)
    (drive,) = cable.bus.scan(1, accepts)
    error = bus_module.pysoem.SdoError
    answers: list[Any] = [error(1, 0x6007, 0, 0x06020000, 'no object'), AssertionError(), b'\7']

    def read(_index: int, _subindex: int, **_: bool) -> bytes:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return bytes(answer)

    cable.master.slaves[1].sdo_read = read
    assert drive.read(0x6040, 0) == b'\7'
    answers[:] = [AssertionError(), error(2, 0x6007, 0, 0x06020000, 'no object')]
    with pytest.raises(SdoRefused, match='drive of leg 1 refuses object 6007h:0: abort 0x0602'):
        drive.read(0x6007, 0)


class LateMailbox:
    """A drive that answers in order, its first answer when nobody waits for it any more.

    As SOEM has it: what waits in the mailbox is dropped before a question, an answer counts by its
    index alone.
    """

    def __init__(self) -> None:
        self.waiting: list[tuple[int, int]] = []
        self.late: list[tuple[int, int]] = []
        self.asked = 0

    def read(self, index: int, subindex: int, **_: bool) -> bytes:
        self.waiting.clear()
        self.asked += 1
        if self.asked == 1:
            self.late.append((index, subindex))
            raise bus_module.pysoem.WkcError
        self.waiting += [*self.late, (index, subindex)]
        self.late.clear()
        came, at = self.waiting.pop(0)
        # What it has to say beside comes later than the next question.
        self.late, self.waiting = self.waiting, []
        if came != index:
            raise bus_module.pysoem.PacketError(2, 1)
        return bytes([at])

    def receive(self) -> int:
        """As pysoem: the working counter."""
        self.waiting, self.late = self.waiting + self.late, []
        return 1 if self.waiting and self.waiting.pop(0) else 0


def test_an_answer_that_comes_late_is_not_taken_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One answer after 1 s, and each entry of a map was read as the one before it."""
    cable = Cable(monkeypatch, COUPLER, DRIVE)
    (drive,) = cable.bus.scan(1, accepts)
    monkeypatch.setattr(mailbox, 'SDO_PATIENCE', 0.0)
    monkeypatch.setattr(mailbox, 'LATE_PATIENCE', 0.0)
    for index in (0x1600, 0x1A00):
        box = LateMailbox()
        monkeypatch.setattr(cable.master.slaves[1], 'sdo_read', box.read, raising=False)
        monkeypatch.setattr(cable.master.slaves[1], 'mbx_receive', box.receive)
        read = [(0x1600, 1), (0x1600, 2), (index, 3), (0x1600, 4)]
        assert [drive.read(*item)[0] for item in read] == [1, 2, 3, 4]
    assert cable.master.sdo_read_timeout == cable.master.sdo_write_timeout == 2_000_000


def test_a_drive_that_does_not_answer_is_not_waited_for_at_each_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cable = Cable(monkeypatch, COUPLER, DRIVE)
    (drive,) = cable.bus.scan(1, accepts)
    asked = []

    def read(index: int, _subindex: int, **_: bool) -> bytes:
        asked.append(index)
        raise bus_module.pysoem.WkcError

    monkeypatch.setattr(cable.master.slaves[1], 'sdo_read', read, raising=False)

    def ask(*indices: int) -> None:
        asked.clear()
        for index in indices:
            with pytest.raises(SdoRefused, match=f'refuses object {index:04X}h:0: no answer'):
                drive.read(index, 0)

    # At once: the errors that it has told were taken by others.
    ask(0x60C2, 0x605E)
    assert asked == [0x60C2] * 3 + [0x605E] * 3
    monkeypatch.setattr(mailbox, 'SDO_PATIENCE', 0.0)
    monkeypatch.setattr(mailbox, 'LATE_PATIENCE', 0.0)
    ask(0x1018, 0x6064, 0x1C12)
    assert asked == [0x1018] * 3
    # It has started anew.
    (drive,) = cable.bus.scan(1, accepts)
    monkeypatch.setattr(cable.master.slaves[1], 'sdo_read', lambda *_, **__: b'\1')
    assert drive.read(0x1018, 0) == b'\1'
