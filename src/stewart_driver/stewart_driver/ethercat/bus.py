# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The wire and the slaves on it: pysoem, with typed errors and legs instead of positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
import os
import select
import stat
import struct
import time
from typing import Any

import pysoem
from stewart_driver.errors import TransportError
from stewart_driver.ethercat import interface as network
from stewart_driver.ethercat.clocks import Clocks
from stewart_driver.ethercat.errors import (
    AL_ERROR,
    AL_STATES,
    AlStatus,
    DisturbedMap,
    Emergency,
    NotOperational,
    OP,
    WrongCount,
)
from stewart_driver.ethercat.mailbox import Drive, name_of, SDO_PATIENCE
from stewart_driver.ethercat.process_data import check_sizes
from stewart_driver.ethercat.registers import set_watchdog, watchdog_time
from stewart_driver.ethercat.sdo import T
from stewart_driver.rig_file import DriveIdentity

MICROSECONDS, NANOSECONDS = 1e6, 1e9
# One frame while the bus is being set up, when nothing waits for it. On a busy machine 0.05 s were
# too short: a drive that misses a part of its configuration refuses SAFEOP, without saying which.
START_PATIENCE = 0.2
# What AL status may show beside its state, 0 where there was no answer (bit 5: identification).
IDENTIFIED = 0x20
BESIDE_AL_STATE = AL_ERROR | IDENTIFIED
NO_ANSWER = AlStatus(0, 0, '')
LONGEST_FRAME = 1518
# By so many numbers SOEM tells frames.
FRAME_NUMBERS = 16
# So long a slave may take from state to state (ETG.1000.6, and room above it) [s].
PREOP_PATIENCE, SAFEOP_PATIENCE, SETTLING_PATIENCE = 5.0, 10.0, 10.0
# Who shows neither the state nor an error by then is asked once more [s].
LOST_REQUEST = 1.5
# For so long it may still show the error of a first request after the second [s].
SECOND_ANSWER = 0.1
LOOK_PERIOD = 0.01
# Clocks settle by frames; nearer to the reference than this they have [ns].
FRAME_PERIOD, SETTLED = 0.002, 10_000


class Bus:
    """A network interface with an EtherCAT master on it.

    Attributes:
        drives: In the order of the cable, after `scan`.
        watchdogs: After which silence each drive stops [s], 0: never; after `map`.
        expected: Working counter if every slave takes part; after `map`.

    Raises:
        NoInterface: If there is no such interface.
        BusTaken: If another driver is on it.
        TransportError: If this process may not use raw sockets; the message has the line that
            permits them.
    """

    def __init__(self, interface: str, receive_timeout: float) -> None:
        self._interface = interface
        network.check(interface)
        self._claim = network.claim(interface)
        timeouts = pysoem.settings.timeouts
        timeouts.ret = round(MICROSECONDS * START_PATIENCE)
        timeouts.safe = timeouts.tx_mailbox = timeouts.eeprom = 4 * timeouts.ret
        timeouts.rx_mailbox = round(MICROSECONDS * SDO_PATIENCE)
        self._timeout = receive_timeout
        self._master = pysoem.Master()
        self._master.sdo_read_timeout = round(MICROSECONDS * SDO_PATIENCE)
        self._master.sdo_write_timeout = round(MICROSECONDS * SDO_PATIENCE)
        self._emergencies: list[tuple[int, Emergency]] = []
        # How many have come, by places on the cable from 1.
        self._heard: Counter[int] = Counter()
        self._slaves: list[pysoem.CdefSlave] = []
        self.drives: list[Drive] = []
        self.watchdogs: list[float] = []
        self.expected = 0
        self._beside = ThreadPoolExecutor(1, 'sdo')
        self._asked: dict[int, Future[Any]] = {}
        # Frames lost in a row, and how many have to come back until none of them can come late.
        self._lost = self._wary = 0
        self._clocks: Clocks | None = None
        try:
            self._socket = _open(self._master, interface)
        except ConnectionError as error:
            self._claim.close()
            raise network.no_permission(interface) from error

    def now(self) -> float:
        """Return the present instant of the steady clock [s]."""
        return time.monotonic()

    def sleep(self, duration: float) -> None:
        """Let some time pass [s]."""
        time.sleep(duration)

    def scan(
        self, count: int | None, accepts: Callable[[DriveIdentity], bool] | None = None, /
    ) -> list[Drive]:
        """Find the slaves, in the order of the cable, and bring them to PREOP.

        Args:
            count: So many there have to be; None takes as many as there are.
            accepts: Whether an identity without a number is a drive. If just `count` slaves are,
                the others, such as couplers and terminals, are passed over: they go from state to
                state with the drives, and their outputs stay 0.

        Raises:
            WrongCount: If they are not `count`.
            NotOperational: If a slave does not reach PREOP.
        """
        self._clocks = None
        self._master.config_init()
        for slave in self._master.slaves:
            # Before the first SDO: an emergency that waits in a mailbox would be raised there.
            slave.add_emergency_callback(self._take_emergency)
            # Some advertise it and refuse it; their maps are read well object by object.
            slave._disable_complete_access()
        slaves = list(self._master.slaves)
        ours = [
            slave
            for slave in slaves
            if accepts and accepts(DriveIdentity(slave.man, slave.id, slave.rev, None))
        ]
        self._slaves = slaves if len(ours) != count else ours
        self.drives = [
            Drive(leg, slave, slaves.index(slave) + 1, self._heard.__getitem__)
            for leg, slave in enumerate(self._slaves, 1)
        ]
        if count not in {None, len(self.drives)}:
            raise WrongCount(self._interface, [drive.name for drive in self.drives], count)
        if slaves:
            self._await('PREOP', pysoem.PREOP_STATE, PREOP_PATIENCE)
        return self.drives

    def _await(self, name: str, state: int, patience: float) -> None:
        """Wait until all slaves are in a state; raises `NotOperational`.

        Some refuse a state the first time, while what was written before still takes effect: all
        are asked once more. So they are where one has not moved: until its device has read AL
        control, as on its way to INIT, another state that is written there is lost.
        """
        limit, again_at = self.now() + patience, self.now() + LOST_REQUEST
        refused: dict[int, AlStatus] = {}
        judged_from = limit
        while True:
            self._set_clocks()
            statuses = [_status(slave) for slave in self._read_states()]
            if all(item.state == state for item in statuses):
                return
            now = self.now()
            wrong = {n: item for n, item in enumerate(statuses) if item.state & AL_ERROR}
            if wrong and not refused:
                refused, judged_from = wrong, now + SECOND_ANSWER
                self.request(state)
            elif now > limit or (wrong and now > judged_from):
                raise NotOperational(
                    name,
                    [
                        f'{self._place(number)}: {wrong.get(number, refused.get(number, item))}'
                        for number, item in enumerate(statuses)
                        if item.state != state
                    ],
                )
            elif now > again_at:
                again_at = limit
                self.request(state)
            self.sleep(FRAME_PERIOD if self._clocks else LOOK_PERIOD)

    def _set_clocks(self) -> None:
        """Send a frame that sets clocks: some drives wait until theirs has settled."""
        if self._clocks:
            self._master.send_processdata()
            self._master.receive_processdata(round(MICROSECONDS * START_PATIENCE))

    def _settle(self, clocks: Clocks) -> None:
        """Let clocks come near to the reference; raises `NotOperational` if one does not.

        Some drives do not look themselves, and one frame of the start that is lost leaves a clock
        where it was.
        """
        limit = self.now() + SETTLING_PATIENCE
        while far := {
            leg: apart
            for leg, slave in enumerate(self._slaves, 1)
            if (apart := clocks.difference(slave)) > SETTLED
        }:
            if self.now() > limit:
                raise NotOperational(
                    'OP',
                    [
                        f'leg {leg}: its clock is {1e-6 * apart:.3g} ms from the '
                        'reference clock (092Ch)'
                        for leg, apart in far.items()
                    ],
                )
            self._set_clocks()
            self.sleep(FRAME_PERIOD)

    def _place(self, number: int) -> str:
        """Name a slave on the cable, from 0."""
        slave = self._master.slaves[number]
        if slave in self._slaves:
            return f'leg {self._slaves.index(slave) + 1}'
        return f'slave {number + 1} ({name_of(slave)})'

    def map(
        self,
        *,
        watchdog: float,
        sync: tuple[float, float] | None,
        sizes: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """Lay the process data out and ask for SAFEOP.

        Args:
            sync: Cycle and shift of SYNC0 [s]; None without distributed clocks.
            sizes: Octets of outputs and inputs of each drive, as its maps were read; None to
                compare nothing.

        Raises:
            NotOperational: If a drive does not reach SAFEOP, or has refused to tell a map and
                exchanges more or less octets.
            UnusableMap: If a drive exchanges more or less octets.
            DisturbedMap: If either is so and an emergency has come meanwhile: the next try may
                succeed, from `scan` on.
        """

        def before_safeop(slave: pysoem.CdefSlave) -> None:
            place = self._place(self._master.slaves.index(slave))
            set_watchdog(slave, watchdog, place)
            if clocks is not None and sync is not None:
                # A drive that needs SYNC0 refuses SAFEOP without it, so not after config_map.
                cycle, shift = (round(NANOSECONDS * time) for time in sync)
                if not clocks.begin_sync0(slave, cycle, shift):
                    raise NotOperational('SAFEOP', [f'{place}: no SYNC0 (0981h, 09A0h)'])

        for slave in self._slaves:
            slave.setup_func = before_safeop
        clocks = None
        try:
            if sync is not None:
                self._master.config_dc()
                clocks = self._clocks = Clocks(self._master.slaves, self.now)
            doubt = self._lay_out()
            self.expected = max(int(self._master.expected_wkc), self._counted())
            self.watchdogs = [watchdog_time(slave) for slave in self._slaves]
            self._judge(sizes, doubt)
        except pysoem.WkcError as error:
            said = 'no answer to the watchdog time or to what its clock is asked'
            raise NotOperational('SAFEOP', [said]) from error

    def _judge(
        self,
        sizes: Sequence[tuple[int, int]] | None,
        doubt: tuple[type[NotOperational], str] | None,
    ) -> None:
        """Wait for SAFEOP and the clocks, with process data as long as the maps; see `map`."""
        try:
            if sizes is not None:
                check_sizes(sizes, [(len(item.output), len(item.input)) for item in self._slaves])
            self._await('SAFEOP', pysoem.SAFEOP_STATE, SAFEOP_PATIENCE)
        except TransportError as error:
            if doubt:
                kind, said = doubt
                raise kind('SAFEOP', [f'{said}; {error}']) from error
            raise
        if self._clocks:
            self._settle(self._clocks)

    def _lay_out(self) -> tuple[type[NotOperational], str] | None:
        """Let SOEM read the maps; return what to raise and say if they turn out to be wrong.

        SOEM goes on by the EEPROM where an object is refused. An emergency came instead of an
        answer, or beside all of them, which SOEM does not tell.
        """
        for slave in self._master.slaves:
            # What waits already is out of the way.
            _look_into(slave)
        try:
            self._master.config_map()
        except pysoem.ConfigMapError as error:
            found = error.error_list
            if all(isinstance(item, pysoem.SdoError) for item in found):
                return NotOperational, ', '.join(map(self._refused, found))
            named = [hasattr(item, 'slave_pos') for item in found]
            if any(named):
                # Behind an emergency the answers may have been those to other questions.
                kind = NotOperational if all(named) else DisturbedMap
                raise kind('SAFEOP', [f'the process data: {error}']) from error
            return DisturbedMap, 'an emergency came while the process data were laid out'
        return None

    def _counted(self) -> int:
        """Return what all slaves add to the working counter; SOEM leaves those of few bits out."""
        return sum(2 * bool(item.output) + bool(item.input) for item in self._master.slaves)

    def _refused(self, error: pysoem.SdoError) -> str:
        place = self._place(error.slave_pos - 1)
        return f'{place} refuses {error.index:04X}h:{error.subindex:X} ({error.desc})'

    def use_cycle_timeout(self) -> None:
        """Wait for no frame longer than for one of the cycle from now on."""
        pysoem.settings.timeouts.ret = round(MICROSECONDS * self._timeout)

    def request(self, state: int) -> None:
        """Ask all slaves for a state, and do not wait; errors are acknowledged."""
        self._master.state = state | pysoem.STATE_ACK
        self._master.write_state()

    def recover(self, leg: int) -> None:
        """Acknowledge the error of a slave that has left OP for SAFEOP, and ask for OP again.

        In one word: until the device has read AL control, another that is written is lost.
        """
        slave = self._slaves[leg - 1]
        slave.state = pysoem.OP_STATE | pysoem.STATE_ACK
        slave.write_state()

    def readdress(self, leg: int) -> None:
        """Give a slave its address that has restarted at its place on the cable, if it has."""
        self._slaves[leg - 1].recover(round(MICROSECONDS * self._timeout))

    def statuses(self) -> list[AlStatus]:
        """Read the state of all slaves; one that does not answer has state 0.

        SOEM tells frames by 16 numbers: after as many lost ones an old frame, of process data, may
        come as the answer. Where one state is none, nothing of it counts.
        """
        self._discard_late()
        self._read_states()
        found = [_status(slave) for slave in self._slaves]
        known = all(item.state & ~BESIDE_AL_STATE in AL_STATES for item in found if item.state)
        return found if known else [NO_ANSWER] * len(found)

    def _read_states(self) -> list[pysoem.CdefSlave]:
        for slave in self._master.slaves:
            slave.state = pysoem.NONE_STATE
        self._master.read_state()
        return list(self._master.slaves)

    def exchange(self, outputs: Sequence[bytes]) -> int:
        """Send outputs and wait for the inputs; return the working counter, -1 for no frame.

        SOEM waits for ticks of the kernel, up to 12 ms for a frame that is lost. So it is called
        when there is something to read, or for nothing.
        """
        for slave, data in zip(self._slaves, outputs, strict=True):
            slave.output = data
        limit = self.now() + self._timeout
        os.set_blocking(self._socket, False)
        try:
            self._master.send_processdata()
            select.select([self._socket], [], [], self._timeout)
            left = max(limit - self.now(), 0.0)
            counter = int(self._master.receive_processdata(round(MICROSECONDS * left)))
        finally:
            os.set_blocking(self._socket, True)
        self._lost = self._lost + 1 if counter < 0 else 0
        self._wary = max(self._wary - 1, 0)
        if self._lost >= FRAME_NUMBERS // 2:
            self._wary = 2 * FRAME_NUMBERS
        if counter >= 0 and self._clocks:
            self._clocks.take(int(self._master.dc_time))
        return counter

    def _discard_late(self) -> None:
        """Discard what has come late; else it may be taken for the answer to the next question.

        While a drive is asked beside the cycle, what waits may be for that. Process data that are
        late are taken where SOEM does: a segment that has stood still is heard again sooner.
        """
        if any(not asked.done() for asked in self._asked.values()):
            return
        # An interface that has gone down is told by the frames.
        with suppress(OSError):
            while select.select([self._socket], [], [], 0.0)[0]:
                os.read(self._socket, LONGEST_FRAME)

    def inputs(self) -> list[bytes]:
        """Return what the drives have sent last."""
        return [slave.input for slave in self._slaves]

    @property
    def clock(self) -> int:
        """Time of the reference clock at the last frame [ns]; 0 without clocks."""
        return self._clocks.time if self._clocks else 0

    def emergencies(self, leg: int) -> list[Emergency]:
        """Look into the mailbox of a drive; return the emergencies since the last call.

        Not after many lost frames: SOEM would take a late one for the state of the mailbox, and
        write it back, which switches the mailbox off.
        """
        asked = self._asked.get(leg)
        if not self._wary and (asked is None or asked.done()):
            _look_into(self._slaves[leg - 1])
        # pysoem counts all slaves of the cable, from 1.
        place = self._master.slaves.index(self._slaves[leg - 1]) + 1
        taken = [item for at, item in self._emergencies if at == place]
        self._emergencies = [item for item in self._emergencies if item[0] != place]
        return taken

    def beside(self, leg: int, call: Callable[[], T]) -> Generator[None, None, T]:
        """Ask a drive by SDO while the frames go on: yields once a cycle until it has answered.

        A mailbox takes up to 50 ms, and longer than the drives' watchdog where it is asked again.
        SOEM sorts the frames of both threads.
        """
        self._asked[leg] = answer = self._beside.submit(call)
        while not answer.done():
            yield
        return answer.result()

    def each(self, ask: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """Ask all drives at once: a mailbox takes up to 50 ms, and one drive is asked 70 times."""
        rows = list(zip(*arguments, strict=True))
        with ThreadPoolExecutor(max(len(rows), 1), 'sdo') as pool:
            return list(pool.map(lambda row: ask(*row), rows))

    def close(self) -> None:
        """Bring the slaves to INIT and close the interface."""
        self._beside.shutdown()
        try:
            if self._master.slaves:
                self.request(pysoem.INIT_STATE)
        finally:
            self._master.close()
            self._claim.close()

    def _take_emergency(self, message: pysoem.Emergency) -> None:
        data = struct.pack('<BHH', message.b1, message.w1, message.w2)
        emergency = Emergency(message.error_code, message.error_reg, data)
        self._emergencies.append((message.slave_pos, emergency))
        self._heard[message.slave_pos] += 1


def _open(master: pysoem.Master, interface: str) -> int:
    """Open an interface; return the descriptor of the socket, which pysoem does not tell."""
    before = _sockets()
    master.open(interface)
    return (_sockets() - before).pop()


def _sockets() -> set[int]:
    """Return the descriptors of all sockets of this process."""
    found = set()
    for name in os.listdir('/proc/self/fd'):
        with suppress(OSError):  # that of the folder itself is gone
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                found.add(int(name))
    return found


def _look_into(slave: pysoem.CdefSlave) -> None:
    """Take what waits in a mailbox: an emergency, or an answer that is stale."""
    with suppress(pysoem.MailboxError, pysoem.PacketError, pysoem.SdoError):
        slave.mbx_receive()


def _status(slave: pysoem.CdefSlave) -> AlStatus:
    """Return state and error of a slave; one that has refused to leave OP is in OP."""
    text = pysoem.al_status_code_to_string(slave.al_status)
    state = slave.state & ~IDENTIFIED
    return AlStatus(OP if state == OP | AL_ERROR else state, slave.al_status, text)
