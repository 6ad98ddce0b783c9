# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A cable with slaves as pysoem shows them, under the driver's own bus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
import socket
from typing import Any

import pytest
from stewart_driver.ethercat import bus as bus_module
from stewart_driver.ethercat.bus import Bus
from stewart_driver.rig_file import DriveIdentity

PREOP, INIT_WITH_ERROR = 2, 0x11
COUPLER, TERMINAL, DRIVE = (2, 0x044C2C52), (2, 0x07D83052), (0xAB, 0x1402)
# What the masters have opened.
SOCKETS: list[socket.socket] = []


def close_sockets() -> Iterator[None]:
    """Close after a test what its masters have opened: a fixture."""
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
        self.watchdog_ms = 100.0
        # With a clock, its process data watchdog armed.
        self.registers = {0x0008: 0x04, 0x0400: 2498, 0x0814: 0x64, 0x0910: 0, 0x092C: 0}
        self.written: list[int] = []
        # Registers that keep their values.
        self.fixed: set[int] = set()
        self.complete_access = True
        self.setup_func: Callable[[Slave], None] = lambda _slave: None

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
        self.tell = callback

    def _disable_complete_access(self) -> None:
        self.complete_access = False

    sdo_read: Callable[..., bytes]
    tell: Callable[[Any], None]

    def mbx_receive(self) -> int:
        self.mailbox_reads += 1
        return 0

    def set_watchdog(self, kind: str, time_ms: float) -> None:
        """As pysoem, which counts in what 0400h makes of 25 MHz."""
        most = 65535 * 40e-6 * (self.registers[0x0400] + 2)
        if time_ms > most:
            raise AttributeError(f'wd_time_ms is limited to {most} ms')
        self.watchdog_ms = time_ms

    def get_watchdog(self, kind: str) -> float:
        return self.watchdog_ms

    def _fprd(self, register: int, length: int) -> bytes:
        return self.registers[register].to_bytes(length, 'little')

    def _fpwr(self, register: int, data: bytes) -> None:
        if register not in self.fixed:
            self.registers[register] = int.from_bytes(data, 'little')

    def dc_sync(self, act: bool, cycle: int, shift: int) -> None:
        """As SOEM: the beginning is a multiple of the cycle in what the slave itself shows."""
        shown = int.from_bytes(self._fprd(0x0910, 8), 'little')
        begin = ((shown + 100_000_000) // cycle + 1) * cycle + shift
        self.registers.update({0x0990: begin, 0x09A0: cycle, 0x0981: 3 * act})


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

    frames = dc_time = 0

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
