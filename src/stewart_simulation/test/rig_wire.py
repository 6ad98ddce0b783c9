# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""In the network of a virtual rig: send what is asked for, one JSON object per line, and answer.

``{"frame": ["hex", seconds]}`` sends a raw frame and waits for it for at most so long,
``{"sdo": [slave, index, subindex, "hex"]}`` is a service through pysoem, an upload if the data are
empty.
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

# How long one frame of the master may take [µs], and a service until it is answered [s]: SOEM's
# 2 ms are too short for a busy machine.
FRAME, SERVICE = 200_000, 60.0


class Wire:
    """A port, and a master on the same port that is opened when it is needed."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88A4))
        self._port.bind((interface, 0x88A4))
        self._master: Any = None

    def frame(self, text: str, patience: float) -> dict[str, Any]:
        """Send a frame; answer with what comes back and how long that took [s]."""
        self.drain()
        self._port.settimeout(patience)
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
            return

    def sdo(self, slave: int, index: int, subindex: int, data: str) -> dict[str, Any]:
        """Read or write an object in PREOP; answer with data or the abort code."""
        import pysoem

        limit = time.monotonic() + SERVICE
        while True:
            try:
                drive = self._drives()[slave - 1]
                if data:
                    drive.sdo_write(index, subindex, bytes.fromhex(data))
                    return {'data': ''}
                return {'data': drive.sdo_read(index, subindex).hex()}
            except pysoem.SdoError as error:
                return {'abort': error.abort_code}
            except (pysoem.MailboxError, pysoem.WkcError):
                # The rig got no turn: a master asks again.
                if time.monotonic() > limit:
                    raise

    def _drives(self) -> Any:
        """Return the six slaves, of which a scan finds fewer if the rig gets no turn."""
        import pysoem

        limit = time.monotonic() + SERVICE
        while self._master is None:
            timeouts = pysoem.settings.timeouts
            timeouts.ret, timeouts.safe, timeouts.tx_mailbox = FRAME, 4 * FRAME, 4 * FRAME
            master = pysoem.Master()
            master.open(self._interface)
            if master.config_init() == 6:
                self._master = master
            else:
                master.close()
                assert time.monotonic() < limit
        return self._master.slaves


def main() -> None:
    """Answer until the end of the input."""
    namespace.enter(sys.argv[1])
    wire = Wire(sys.argv[2])
    print('{}', flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        known = {
            'frame': lambda words: wire.frame(*words),
            'reset': wire.reset,
            'sdo': lambda words: wire.sdo(*words),
        }
        ((name, words),) = request.items()
        print(json.dumps(known[name](words)), flush=True)


if __name__ == '__main__':
    main()
