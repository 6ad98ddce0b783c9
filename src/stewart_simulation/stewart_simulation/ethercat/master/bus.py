# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver sees of the master: the same wire as over a socket, in simulated time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
import struct

from stewart_driver.ethercat.errors import (
    AlStatus,
    BusTaken,
    Emergency,
    NotOperational,
    SdoRefused,
    WrongCount,
)
from stewart_driver.ethercat.phase_lock import SystemTime
from stewart_driver.ethercat.process_data import check_sizes
from stewart_driver.ethercat.sdo import at_once, one_by_one
from stewart_driver.ethercat.wires import OFFERS
from stewart_driver.rig_file import DriveIdentity
from stewart_simulation.ethercat.frames import Command, Datagram, logical
from stewart_simulation.ethercat.master import configuration, standard
from stewart_simulation.ethercat.master.configuration import ProcessImage
from stewart_simulation.ethercat.master.link import Link, MasterError
from stewart_simulation.ethercat.master.mailbox import Mailbox, SdoClient
from stewart_simulation.ethercat.master.slave_information import (
    read_information,
    SlaveInformation,
)
from stewart_simulation.ethercat.segment import Line

# One question while the bus is being set up, when nothing waits for it [s].
START_PATIENCE = 0.05
# How long slaves may take for another state [s].
STATE_PATIENCE, STATE_TRIES = 0.5, 10
AL_STATUS = struct.Struct('<H2xH')
CLOCK = struct.Struct('<Q')
# The watchdog's divider counts in these [s], and begins with two.
WATCHDOG_STEP, WATCHDOG_OFFSET, LONGEST_WATCHDOG = 40e-9, 2, 0xFFFF
# Of a sync manager's control: its writes feed the watchdog.
WATCHDOG_TRIGGER = 0x40


class InlineDrive:
    """One slave, object by object; fulfils ``starting.Slave``."""

    def __init__(self, leg: int, link: Link, station: int, information: SlaveInformation) -> None:
        self.leg, self.name = leg, information.name
        self._information = information
        self.managers = information.managers
        self.objects = SdoClient(Mailbox(link, station, *self.managers[:2]))

    def read(self, index: int, subindex: int) -> bytes:
        """Return the value of an object; raises `SdoRefused`."""
        with self._refusing(index, subindex):
            return self.objects.read(index, subindex)

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set the value of an object; raises `SdoRefused`."""
        with self._refusing(index, subindex):
            self.objects.write(index, subindex, data)

    @contextmanager
    def _refusing(self, index: int, subindex: int) -> Iterator[None]:
        try:
            yield
        except MasterError as error:
            raise SdoRefused(self.leg, index, subindex, str(error)) from None

    def identity(self) -> DriveIdentity:
        """Return vendor, product and revision of the EEPROM, and the number of 1018h, if any."""
        known = self._information
        serial = None
        with suppress(SdoRefused):
            serial = int.from_bytes(self.read(standard.IDENTITY, 4)[:4], 'little')
        return DriveIdentity(known.vendor, known.product, known.revision, serial)


class InlineBus:
    """A wire in this process with an EtherCAT master on it; fulfils ``starting.Wire``.

    Args:
        link: The wire, as patient as a start may be.
        receive_timeout: Longest wait for a frame of the cycle [s].
        release: Called when it is closed.

    Attributes:
        clock: Time of the reference clock at the last frame, also if it has 32 bits [ns].
        watchdogs: After which silence each drive stops [s], 0: never; after `map`.
    """

    def __init__(
        self, interface: str, link: Link, receive_timeout: float, release: Callable[[], None]
    ) -> None:
        self._interface, self._link, self._timeout = interface, link, receive_timeout
        self._release = release
        self._drives: list[InlineDrive] = []
        self._image = ProcessImage(())
        self._has_clocks, self._time = False, SystemTime()
        self.clock = 0
        self.watchdogs: list[float] = []
        self.now, self.sleep = link.now, link.sleep

    def scan(self, count: int | None, _accepts: object = None, /) -> list[InlineDrive]:
        """Find the slaves, in the order of the cable, and bring them to PREOP.

        Args:
            count: How many there shall be; None takes as many as there are. All are drives.

        Raises:
            WrongCount: If there are none, fewer or more.
            NotOperational: If one cannot be read.
        """
        link = self._link
        answers = link.ask(Datagram(Command.BRD, 0, standard.SLAVE_TYPE, bytes(1)))
        found = answers[0].working_counter if answers else 0
        self._reset()
        try:
            self._drives = [self._meet(place) for place in range(found)]
        except MasterError as error:
            raise NotOperational('PREOP', [str(error)]) from error
        if count not in {None, found}:
            raise WrongCount(self._interface, [drive.name for drive in self._drives], count)
        self._change(standard.PREOP)
        return self._drives

    def _reset(self) -> None:
        """Bring all slaves to INIT, with nothing configured."""
        link = self._link
        self.request(standard.INIT | standard.ERROR_OR_ACKNOWLEDGE)
        link.broadcast(standard.ERROR_COUNTERS, bytes(standard.ERROR_COUNTERS_LENGTH))
        link.broadcast(standard.FMMUS, bytes(standard.FMMU_NUMBER * standard.FMMU_LENGTH))
        length = standard.MANAGER_NUMBER * standard.MANAGER_LENGTH
        link.broadcast(standard.MANAGERS, bytes(length))
        link.broadcast(standard.SYNC_ACTIVATION, bytes(1))

    def _meet(self, place: int) -> InlineDrive:
        """Give a slave its address, read who it is, and open its mailbox."""
        station, leg = standard.FIRST_STATION + place, place + 1
        address = struct.pack('<H', station)
        self._link.ask(Datagram(Command.APWR, -place & 0xFFFF, standard.STATION, address))
        with _naming(leg):
            information = read_information(self._link, station)
            data = b''.join(plan.register() for plan in information.managers[:2])
            self._link.insist(station, standard.MANAGERS, data, 'the place of its mailbox')
        return InlineDrive(leg, self._link, station, information)

    def map(
        self,
        *,
        watchdog: float,
        sync: tuple[float, float] | None,
        sizes: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """Lay the process data out and ask for SAFEOP.

        Args:
            watchdog: Silence after which a slave leaves OP [s].
            sync: Cycle and shift of SYNC0 [s]; None without distributed clocks.
            sizes: Octets of outputs and inputs of each drive, as its maps were read; None to
                compare nothing.

        Raises:
            NotOperational: If a slave does not answer.
            UnusableMap: If one exchanges more or less octets.
        """
        link = self._link
        try:
            if sync is not None:
                configuration.align(link, self._stations)
            self._has_clocks, self._time = sync is not None, SystemTime()
            shares = []
            for drive in self._drives:
                with _naming(drive.leg):
                    shares.append(configuration.share_of(drive.objects))
            if sizes is not None:
                check_sizes(sizes, [(item.outputs, item.inputs) for item in shares])
            self._image = image = ProcessImage(shares)
            self.watchdogs = []
            for station, drive in zip(self._stations, self._drives, strict=True):
                with _naming(drive.leg):
                    silence = self._set_watchdog(station, watchdog)
                    if sync is not None:
                        configuration.begin_sync0(link, station, *sync)
                    image.configure(link, station, drive.managers, drive.leg - 1)
                    fed = drive.managers[configuration.OUTPUTS].control & WATCHDOG_TRIGGER
                    self.watchdogs.append(silence if fed else 0.0)
        except MasterError as error:
            raise NotOperational('SAFEOP', [str(error)]) from error
        self._change(standard.SAFEOP)

    def _set_watchdog(self, station: int, duration: float) -> float:
        """Set the time nearest to a wanted one; return it [s]."""
        divider = self._link.require(station, standard.WATCHDOG_DIVIDER, 2, 'the watchdog time')
        step = WATCHDOG_STEP * (int.from_bytes(divider, 'little') + WATCHDOG_OFFSET)
        steps = min(max(round(duration / step), 1), LONGEST_WATCHDOG)
        data = struct.pack('<H', steps)
        self._link.insist(station, standard.PROCESS_WATCHDOG, data, 'the watchdog time')
        return steps * step

    def use_cycle_timeout(self) -> None:
        """Wait for no frame longer than for one of the cycle from now on."""
        self._link.patience = self._timeout

    def request(self, state: int) -> None:
        """Ask all slaves for a state, and do not wait."""
        self._link.broadcast(standard.AL_CONTROL, struct.pack('<H', state))

    def recover(self, leg: int) -> None:
        """Acknowledge the error of a slave that has left OP for SAFEOP, and ask for OP again."""
        station, word = standard.FIRST_STATION + leg - 1, standard.OP
        word |= standard.ERROR_OR_ACKNOWLEDGE
        self._link.write(station, standard.AL_CONTROL, struct.pack('<H', word))

    def readdress(self, leg: int) -> None:
        """Give a slave its address that has restarted at its place on the cable, if it has."""
        place = -(leg - 1) & 0xFFFF
        answers = self._link.ask(Datagram(Command.APRD, place, standard.STATION, bytes(2)))
        if answers and answers[0].working_counter and not any(answers[0].data):
            address = struct.pack('<H', standard.FIRST_STATION + leg - 1)
            self._link.ask(Datagram(Command.APWR, place, standard.STATION, address))

    def statuses(self) -> list[AlStatus]:
        """Read the state of all slaves; one that does not answer has state 0."""
        question = standard.AL_STATUS, bytes(AL_STATUS.size)
        answers = self._link.ask(*(Datagram(Command.FPRD, x, *question) for x in self._stations))
        states = [
            AL_STATUS.unpack(item.data) if item.working_counter else (0, 0) for item in answers
        ]
        return [
            AlStatus(state, code, standard.AL_CODES.get(code, 'Unknown'))
            for state, code in states or [(0, 0)] * len(self._drives)
        ]

    def exchange(self, outputs: Sequence[bytes]) -> int:
        """Send outputs and wait for the inputs; return the working counter, -1 for no frame."""
        datagrams = [logical(Command.LRW, 0, self._image.pack(outputs))]
        if self._has_clocks:
            # Everybody hears what the first clock shows.
            first = standard.FIRST_STATION
            datagrams.append(
                Datagram(Command.FRMW, first, standard.SYSTEM_TIME, bytes(CLOCK.size))
            )
        answers = self._link.send(datagrams, self._timeout)
        if not answers:
            return -1
        self._image.take(answers[0].data)
        if self._has_clocks and answers[1].working_counter:
            (shown,) = CLOCK.unpack(answers[1].data)
            self.clock = self._time.take(shown, self.now())
        return answers[0].working_counter

    @property
    def expected(self) -> int:
        """Working counter if every slave takes part."""
        return self._image.expected

    def inputs(self) -> list[bytes]:
        """Return what the drives have sent last."""
        return self._image.inputs()

    def emergencies(self, leg: int) -> list[Emergency]:
        """Look into the mailbox of a drive; return the emergencies since the last call."""
        return self._drives[leg - 1].objects.emergencies()

    beside = staticmethod(at_once)
    each = staticmethod(one_by_one)

    def close(self) -> None:
        """Bring the slaves to INIT and let go of the wire."""
        if self._drives:
            self.request(standard.INIT)
        self._release()

    @property
    def _stations(self) -> range:
        return range(standard.FIRST_STATION, standard.FIRST_STATION + len(self._drives))

    def _change(self, state: int) -> None:
        """Ask for a state and wait; who asks for `statuses` sees whether it was reached."""
        for _ in range(STATE_TRIES):
            # One that comes before a slave has read the request before is lost.
            self.request(state)
            if self._link.until(lambda: self._in(state), STATE_PATIENCE / STATE_TRIES):
                break

    def _in(self, state: int) -> bool:
        """Tell whether all slaves are in a state, or say why not."""
        return all(
            item.state == state or item.state & standard.ERROR_OR_ACKNOWLEDGE
            for item in self.statuses()
        )


@contextmanager
def _naming(leg: int) -> Iterator[None]:
    """Say whose drive an error is about."""
    try:
        yield
    except MasterError as error:
        raise MasterError(f'leg {leg}: {error}') from error


class InlineWire:
    """A line that is offered to the driver under the name of an interface.

    Args:
        line: With a segment at its end.
        now_ns: Its time [ns].
        let_pass: Lets time pass while the master waits [s].
    """

    def __init__(
        self, line: Line, now_ns: Callable[[], int], let_pass: Callable[[float], None]
    ) -> None:
        self._line, self._now_ns, self._let_pass = line, now_ns, let_pass
        self._taken = False
        self.interface = OFFERS.offer(self._open)

    def withdraw(self) -> None:
        """Offer it no more; who has opened it keeps it."""
        OFFERS.withdraw(self.interface)

    def _open(self, receive_timeout: float) -> InlineBus:
        """Put a master on the line; raises `BusTaken` if one is there."""
        if self._taken:
            raise BusTaken(self.interface)
        self._taken = True
        link = Link(self._line, self._now_ns, self._let_pass, START_PATIENCE)
        return InlineBus(self.interface, link, receive_timeout, self._release)

    def _release(self) -> None:
        self._taken = False
