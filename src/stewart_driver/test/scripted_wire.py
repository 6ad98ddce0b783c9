# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives that follow a script, on a wire without a bus."""

from __future__ import annotations

from collections.abc import Sequence
import struct
from typing import Any

from stewart_driver.ethercat.cia402.states import State
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.errors import AlStatus, Emergency, SdoRefused
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.sdo import at_once, one_by_one
from stewart_driver.rig_file import DriveIdentity

KIND = DriveType.from_yaml('omron_1s')
COUNTS = 2**23 / 0.01
ENTRIES_OUT = (0x60400010, 0x607A0020, 0x60B20010)
ENTRIES_IN = (0x60410010, 0x60640020, 0x603F0010, 0x60770010, 0x60610008)
CYCLE = 0.002
OPTIONS = EthercatOptions(interface='scripted', cycle_time=CYCLE, start_timeout=0.2)
OP = AlStatus(8, 0, '')
# State, controlwords as mask and value, next state; CiA 402, written down by hand.
SHUTDOWN, SWITCH_ON, ENABLE, DISABLE = (0x87, 0x06), (0x87, 0x07), (0x8F, 0x0F), (0x8F, 0x07)
DISABLE_VOLTAGE, QUICK_STOP = (0x82, 0x00), (0x86, 0x02)
TRANSITIONS = (
    (State.SWITCH_ON_DISABLED, SHUTDOWN, State.READY_TO_SWITCH_ON),
    (State.READY_TO_SWITCH_ON, SWITCH_ON, State.SWITCHED_ON),
    (State.READY_TO_SWITCH_ON, DISABLE_VOLTAGE, State.SWITCH_ON_DISABLED),
    (State.READY_TO_SWITCH_ON, QUICK_STOP, State.SWITCH_ON_DISABLED),
    (State.SWITCHED_ON, ENABLE, State.OPERATION_ENABLED),
    (State.SWITCHED_ON, SHUTDOWN, State.READY_TO_SWITCH_ON),
    (State.SWITCHED_ON, DISABLE_VOLTAGE, State.SWITCH_ON_DISABLED),
    (State.SWITCHED_ON, QUICK_STOP, State.SWITCH_ON_DISABLED),
    (State.OPERATION_ENABLED, DISABLE, State.SWITCHED_ON),
    (State.OPERATION_ENABLED, SHUTDOWN, State.READY_TO_SWITCH_ON),
    (State.OPERATION_ENABLED, DISABLE_VOLTAGE, State.SWITCH_ON_DISABLED),
    (State.OPERATION_ENABLED, QUICK_STOP, State.QUICK_STOP_ACTIVE),
    (State.QUICK_STOP_ACTIVE, DISABLE_VOLTAGE, State.SWITCH_ON_DISABLED),
    (State.QUICK_STOP_ACTIVE, ENABLE, State.OPERATION_ENABLED),
)


def next_state(state: State, word: int, previous: int) -> State | None:
    """Return where a controlword brings a drive; a fault ends by the rising edge of bit 7."""
    if state is State.FAULT:
        return State.SWITCH_ON_DISABLED if word & ~previous & 0x80 else None
    return next(
        (goal for at, (mask, value), goal in TRANSITIONS if at is state and word & mask == value),
        None,
    )


class ScriptedWire:
    """Six drives that make one transition per frame; `slow` makes drives take more frames."""

    def __init__(self) -> None:
        self.states = [State.SWITCH_ON_DISABLED] * 6
        self.positions = [round(0.3 * COUNTS) + 1000 * axis for axis in range(6)]
        self.codes, self.previous = [0] * 6, [0] * 6
        self.slow: dict[int, int] = {}
        self.sent: list[list[tuple[int, int, int]]] = []
        self.stuck: set[int] = set()
        self.counter, self.expected = 18, 18
        self.status = [OP] * 6
        self.mail: dict[int, list[Emergency]] = {}
        self.resettable = True
        self.log: list[str] = []
        self.time = 0.0
        self.instants: list[float] = []
        self.found = [DriveIdentity(0x83, 0xB0, 0x10004, 0)] * 6
        self.bits, self.modes = [0x1210] * 6, [8] * 6
        self.watchdogs = [0.1] * 6
        self.reached = {4: [AlStatus(4, 0, '')] * 6, 8: [OP] * 6}

    def now(self) -> float:
        return self.time

    @property
    def clock(self) -> int:
        return round(1e9 * self.time)

    def sleep(self, duration: float) -> None:
        self.time += duration

    def exchange(self, outputs: Sequence[bytes]) -> int:
        self.log.append('frame')
        self.instants.append(self.time)
        words = [struct.unpack('<Hih', item) for item in outputs]
        self.sent.append(words)
        for axis, (word, target, _) in enumerate(words):
            if self.status[axis].state != OP.state:
                continue
            if self.states[axis] is State.OPERATION_ENABLED and axis not in self.stuck:
                self.positions[axis] = target
            state = next_state(self.states[axis], word, self.previous[axis])
            self.previous[axis] = word
            reset = self.states[axis] is State.FAULT
            if state is None or (reset and not self.resettable):
                continue
            if self.slow.get(axis, 0):
                self.slow[axis] -= 1
                continue
            self.states[axis] = state
            if reset:
                self.codes[axis] = 0
        return self.counter

    def inputs(self) -> list[bytes]:
        return [
            struct.pack('<HiHhb', state | bits, position, code, 100, mode)
            for state, bits, position, code, mode in zip(
                self.states, self.bits, self.positions, self.codes, self.modes, strict=True
            )
        ]

    def statuses(self) -> list[AlStatus]:
        return self.status

    beside = staticmethod(at_once)
    each = staticmethod(one_by_one)

    def emergencies(self, leg: int) -> list[Emergency]:
        return self.mail.pop(leg, [])

    def scan(self, count: int, accepts: Any = None) -> Any:
        self.log.append('scan')
        return [ScriptedSlave(leg, self) for leg in range(1, count + 1)]

    def map(self, *, watchdog: float, sync: Any, sizes: Any) -> None:
        self.log.append(f'map {watchdog:g} {sync}')
        self.status = self.reached[4]

    def request(self, state: int) -> None:
        self.log.append(f'request {state}')
        self.status = self.reached[state]

    def recover(self, leg: int) -> None:
        self.log.append(f'recover {leg}')
        if self.resettable:
            self.status = [
                OP if place == leg else item for place, item in enumerate(self.status, 1)
            ]

    def readdress(self, leg: int) -> None:
        self.log.append(f'readdress {leg}')

    def use_cycle_timeout(self) -> None:
        self.log.append('use_cycle_timeout')

    def close(self) -> None:
        self.log.append('close')

    def fail(self, axis: int, code: int) -> None:
        self.states[axis], self.codes[axis] = State.FAULT, code


class ScriptedSlave:
    def __init__(self, leg: int, wire: ScriptedWire) -> None:
        self.leg, self._wire = leg, wire

    def identity(self) -> DriveIdentity:
        return self._wire.found[self.leg - 1]

    def read(self, index: int, subindex: int) -> bytes:
        self._wire.log.append(f'{self.leg} read {index:04X}')
        maps = {0x1C12: (0x1701,), 0x1C13: (0x1B01,), 0x1701: ENTRIES_OUT, 0x1B01: ENTRIES_IN}
        if index == 0x608F:
            return struct.pack('<I', 2**23 if subindex == 1 else 1)
        if index == 0x6091:
            return struct.pack('<I', 1)
        if index == 0x6064:
            return struct.pack('<i', self._wire.positions[self.leg - 1])
        if index not in maps:
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06020000')
        values = maps[index]
        return bytes([len(values)]) if subindex == 0 else struct.pack('<I', values[subindex - 1])

    def write(self, index: int, subindex: int, data: bytes) -> None:
        self._wire.log.append(f'{self.leg} write {index:04X}')
