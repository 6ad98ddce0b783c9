# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Unmodified pysoem on the segment, over raw sockets in a private network.

Each scenario is a process (`ethercat_master.py`); what it saw on the bus is asserted here. The
thresholds are counts: how fast a shared machine is says nothing about the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import pytest

pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

MASTER = Path(__file__).with_name('ethercat_master.py')
NOT_ALLOWED = 77
NOBODY = 65534
ENVIRONMENT = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
SAFEOP_WITHOUT_OUTPUTS = [0x14, 0x1B]
NO_FRAME = -1

Play = Callable[..., dict[str, Any]]


@pytest.fixture
def socket_path() -> Iterator[Path]:
    """Choose a short path, since a socket's name has at most 108 octets, where all may write."""
    folder = Path(tempfile.mkdtemp(prefix='ecat'))
    folder.chmod(0o777)
    yield folder / 'control'
    shutil.rmtree(folder)


@pytest.fixture
def play(socket_path: Path) -> Play:
    """Run a scenario; skip, saying what to do, where no private network is allowed."""

    def run(scenario: str, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, str(MASTER), scenario, str(socket_path), *arguments],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        if done.returncode == NOT_ALLOWED:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    return run


def counters(seen: list[int]) -> set[int]:
    """Return the working counters of what came back in time; on a loaded machine not all does."""
    return set(seen) - {NO_FRAME}


def test_an_ordinary_user_brings_six_drives_to_op_and_moves_them(play: Play) -> None:
    """A test run by root gives its privileges up first."""
    ordinary = [str(NOBODY)] if os.getuid() == 0 else []
    seen = play('bring_up', *ordinary)

    assert seen['found'] == 6
    assert seen['preop'] == [[2, 0]] * 6
    assert seen['identity'] == [[0x83, 0xB0, 0x00010004, 'R88D-1SN04H-ECT']] * 6
    assert seen['name'] == 'R88D-1SN04H-ECT'
    assert seen['complete'] == '0100011b'
    assert seen['aborts'] == [0x06020000, 0x06010002]
    assert seen['size'] == 6 * (6 + 10)
    assert seen['safeop'] == [[4, 0]] * 6
    assert seen['sync'] == '0200'
    assert seen['expected'] == 18
    assert seen['operational']
    assert seen['enabled']
    assert seen['still_enabled']
    assert len(seen['counters']) == 250
    assert counters(seen['counters']) == {18}
    # The fastest axis moves by 0.2 million counts in a cycle; inputs are a cycle old.
    assert 0 < seen['worst'] < 2_000_000
    assert all(word & 0x7FFFFFFF < 20_000 for word in seen['differences'])
    assert seen['clock_runs']


def test_a_lost_slave_is_missed_found_and_brought_back(play: Play) -> None:
    seen = play('lost_slaves')

    assert counters(seen['without_6']) == {15}
    assert seen['recover_6'] == [1, 4]
    assert counters(seen['with_6']) == {18}
    # Behind a drive without supply nothing is reached either.
    assert counters(seen['without_3']) == {6}
    assert seen['powered'] == [True, True, False, True, True, True]
    assert seen['drives'][3:5] == ['FAULT', 'FAULT']
    assert seen['recover_3'] == [1, 4]
    assert seen['behind_3'] == [SAFEOP_WITHOUT_OUTPUTS] * 3
    assert counters(seen['with_3']) == {18}
    assert counters(seen['cycled']) == {15}


def test_a_drive_fault_is_an_emergency_and_can_be_reset(play: Play) -> None:
    seen = play('drive_faults')

    assert seen['fault']
    assert [state == 'FAULT' for state in seen['others']] == [False] * 3 + [True] + [False] * 2
    assert seen['code'] == 0x2310
    assert seen['emergencies'] == [[4, 0x2310]]
    assert seen['reset']
    assert seen['after_reset'] == [[4, 0]]
    assert seen['al_error'] == [0x14, 0x1A]
    assert seen['op_again'] == [8, 0]
    assert seen['enabled_again']
    assert seen['jump']
    assert seen['jump_code'] == 0x8611


def test_a_silent_master_stops_all_drives(play: Play) -> None:
    seen = play('silence')

    assert seen['al'] == [SAFEOP_WITHOUT_OUTPUTS] * 6
    assert seen['drives'] == ['FAULT'] * 6
    assert seen['codes'] == [0x8130] * 6
    assert seen['at_rest']
    assert seen['enabled']


def test_a_wrong_order_and_wrong_drives_are_refused(play: Play) -> None:
    seen = play('strictness')

    assert seen['sync_after_map'] == [0x12, 0x30]
    assert seen['found'] == 6
    assert seen['products'] == [0xB0, 0xAB, 0xB0, 0xB0, 0xB0, 0xB0]
    assert seen['states'] == [2, 2, 2, 2, 1, 2]
    assert seen['read_only'] == [0x06010002, '0117']
    assert seen['eeprom'] == ['4000', '4018']
    assert seen['pdi'] == [1, 0]


# A frame is late for a master that is on time.
@pytest.mark.realtime
def test_a_bad_wire_shows_in_the_working_counter(play: Play) -> None:
    seen = play('bad_wire')

    assert seen['lost'][:2] == [-1, -1]
    assert counters(seen['lost']) == {18}
    assert seen['lost_back'][0] == -1
    assert counters(seen['lost_back']) == {18}
    assert seen['sdo'] == '83000000'
    assert seen['sdo_lost'] >= 4
    assert seen['late'] == [-1, -1, -1]
    assert counters(seen['after_delay']) == {18}
    assert counters(seen['cut']) == {9}
    assert seen['links'] == ['335a', '1356']
    assert seen['lost_links'] == 1
    assert counters(seen['mended']) == {18}
    assert seen['difference'] < 20_000


def test_a_small_mailbox_goes_in_segments(play: Play) -> None:
    seen = play('small_mailbox')

    assert seen['whole'] == (
        '090010003f601000416020006460100077602000f4601000b9602000ba602000bc602000fd60'
    )
    assert seen['written']


def children_of(parent: int) -> list[int]:
    path = Path(f'/proc/{parent}/task/{parent}/children')
    return [int(number) for number in path.read_text(encoding='ascii').split()]


def test_the_segment_does_not_outlive_a_killed_master(socket_path: Path) -> None:
    command = [sys.executable, '-m', 'stewart_simulation.ethercat', '--control', str(socket_path)]
    with subprocess.Popen(
        [*command, '--', 'sleep', '30'], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    ) as master:
        assert master.stderr is not None
        until(lambda: socket_path.exists() or master.poll() is not None)
        if master.poll() is not None:
            text = master.stderr.read()
            assert 'What permits it' in text, text
            pytest.skip(text.strip())
        (segment,) = children_of(master.pid)
        master.send_signal(signal.SIGKILL)
        master.wait()

        until(lambda: not Path(f'/proc/{segment}').exists())
    assert not Path(f'/proc/{segment}').exists()
    assert not socket_path.exists()


def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60.0
    while not reached() and time.monotonic() < deadline:
        time.sleep(0.02)
