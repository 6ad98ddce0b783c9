# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of slaves whose answers come late, to others, or behind an emergency."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip('pysoem')

from scripted_cable import accepts, Cable, close_sockets, COUPLER, DRIVE, Slave
from stewart_driver.ethercat import bus as bus_module
from stewart_driver.ethercat import mailbox
from stewart_driver.ethercat.errors import SdoRefused

closed = pytest.fixture(autouse=True)(close_sockets)


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


def test_a_list_full_of_the_emergencies_of_another_is_no_lacking_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A segment of others, which repeats on request: objects that it has were called lacking."""
    cable = Cable(monkeypatch, DRIVE)
    (drive,) = cable.bus.scan(1, accepts)
    left = [AssertionError()] * 64

    def read(_index: int, _subindex: int, **_: bool) -> bytes:
        if left:
            raise left.pop()
        return b'\7'

    cable.master.slaves[0].sdo_read = read
    instants = count(0.0, 0.1)
    clock = SimpleNamespace(monotonic=lambda: next(instants), sleep=lambda _duration: None)
    monkeypatch.setattr(mailbox, 'time', clock)

    assert drive.read(0x607D, 1) == b'\7'


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


class InterruptedMailbox:
    """A drive that has an emergency to send beside its answer: SOEM gives up then, and drops it.

    The answer is there at the next look, but not yet at the next question.
    """

    def __init__(self, slave: Slave, place: int, *, taken_by_another: bool) -> None:
        self._slave, self._place, self._silent = slave, place, taken_by_another
        self.waiting: list[int] = []
        self.interrupts, self.takes_another = 1, False

    def read(self, _index: int, subindex: int, **_: bool) -> bytes:
        self.waiting.append(subindex)
        if self.interrupts:
            self.interrupts -= 1
            if not self._silent:
                self._slave.tell(bus_module.pysoem.Emergency(self._place, 0x8130, 1, 0, 0, 0))
            # It has taken the error of another in turn, or has none to tell.
            raise AssertionError if self.takes_another else bus_module.pysoem.WkcError
        return bytes([self.waiting.pop(0)])

    def receive(self) -> int:
        """As pysoem: the working counter."""
        return 1 if self.waiting and self.waiting.pop(0) else 0


@pytest.mark.parametrize(
    ('taken_by_another', 'takes_another', 'interrupts'),
    # A drive with much to say is not one that is silent.
    [(False, False, 1), (True, False, 1), (True, True, 1), (False, False, 5)],
)
def test_the_answer_behind_an_emergency_is_not_taken_for_the_next_one(
    taken_by_another: bool, takes_another: bool, interrupts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each entry of a map was read as the one before it, and the position two octets away."""
    cable = Cable(monkeypatch, COUPLER, DRIVE)
    (drive,) = cable.bus.scan(1, accepts)
    slave = cable.master.slaves[1]
    box = InterruptedMailbox(slave, 2, taken_by_another=taken_by_another)
    box.takes_another, box.interrupts = takes_another, interrupts
    monkeypatch.setattr(slave, 'sdo_read', box.read, raising=False)
    monkeypatch.setattr(slave, 'mbx_receive', box.receive)

    assert [drive.read(0x1A00, subindex)[0] for subindex in (1, 2, 3)] == [1, 2, 3]
    assert box.waiting == []


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


def test_a_wait_that_an_emergency_has_ended_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive with two slow answers and an emergency was asked nothing any more."""
    cable = Cable(monkeypatch, DRIVE)
    (drive,) = cable.bus.scan(1)
    (slave,) = cable.master.slaves
    time = 0.0
    # What each wait takes [s], and whether an emergency comes meanwhile.
    waits = [(3.0, True), (3.0, False), (3.0, False), (0.1, False)]

    def advance(duration: float) -> None:
        nonlocal time
        time += duration

    def read(_index: int, _subindex: int, **_: bool) -> bytes:
        if not waits:
            return b'\7'
        duration, told = waits.pop(0)
        advance(duration)
        if told:
            cable.bus._heard[1] += 1
        raise bus_module.pysoem.WkcError

    slave.sdo_read = read
    clock = SimpleNamespace(monotonic=lambda: time, sleep=advance)
    monkeypatch.setattr(mailbox, 'time', clock)
    with pytest.raises(SdoRefused, match='no answer'):
        drive.read(0x6007, 0)
    assert drive.read(0x6040, 0) == b'\7'
