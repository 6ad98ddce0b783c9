# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One slave: its state machine, with controller, EEPROM, clock, mailbox and drive."""

from __future__ import annotations

from stewart_simulation.ethercat import eeprom, profile, registers
from stewart_simulation.ethercat.clock import DistributedClock, Instant
from stewart_simulation.ethercat.drive import COMMUNICATION_LOST, Drive, SYNCHRONISATION_LOST
from stewart_simulation.ethercat.mailbox import Mailbox, SdoServer
from stewart_simulation.ethercat.object_dictionary import Layout, RECEIVE, TRANSMIT
from stewart_simulation.ethercat.omron_1s import dictionary_of, DriveType
from stewart_simulation.ethercat.registers import AlCode, AlState, Memory
from stewart_simulation.ethercat.sync_managers import (
    Fmmus,
    INPUTS,
    MAILBOX_IN,
    MAILBOX_OUT,
    OUTPUTS,
    REFUSED,
    SyncManagers,
)

OUTPUT_START, INPUT_START = 0x1800, 0x1C00
AL_STATE_BITS, AL_ERROR = 0x0F, 0x10
# A transition to OP may be pending for so long [ns].
PATIENCE = 1_000_000_000
# ETG.1020: a SYNC0 without new outputs counts three, one with them takes one off again.
MISSED_OUTPUTS = 3
PDI_OPERATIONAL, WATCHDOG_FED = 0x0001, 0x0002


class ApplicationLayer:
    """The EtherCAT state machine of a slave, as strict as a real one (ETG.1000.6, ETG.1020).

    Attributes:
        error: Whether an error, of AL status code `code`, waits for its acknowledgement.
    """

    def __init__(self, memory: Memory, device: Slave) -> None:
        self._memory, self._device = memory, device
        self.state, self.error, self.code = AlState.INIT, False, int(AlCode.NO_ERROR)
        self._deadline: int | None = None
        self._report()

    def request(self, word: int, now: int) -> None:
        """Take a write to AL control, at a time [ns]: a state, and bit 4 to acknowledge an error.

        While an error is not acknowledged, every request but the one for INIT is ignored.
        """
        asked = word & AL_STATE_BITS
        if self.error and not word & AL_ERROR and asked != AlState.INIT:
            return
        self.error, self.code, self._deadline = False, AlCode.NO_ERROR, None
        if asked not in AlState.__members__.values():
            self._refuse(AlCode.UNKNOWN_STATE)
        elif asked == AlState.BOOT:
            self._refuse(AlCode.BOOTSTRAP_NOT_SUPPORTED)
        elif asked <= self.state:
            self._enter(AlState(asked))
        elif (self.state, asked) == (AlState.INIT, AlState.PREOP):
            self._enter_unless(self._device.check_mailbox(), AlState.PREOP)
        elif (self.state, asked) == (AlState.PREOP, AlState.SAFEOP):
            self._enter_unless(self._device.check_process_data(), AlState.SAFEOP)
        elif (self.state, asked) == (AlState.SAFEOP, AlState.OP):
            self._deadline = now + PATIENCE
        else:
            self._refuse(AlCode.INVALID_STATE_CHANGE)
        self._report()

    def _enter_unless(self, code: AlCode, asked: AlState) -> None:
        if code is AlCode.NO_ERROR:
            self._enter(asked)
        else:
            self._refuse(code)

    def _enter(self, state: AlState) -> None:
        old, self.state = self.state, state
        if old is not state:
            self._device.entered(old, state)

    def _refuse(self, code: AlCode) -> None:
        self.error, self.code = True, code

    def fall_back(self, state: AlState, code: int) -> None:
        """Leave a state because of an error of its own."""
        self._deadline = None
        self.error, self.code = True, code
        self._enter(min(state, self.state))
        self._report()

    def tick(self, now: int) -> None:
        """Complete a pending transition to OP, or give it up."""
        if self._deadline is None:
            return
        code = self._device.check_operation()
        if code is AlCode.NO_ERROR:
            self._deadline = None
            self._enter(AlState.OP)
        elif now >= self._deadline:
            self._deadline = None
            self._refuse(code)
        self._report()

    def _report(self) -> None:
        flag = AL_ERROR if self.error else 0
        self._memory.set(registers.AL_STATUS, 2, self.state | flag)
        self._memory.set(registers.AL_STATUS_CODE, 2, self.code)


class Slave:
    """A drive as it is seen from the wire.

    Attributes:
        content: EEPROM, which survives a power cycle.
        station: Configured address.
        turns: What its encoder has lost of the position at which the axis is [count].
        sync_errors: Of the sync error counter.
        al, clock, drive, mailbox: Parts of the slave; made anew by `power_up`.
    """

    def __init__(self, drive_type: DriveType, instant: Instant, drift: float = 0.0) -> None:
        self._instant = instant
        self._drift = drift
        self.turns = 0.0
        self.define(drive_type)

    def define(self, drive_type: DriveType) -> None:
        """Make it another type of drive: new EEPROM, new objects, power-up.

        What the EEPROM does not take raises ValueError or struct.error, and the old type stays.
        """
        mailbox = drive_type.mailbox
        start = registers.PROCESS_MEMORY
        mailboxes = ((start, mailbox), (start + 0x400, mailbox))
        ranges = (*mailboxes, (OUTPUT_START, 12), (INPUT_START, 28))
        whole = drive_type.complete_access
        content = eeprom.image(drive_type.identity, ranges, drive_type.name, complete_access=whole)
        self.drive_type, self._ranges, self.content = drive_type, mailboxes, content
        self.power_up()

    def power_up(self) -> None:
        """Start with empty registers, in INIT."""
        self.memory = memory = Memory()
        self.sync_managers = SyncManagers(memory, self._accessed)
        self.fmmus = Fmmus(memory, self.sync_managers)
        self.eeprom = eeprom.Eeprom(memory, self.content)
        bits = self.drive_type.clock_bits
        started = self._instant.ns % 2**33
        self.clock = DistributedClock(memory, self._instant, self._drift, started, bits)
        dictionary, self._process_data = dictionary_of(self.drive_type)
        self.dictionary = dictionary
        whole = self.drive_type.complete_access
        server = SdoServer(dictionary, self.drive_type.mailbox, complete_access=whole)
        self.mailbox = Mailbox(memory, self.sync_managers, server, self._instant)
        self.al = ApplicationLayer(memory, self)
        kind = self.drive_type
        self.drive = Drive(
            dictionary,
            self._emergency,
            controlword_delay=kind.controlword_delay,
            sto_is_fault=kind.sto_is_fault,
            enable_delay=kind.enable_delay,
            switches=kind.homing,
        )
        self.sync_errors, self._fresh = 0, False
        self._outputs, self._inputs = Layout(()), Layout(())
        self._fed: int | None = None
        # What of AL control the device has not read, and when it will.
        self._asked: tuple[int, int] | None = None
        self.station = 0
        # Type, revision, FMMUs, sync managers, RAM, ports and features of the controller.
        memory.octets[0:10] = bytes.fromhex('11 00 02 00 08 08 08 0f 04 00')
        memory.octets[registers.FEATURES] |= registers.WIDE_CLOCK if bits > 32 else 0
        memory.set(registers.PDI_CONTROL, 2, 0x0E08 if self.eeprom.valid else 0)
        memory.set(registers.WATCHDOG_DIVIDER, 2, 2498)
        memory.set(registers.WATCHDOG_PROCESS_DATA, 2, 1000)
        memory.set(registers.WATCHDOG_STATUS, 2, 1)
        memory.on_write(registers.STATION_ADDRESS, 2, self._take_address)
        memory.on_write(registers.AL_CONTROL, 2, self._take_request)
        memory.on_write(registers.SYNC_MANAGER, 32, self._sync_managers_changed)

    def _take_address(self) -> None:
        self.station = self.memory.get(registers.STATION_ADDRESS, 2)

    def _take_request(self) -> None:
        """Keep a request for the device: until that has read it the master cannot write another.

        Without a valid EEPROM the interface to the device is not configured: nobody answers.
        """
        if not self.eeprom.valid:
            return
        now = self._instant.ns
        if self._asked is None:
            due = now + round(1e9 * self.drive_type.request_delay)
            self._asked = self.memory.get(registers.AL_CONTROL, 2), due
        self.memory.set(registers.AL_CONTROL, 2, self._asked[0])
        self._read_request(now)

    def _read_request(self, now: int) -> None:
        if self._asked is not None and now >= self._asked[1]:
            (word, _), self._asked = self._asked, None
            self.al.request(word, now)

    # The master's accesses.

    def read(self, address: int, length: int) -> bytes | None:
        """Answer a read; None where it is refused and not counted."""
        guard = self.sync_managers.admit(address, length, writing=False)
        if guard == REFUSED:
            return None
        data = self.memory.read(address, length)
        self.sync_managers.done(guard, address + length)
        return data

    def write(self, address: int, data: bytes | bytearray) -> bool:
        """Take a write; False where it is refused and not counted."""
        guard = self.sync_managers.admit(address, len(data), writing=True)
        if guard == REFUSED or not self.memory.write(address, data):
            return False
        self.sync_managers.done(guard, address + len(data))
        return True

    def _accessed(self, number: int) -> None:
        if number == MAILBOX_OUT and self.al.state is not AlState.INIT:
            self.mailbox.receive(self.al.state)
        elif number == MAILBOX_IN:
            self.mailbox.taken()
        elif number == OUTPUTS:
            self._outputs_written()

    def _outputs_written(self) -> None:
        if self.sync_managers.items[OUTPUTS].feeds_watchdog:
            self._fed = self._instant.ns
            self.memory.set(registers.WATCHDOG_STATUS, 2, 1)
        self._fresh = True
        if self.al.state is AlState.OP and not self.clock.sync0_active:
            self._latch()

    def _latch(self) -> None:
        self._outputs.store(self.memory.octets, OUTPUT_START)
        self.drive.outputs_arrived()

    def sync0(self) -> None:
        """Take the newest outputs at SYNC0, and count where there are none (ETG.1020, 10F1h)."""
        self.clock.pass_sync0()
        fresh, self._fresh = self._fresh, False
        if self.al.state is not AlState.OP:
            return
        if fresh:
            self.sync_errors = max(self.sync_errors - 1, 0)
            self._latch()
            return
        # Without the object nobody can change what the drive has from the factory.
        settings = self.dictionary.objects.get(profile.SYNC_ERROR_SETTINGS)
        limit = settings[2].number if settings else self.drive_type.sync_error_limit
        self.sync_errors += MISSED_OUTPUTS if limit else 0
        if limit and self.sync_errors >= limit:
            self.al.fall_back(AlState.SAFEOP, AlCode.SYNC_ERROR)

    def _sync_managers_changed(self) -> None:
        self.mailbox.repeat()
        state = self.al.state
        if state is AlState.INIT:
            return
        if (code := self.check_mailbox()) is not AlCode.NO_ERROR:
            self.al.fall_back(AlState.INIT, code)
        elif (
            state in {AlState.SAFEOP, AlState.OP}
            and (code := self._check_process_managers()) is not AlCode.NO_ERROR
        ):
            self.al.fall_back(AlState.PREOP, code)

    # What the state machine asks.

    def check_mailbox(self) -> AlCode:
        """Compare both mailboxes with the EEPROM: place, length, direction, enabled."""
        for number, (start, length) in enumerate(self._ranges):
            item = self.sync_managers.items[number]
            if not (
                item.enabled
                and item.mailbox
                and (item.start, item.length) == (start, length)
                and item.written_by_master == (number == MAILBOX_OUT)
            ):
                return AlCode.INVALID_MAILBOX
        return AlCode.NO_ERROR

    def check_process_data(self) -> AlCode:
        """Compare the lengths with the assigned maps, and look for SYNC0 where it is needed."""
        if (code := self._check_process_managers()) is not AlCode.NO_ERROR:
            return code
        if self.drive_type.needs_sync0 and not self.clock.sync0_active:
            return AlCode.INVALID_DC_SYNC
        return AlCode.NO_ERROR

    def _check_process_managers(self) -> AlCode:
        for number, direction, start, code in (
            (OUTPUTS, RECEIVE, OUTPUT_START, AlCode.INVALID_OUTPUTS),
            (INPUTS, TRANSMIT, INPUT_START, AlCode.INVALID_INPUTS),
        ):
            item = self.sync_managers.items[number]
            size = self._process_data.layout(direction).size
            fits = (item.start, item.length) == (start, size)
            right = item.written_by_master == (number == OUTPUTS) and not item.mailbox
            if item.enabled != (size > 0) or (size and not (fits and right)):
                return code
        return AlCode.NO_ERROR

    def check_operation(self) -> AlCode:
        """Look whether outputs have come lately, and whether SYNC0 has begun."""
        if self._outputs.size and not self._watched(self._instant.ns):
            return AlCode.WATCHDOG
        if not self.clock.sync0_active:
            return AlCode.NO_ERROR
        if not self.clock.sync0_running:
            return AlCode.NO_SYNC
        return AlCode.NO_ERROR if self.clock.settled else AlCode.CLOCK_NOT_SETTLED

    def entered(self, old: AlState, new: AlState) -> None:
        """Follow the state machine: mailbox from PREOP on, process data from SAFEOP on."""
        if AlState.INIT in {old, new}:
            self.mailbox.reset()
        if old is AlState.OP:
            late = self.al.code == AlCode.SYNC_ERROR
            self.drive.communication_lost(SYNCHRONISATION_LOST if late else COMMUNICATION_LOST)
        if old < AlState.SAFEOP <= new:
            self._outputs = self._process_data.layout(RECEIVE)
            self._inputs = self._process_data.layout(TRANSMIT)
            self._fed = None
            self._fresh, self.sync_errors = False, 0
            self._tell_synchronisation()
            self.present()
        if new is AlState.OP:
            self.sync_errors = 0
        self.sync_managers.process_data_open = new >= AlState.SAFEOP

    def _tell_synchronisation(self) -> None:
        active = self.clock.sync0_active
        self.drive.cycle = 1e-9 * self.clock.cycle if active else 0.0
        for index in (profile.OUTPUT_SYNCHRONISATION, profile.INPUT_SYNCHRONISATION):
            if (entries := self.dictionary.objects.get(index)) is None:
                continue
            entries[1].value = profile.DC_SYNC0 if active else profile.SYNCHRONOUS_WITH_FRAME
            entries[2].value = self.clock.cycle if active else 0

    # Time.

    def _watched(self, now: int) -> bool:
        """Tell whether the watchdog is quiet, as it always is that no outputs can feed."""
        if not self.sync_managers.items[OUTPUTS].feeds_watchdog:
            return True
        if self._fed is None:
            return False
        timeout = self.timeout
        return timeout == 0 or now - self._fed < timeout

    @property
    def timeout(self) -> int:
        """Process-data watchdog as configured, 0 if it is off [ns]."""
        divider = self.memory.get(registers.WATCHDOG_DIVIDER, 2) + 2
        return self.memory.get(registers.WATCHDOG_PROCESS_DATA, 2) * divider * 40

    def expire(self) -> None:
        """Let the process-data watchdog run out."""
        count = self.memory.octets[registers.WATCHDOG_COUNTER]
        self.memory.octets[registers.WATCHDOG_COUNTER] = min(count + 1, 0xFF)
        self.memory.set(registers.WATCHDOG_STATUS, 2, 0)
        self._fed = None
        self.al.fall_back(AlState.SAFEOP, AlCode.WATCHDOG)

    def watch(self, now: int) -> None:
        """Look whether something is overdue, or a pending transition can be completed [ns]."""
        if self.al.state is AlState.OP and self._outputs.size and not self._watched(now):
            self.expire()
        self._read_request(now)
        self.al.tick(now)

    def present(self) -> None:
        """Lay the inputs out for the master."""
        if self.al.state >= AlState.SAFEOP:
            self._inputs.load(self.memory.octets, INPUT_START)

    def _emergency(self, code: int, register: int) -> None:
        history = self.dictionary.objects.get(profile.DIAGNOSIS_HISTORY)
        asked_for = history is None or history[5].number & 1
        if self.al.state is not AlState.INIT and asked_for:
            self.mailbox.emergency(code, register)

    def set_links(self, *, before: bool, behind: bool) -> None:
        """Show in DL status which of the first two ports have a link; the others are closed."""
        memory = self.memory
        word = 0x5000 | (0x0200 | 1 << 4 if before else 0x0100)
        word |= 0x0800 | 1 << 5 if behind else 0x0400
        word |= PDI_OPERATIONAL | WATCHDOG_FED if self.eeprom.valid else 0
        old = memory.get(registers.DL_STATUS, 2)
        for port, bit in ((0, 1 << 4), (1, 1 << 5)):
            if old & bit and not word & bit:
                at = registers.LOST_LINK_COUNTERS + port
                memory.octets[at] = min(memory.octets[at] + 1, 0xFF)
        memory.set(registers.DL_STATUS, 2, word)
