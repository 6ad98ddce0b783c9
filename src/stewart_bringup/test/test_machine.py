# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine is measured; what it does not excuse."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import time

import pytest
from stewart_bringup.demo import wakeups
from stewart_bringup.demo.machine import because_late, Machine, Meter

PAUSE = 0.05
# Measures, and says so before it waits for the first time.
AUDIBLE = """
from pathlib import Path
import runpy
import select

wait = select.select

def first(*arguments):
    select.select = wait
    Path({begun!r}).touch()
    return wait(*arguments)

select.select = first
runpy.run_path({path!r}, run_name='__main__')
"""


def test_a_machine_that_stood_still_is_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audible, begun = tmp_path / 'audible.py', tmp_path / 'begun'
    audible.write_text(AUDIBLE.format(begun=str(begun), path=wakeups.__file__))
    monkeypatch.setattr(wakeups, '__file__', str(audible))
    with Meter() as meter:
        while not begun.exists():
            assert meter.process.poll() is None
            time.sleep(0.01)
        meter.process.send_signal(signal.SIGSTOP)
        os.waitpid(meter.process.pid, os.WUNTRACED)
        time.sleep(PAUSE)
        meter.process.send_signal(signal.SIGCONT)
    machine = meter.read(tmp_path / 'none')

    assert machine.longest >= PAUSE - 2e-3
    assert machine.late
    assert 'late' in str(machine)


def test_a_machine_that_was_not_measured_is_no_excuse(tmp_path: Path) -> None:
    assert not Meter().read(tmp_path / 'none').late


@pytest.mark.parametrize(
    ('machine', 'late'),
    [
        (Machine(5e-4, 4e-3), False),
        (Machine(1.1e-3, 4e-3), True),
        (Machine(5e-4, 6e-3), True),
        (Machine(5e-4, 4e-3, 100, 3, 6e-3), True),
    ],
)
def test_p99_or_one_wake_up_makes_it_late(machine: Machine, late: bool) -> None:
    assert machine.late is late


def test_a_stuck_leg_is_no_matter_of_time() -> None:
    assert because_late('driver: no command in time while moving (100 ms waited)')
    assert because_late('no frame has come back on eth1 for 301 ms')
    assert because_late('no cycle has run for 0.030 s while moving: the path is given up')
    assert because_late('the virtual rig did not start within 90 s')
    lost = 'drive of leg 1 reports fault 0x8700: synchronisation with SYNC0; emergency (register'
    assert because_late(lost)
    assert because_late('EtherCAT state SAFEOP with error 0x001B (Sync manager watchdog)')
    assert not because_late('leg 3 is 2.10 mm from its command, allowed are 1 mm')
