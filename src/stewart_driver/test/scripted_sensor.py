# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""For tests: a WitMotion sensor written from the documents, apart from the emulator."""

from __future__ import annotations

SPEEDS = (4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600)
BAUDS = dict(enumerate(SPEEDS, start=1))
UNLOCK = bytes.fromhex('ff aa 69 88 b5')
SAVE = bytes.fromhex('ff aa 00 00 00')
REBOOT = bytes.fromhex('ff aa 00 ff 00')


def framed(kind: int, payload: bytes) -> bytes:
    body = bytes([0x55, kind]) + payload
    return body + bytes([sum(body) % 256])


class ScriptedSensor:
    """A transport with a sensor behind it, in a time that passes while it is listened to."""

    def __init__(self, code: int = 2, *, stream: bool = True) -> None:
        self.time = 0.0
        self.baud = 115200
        self.code = code
        self.registers = {2: 0x07DE, 3: 6, 4: code, 0x1F: 4, 0x20: 3, 0x21: 3, 0x24: 0}
        self.stream, self.deaf, self.switches = stream, False, True
        self.stubborn: set[int] = set()
        self.commands: list[bytes] = []
        self._unlocked = -1.0
        self._out = b''

    @property
    def heard(self) -> bool:
        return self.baud == BAUDS[self.code]

    def set_baud(self, baud: int) -> None:
        self.baud, self._out = baud, b''

    def read(self, timeout: float) -> bytes:
        self.time += timeout
        data, self._out = self._out, b''
        if self.stream:
            data += framed(0x51, bytes(8))
        return data if self.heard else bytes(len(data))

    def write(self, data: bytes) -> None:
        if not self.heard or self.deaf:
            return
        self.commands.append(data)
        register, value = data[2], data[3] | data[4] << 8
        if data == UNLOCK:
            self._unlocked = self.time + 10.0
        elif register == 0x27:
            words = [self.registers.get(value + n, 0) for n in range(4)]
            self._out += framed(0x5F, b''.join(w.to_bytes(2, 'little') for w in words))
        elif self.time < self._unlocked and register not in self.stubborn:
            if data == REBOOT:
                self.code = self.registers[4]
            elif register:
                self.registers[register] = value
                if register == 4 and self.switches:
                    self.code = value

    def close(self) -> None:
        """Nothing to close."""
