# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a cycle of the driver takes beside the bare exchange of pysoem, on the same six drives.

Both write the outputs of all drives, send and receive one frame, and read the inputs. Ours also
takes what came in the shared block, supervises, follows the drives' states and says what it has
measured; the legs are held. The times are processor time: waiting for the frame is in neither.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
import time

from ethercat_cycle import PATH, segment, WATCH, zero
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions

BARE, CYCLE, ENABLING = 'bare pysoem exchange', 0.004, 20.0
LEAST_FULL = 0.95
"""Share of bare frames that every drive has to answer, or it is no exchange to compare with."""
# Our loop stands while the bare one has its turn.
PATIENCE = {'receive_timeout': 0.02, 'patience': 6.0, 'drive_watchdog': 6.5}


def enabled(backend: EthercatBackend, block: SharedBlock) -> ControlLoop:
    """Return the loop once it holds the legs."""
    loop = ControlLoop(backend, CycleConfiguration(backend.limits, PATH, WATCH), block)
    limit = time.monotonic() + ENABLING
    said = ''
    while loop.state is not State.ENABLED:
        if time.monotonic() > limit:
            raise TimeoutError(f'not enabled within {ENABLING:g} s: {said}')
        if loop.state is State.DISABLED:
            block.requests.push(code=Request.ENABLE, value=0.0)
        loop.step(time.monotonic())
        said = '; '.join(str(record['message']) for record in block.replies.pop_all()) or said
        time.sleep(CYCLE)
    return loop


def main() -> int:
    """Measure, print and write."""
    with TemporaryDirectory(prefix='ecat') as name, segment(Path(name), 600.0) as network:
        folder = Path(name)
        zero(folder)
        rig = str(folder / 'rig.yaml')
        options = EthercatOptions(**PATIENCE, namespace=network, rig_file=rig, cycle_time=CYCLE)
        backend = EthercatBackend(options)
        descriptor = SharedBlock.allocate()
        block = SharedBlock(descriptor)
        os.close(descriptor)
        backend.open(time.monotonic())
        try:
            loop = enabled(backend, block)
            master, timeout = backend._bus._master, backend._bus._timeout
            outputs = [slave.output for slave in master.slaves]
            received = []

            def ours() -> None:
                loop.step(time.monotonic())
                block.samples.pop_all()

            def bare() -> None:
                for slave, data in zip(master.slaves, outputs, strict=True):
                    slave.output = data
                master.send_processdata()
                received.append(master.receive_processdata(timeout))
                _ = [slave.input for slave in master.slaves]

            about = harness.machine(['numpy', 'pysoem'])
            timings = harness.measure(
                [
                    harness.Task('whole cycle of the driver', ours, 1, BARE, 12.0),
                    harness.Task(BARE, bare),
                ]
            )
            if loop.state is not State.ENABLED:
                raise RuntimeError(f'the drives did not stay on: {loop.state.name}')
        finally:
            backend.close()
    full = received.count(master.expected_wkc) / len(received)
    print(f'{len(received)} bare frames, {100 * full:.2f} % with every drive')
    missed = harness.report('ethercat_peer', timings, about, sample='cycle', full_frames=full)
    if full < LEAST_FULL:
        print(f'fewer than {100 * LEAST_FULL:g} %: that is nothing to compare with')
    return int(missed or full < LEAST_FULL)


if __name__ == '__main__':
    sys.exit(main())
