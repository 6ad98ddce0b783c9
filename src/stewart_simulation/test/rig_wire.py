# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""In the network of a virtual rig: send what is asked for, one JSON object per line, and answer.

``{"frame": "hex"}`` sends a raw frame, ``{"sdo": [slave, index, subindex, "hex"]}`` is a service
through pysoem, an upload if the data are empty.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

from stewart_tables.one_thread import ONE_THREAD

os.environ.update(ONE_THREAD)

from stewart_driver.ethercat import namespace

PATIENCE = 0.3


class Wire:
    """A port, and a master on the same port that is opened when it is needed."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88A4))
        self._port.bind((interface, 0x88A4))
        self._port.settimeout(PATIENCE)
        self._master: Any = None

    def frame(self, text: str) -> dict[str, Any]:
        """Send a frame; answer with what comes back and how long that took [s]."""
        self.drain()
        begin = time.monotonic()
        self._port.send(bytes.fromhex(text))
        try:
            answer = self._port.recv(1600).hex()
        except TimeoutError:
            answer = ''
        return {'answer': answer, 'took': time.monotonic() - begin}

    def reset(self, _: None) -> dict[str, Any]:
        """Close the master: the next service scans the bus again."""
        if self._master is not None:
            self._master.close()
            self._master = None
        return {}

    def drain(self) -> None:
        """Throw away what came for others."""
        self._port.setblocking(False)
        try:
            while self._port.recv(1600):
                pass
        except BlockingIOError:
            self._port.settimeout(PATIENCE)

    def sdo(self, slave: int, index: int, subindex: int, data: str) -> dict[str, Any]:
        """Read or write an object in PREOP; answer with data or the abort code."""
        import pysoem

        if self._master is None:
            self._master = pysoem.Master()
            self._master.open(self._interface)
            assert self._master.config_init() == 6
        drive = self._master.slaves[slave - 1]
        try:
            if data:
                drive.sdo_write(index, subindex, bytes.fromhex(data))
                return {'data': ''}
            return {'data': drive.sdo_read(index, subindex).hex()}
        except pysoem.SdoError as error:
            return {'abort': error.abort_code}


def main() -> None:
    """Answer until the end of the input."""
    namespace.enter(sys.argv[1])
    wire = Wire(sys.argv[2])
    print('{}', flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        known = {'frame': wire.frame, 'reset': wire.reset, 'sdo': lambda words: wire.sdo(*words)}
        ((name, words),) = request.items()
        print(json.dumps(known[name](words)), flush=True)


if __name__ == '__main__':
    main()
