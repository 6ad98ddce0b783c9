# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``ethercat`` in the driver's cyclic process, on a segment in a private network.

What is asserted is what the driver tells and where the plant stands. The machine may be busy with
other things, so times are generous where they say nothing about the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

from ethercat_rig import COUNTS_PER_METRE, ENVIRONMENT, IDENTITY, SegmentRig, until
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.control.cycle_link import Sample, StateChange
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import CycleError
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.path.motion import LegMotion
from stewart_driver.rig_file import load_rig, save_rig
from stewart_driver.verbs import calibrate_drives
from typed_words import typed

START = np.full(6, 0.3)
AMPLITUDES = np.array([0.02, 0.015, -0.02, 0.01, 0.018, -0.015])
OMEGA = 2.0 * np.pi * 0.5
PATIENCE = {
    'receive_timeout': 0.02,
    'patience': 0.5,
    'drive_watchdog': 0.8,
    'start_timeout': 30.0,
}
# Where the cycle proves nothing: a busy machine misses few of these, and for 1.5 s no frame came
# back without a fault.
SLOW = {'cycle_time': 0.01, 'patience': 4.0, 'drive_watchdog': 5.0}
PATIENT = InterpolationSettings(playout_delay=0.15, extrapolation_time=1.0)
SUPERVISION = SupervisionSettings(command_timeout=4.0)
# Where nothing is about the cycle, any number of them may be missed.
CALM_SUPERVISION = replace(SUPERVISION, overrun_share=1.0)
NEITHER_OFF_NOR_FAULTY = {'OPERATION_ENABLED', 'QUICK_STOP_ACTIVE', 'FAULT_REACTION_ACTIVE'}

PARENT = """
import json, sys, time
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.state_machine import Request
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions
backend = EthercatBackend(EthercatOptions(**json.loads(sys.argv[1])))
client = CycleClient(backend, CycleConfiguration(backend.limits), 90.0)
assert client.request(Request.ENABLE, timeout=30.0)[0]
print(client.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def rig() -> Iterator[Any]:
    segment = SegmentRig()
    yield segment
    segment.close()


class User:
    """What a node does: it starts the process, asks, sends setpoints, and listens."""

    def __init__(
        self, rig: Any, *, supervision: SupervisionSettings = SUPERVISION, **options: Any
    ) -> None:
        self.options = {**PATIENCE, 'namespace': rig.namespace, 'rig_file': str(rig.file)}
        backend = EthercatBackend(EthercatOptions(**{**self.options, **options}))
        self.client = CycleClient(
            backend, CycleConfiguration(backend.limits, PATIENT, supervision), timeout=90.0
        )
        self.changes: list[StateChange] = []
        self.all_samples: list[Sample] = []
        self._waving = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> State:
        self.changes += self.client.state_changes()
        return self.changes[-1].state

    @property
    def reason(self) -> str:
        return self.changes[-1].reason

    def samples(self) -> list[Sample]:
        self.all_samples += self.client.samples()
        return self.all_samples

    def enable(self) -> None:
        assert self.client.request(Request.ENABLE, timeout=30.0) == (
            True, 'switching the drives on; driver/state tells when they are'
        )  # fmt: skip
        until(lambda: self.state in {State.ENABLED, State.FAULT})
        assert self.state is State.ENABLED, self.reason

    def wave(self) -> None:
        """Begin to send a wave at 200 Hz."""
        self._waving.set()
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def _send(self) -> None:
        begin = time.monotonic()
        while self._waving.is_set():
            stamp = time.monotonic()
            phase = OMEGA * (stamp - begin)
            self.client.offer(
                LegMotion(
                    stamp,
                    START + AMPLITUDES * (1.0 - np.cos(phase)),
                    AMPLITUDES * OMEGA * np.sin(phase),
                    np.zeros(6),
                )
            )
            time.sleep(0.005)

    def silence(self) -> None:
        self._waving.clear()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def move(self) -> None:
        """Send the wave until the legs really move."""
        self.enable()
        self.wave()
        until(
            lambda: (
                self.state in {State.FAULT, State.DISABLED}
                or (self.samples() and np.ptp(self.all_samples[-1].strokes - START) > 0.01)
            )
        )
        # Where no cycle has run for long, the path is given up, and goes on.
        assert self.state in {State.ENABLED, State.STOPPING}, self.reason

    def end(self) -> None:
        self.silence()
        with suppress(CycleError):
            self.client.end(60.0)


@pytest.fixture
def use(rig: Any) -> Iterator[Callable[..., User]]:
    users: list[User] = []

    def make(**options: Any) -> User:
        users.append(User(rig, **options))
        return users[-1]

    yield make
    for user in users:
        user.end()


TRACED = pytest.mark.skipif(
    'NUMBA_JIT_COVERAGE' in os.environ, reason='traced by coverage, a cycle takes a millisecond'
)


@pytest.mark.realtime
@pytest.mark.parametrize(
    'cycle',
    [
        0.01,
        # The rig is Python, too, and a busy machine has no time for a thousand of its cycles in a
        # second. What depends on the cycle is in test_ethercat_inline.py, in simulated time.
        pytest.param(0.001, marks=[TRACED, pytest.mark.slow]),
        *(pytest.param(cycle, marks=pytest.mark.slow) for cycle in (0.002, 0.004)),
    ],
)
def test_six_axes_follow_a_wave(
    cycle: float,
    rig: Any,
    use: Callable[..., User],
    lateness: Callable[[], float],
    record_property: Callable[..., None],
) -> None:
    user = use(supervision=CALM_SUPERVISION, **{**SLOW, 'cycle_time': cycle})
    assert user.client.request(Request.HOME)[1].startswith(
        'height of the legs +0.000 mm from home'
    )
    user.enable()
    user.wave()

    def travel() -> Any:
        return np.ptp([item.strokes for item in user.samples()] or np.zeros((1, 6)), axis=0)

    # After late cycles the path goes on later.
    until(lambda: user.state is not State.ENABLED or min(travel()) > 0.015)
    given_up = user.reason if user.state is not State.ENABLED else None
    followed = [item for item in user.samples() if item.commanded_strokes is not None]
    # A busy machine keeps the rig waiting like the driver, and test_ethercat_inline.py judges
    # the lag in simulated time. The wave is a line in the space of the six strokes: whatever the
    # delay, no leg leaves it alone.
    travelled = np.array([item.strokes for item in followed]) - START
    shares = travelled @ AMPLITUDES / (AMPLITUDES @ AMPLITUDES)
    beside = np.abs(travelled - np.outer(shares, AMPLITUDES)).max()
    record_property('farthest from the line [mm]', float(1e3 * beside))
    assert beside < 1e-6
    assert shares.max() < 2.0 + 1e-2
    if given_up is not None:
        # Then driver or rig had no processor for longer than a path waits.
        assert re.search('no (frame|cycle|drive) has', given_up), given_up
        assert lateness() > 0.02, given_up
        return
    user.silence()
    user.client.quick_stop()
    until(lambda: user.state is State.DISABLED)

    counters = user.client.counters()
    assert counters.round_trips.sum() > 0.9 * len(followed)
    assert counters.bad_working_counters == 0
    assert followed[-1].forces is not None


@pytest.mark.parametrize(
    ('fault', 'arguments', 'reason'),
    [
        pytest.param(
            'drive_fault',
            {'slave': 4, 'code': 0x2310},
            'leg 4 reports fault 0x2310: continuous ov',
            marks=pytest.mark.slow,
        ),
        # test_ethercat_inline.py has all of them in simulated time.
        # A cycle may see the drive's fault first, or that it is not in OP any more.
        pytest.param('al_error', {'slave': 5, 'code': 0x1A}, 'leg 5', marks=pytest.mark.slow),
        pytest.param(
            'cut',
            {'after': 3},
            'leg 4: its drive is lost, EtherCAT: does not answer; legs 4, 5, 6',
            marks=pytest.mark.slow,
        ),
        ('cut', {'after': 0}, 'no frame has come back on ecat0'),
    ],
)
def test_a_fault_in_motion_stops_all_six_until_it_is_reset(
    fault: str,
    arguments: dict[str, int],
    reason: str,
    rig: Any,
    use: Callable[..., User],
    braked_drive: str,
) -> None:
    user = use(**SLOW, drive=braked_drive, supervision=CALM_SUPERVISION)
    user.move()

    rig.faults.call(fault, **arguments)
    until(lambda: user.state is State.FAULT)
    assert reason in user.reason
    if fault == 'cut' and not arguments['after']:
        # Nobody can be told anything: each drive ramps down and switches off by itself.
        until(lambda: not NEITHER_OFF_NOR_FAULTY & set(rig.seen['drive_states']))
        return
    assert rig.seen['drive_states'].count('OPERATION_ENABLED') >= 3
    rig.faults.call('mend')
    time.sleep(0.2)
    assert user.state is State.FAULT

    user.silence()
    accepted, said = user.client.request(Request.RESET_FAULT)
    assert accepted, said
    assert said.startswith('fault reset, all drives come on while those that are on hold')
    until(lambda: user.state is State.ENABLED)
    assert rig.seen['drive_states'] == ['OPERATION_ENABLED'] * 6
    assert user.changes[-1].homed


@pytest.mark.slow
@pytest.mark.realtime
def test_the_al_status_is_in_the_reason(rig: Any, use: Callable[..., User]) -> None:
    """As in simulated time, test_ethercat_inline.py; emergencies are off until asked for."""
    user = use()
    user.enable()

    rig.faults.call('al_error', slave=5, code=0x1A)
    until(lambda: user.state is State.FAULT)

    assert 'SAFEOP with error 0x001A (Synchronization error)' in user.reason


@pytest.mark.slow
def test_a_wrong_bus_is_refused_at_the_start(rig: Any, use: Callable[..., User]) -> None:
    for after, reason in (
        (4, '4 slaves answer on ecat0, expected are 6'),
        (0, 'no slave answers on ecat0'),
    ):
        rig.faults.call('cut', after=after)
        with pytest.raises(CycleError, match=reason):
            use()
        rig.faults.call('mend')
    rig.faults.call('identity', slave=2)
    with pytest.raises(CycleError, match='leg 2 has vendor 0x83, product 0xAB'):
        use()


def test_a_wrong_wire_is_refused_at_the_start(rig: Any, use: Callable[..., User]) -> None:
    with pytest.raises(CycleError, match="no network interface 'eth7'; there are: lo, ecat"):
        use(interface='eth7')
    with pytest.raises(CycleError, match='cannot enter the network namespace /nowhere: No such'):
        use(namespace='/nowhere')
    use(**SLOW)
    with pytest.raises(CycleError, match='another EtherCAT master of this suite is on ecat0'):
        use()


# As in simulated time, test_ethercat_inline.py: free maps on the wave, read-only ones.
@pytest.mark.slow
@pytest.mark.realtime
def test_free_maps_carry_force_and_read_only_ones_are_used_as_they_are(
    rig: Any, use: Callable[..., User]
) -> None:
    user = use(drive='omron_1s_free')
    until(user.samples)
    assert user.all_samples[-1].forces is not None
    assert user.state is State.DISABLED
    assert 'used as it is' not in user.reason
    user.end()
    rig.faults.call('read_only_maps', slave=3)

    user = use(drive='omron_1s_free')
    user.enable()
    until(user.samples)

    notes = user.changes[0].reason
    assert 'drive of leg 3 refuses object 1600h:0: abort 0x06010002' in notes
    assert 'its map 1A00h is used as it is' in notes
    assert 'leg 2' not in notes
    assert user.all_samples[-1].forces is None


@pytest.mark.slow
@pytest.mark.realtime
def test_soem_starts_clocks_of_32_bits_and_drives_without_complete_access(
    rig: Any, use: Callable[..., User]
) -> None:
    for leg in (1, 3, 4):
        rig.faults.call('variant', slave=leg, clock_bits=32, complete_access=False)
    user = use(supervision=CALM_SUPERVISION, **SLOW)
    user.enable()
    user.wave()
    begin = user.samples()[-1].stamp
    # Meanwhile their times begin anew.
    until(lambda: user.state is not State.ENABLED or user.samples()[-1].stamp > begin + 5.0)

    assert user.state is State.ENABLED, user.reason
    assert rig.faults.call('observe')['sync_errors'] == [0] * 6


def test_drives_without_their_zero_offsets_are_not_switched_on(
    rig: Any, use: Callable[..., User]
) -> None:
    rig.calibrate(IDENTITY._replace(serial=4711))
    user = use(**SLOW)

    assert not user.client.request(Request.ENABLE, timeout=30.0)[0]
    accepted, why = user.client.request(Request.HOME)
    assert not accepted
    assert 'leg 1 is another one than on 2026-11-21: product 0xB0 number 0 instead of' in why
    assert user.state is State.DISABLED
    assert user.changes[0].reason.startswith(f'started; {why}; ')
    user.end()

    user = use(**SLOW, rig_file='', interface='ecat0')
    assert 'no zero offsets because there is no rig_file' in user.client.request(Request.HOME)[1]
    assert user.state is State.DISABLED
    assert not user.changes[-1].homed


@pytest.mark.slow
def test_calibration_writes_offsets_that_make_the_strokes_right(
    rig: Any, use: Callable[..., User], capsys: pytest.CaptureFixture[str]
) -> None:
    rig.file.unlink()
    common = ['--rig-file', rig.file, '--namespace', rig.namespace]
    machine = ['--platform', 'vigo', '--interface', 'ecat0']
    assert typed(calibrate_drives, *common, *machine, '--pose', 'neutral', '--yes') == 0
    told = capsys.readouterr().err
    assert typed(calibrate_drives, *common, '--check') == 0
    checked = capsys.readouterr().out

    drives = load_rig(rig.file).drives
    assert drives is not None
    assert 'pose: neutral of vigo; expected strokes [mm]: 302.267' in told
    assert 'height 1.67400 m, at home 1.67400 m; inclination 0.0000 deg' in checked
    user = use()
    until(user.samples)
    np.testing.assert_allclose(user.all_samples[-1].strokes, drives.strokes_m, atol=1e-8)
    assert user.state is State.DISABLED
    assert user.changes[-1].homed
    assert re.match(r'started; height of the legs .0\.000 mm from home \(neutral\)', user.reason)
    user.end()
    moved = replace(drives, strokes_m=(*drives.strokes_m[:5], drives.strokes_m[5] - 0.01))
    save_rig(rig.file, replace(load_rig(rig.file), drives=moved))
    user = use()
    assert user.state is State.DISABLED
    assert not user.changes[-1].homed
    assert 'leg 6 stands +10.000 mm from where it was when it was calibrated on' in user.reason
    assert not user.client.request(Request.ENABLE, timeout=30.0)[0]
    user.end()
    parked = replace(moved, parked_counts=(0,) * 6)
    save_rig(rig.file, replace(load_rig(rig.file), drives=parked))
    user = use()
    assert user.state is State.DISABLED
    assert user.changes[-1].homed
    assert 'not verified here: leg 6 stands +10.000 mm from home (neutral)' in user.reason


def test_where_the_drives_are_left_is_kept_and_a_lost_turn_refused_until_home(
    rig: Any, use: Callable[..., User]
) -> None:
    user = use(**SLOW, supervision=CALM_SUPERVISION)
    user.move()
    user.silence()
    user.client.quick_stop()
    until(lambda: user.state is State.DISABLED)
    user.end()
    drives = load_rig(rig.file).drives
    assert drives is not None
    assert drives.parked_counts == pytest.approx(rig.seen['positions'], abs=50)

    user = use(**SLOW)
    assert user.state is State.DISABLED
    assert user.changes[-1].homed
    user.end()
    left = drives.parked_counts
    turned = replace(drives, parked_counts=(*left[:3], left[3] - 2**23, *left[4:]))
    save_rig(rig.file, replace(load_rig(rig.file), drives=turned))
    user = use(**SLOW)
    assert user.state is State.DISABLED
    assert not user.changes[-1].homed
    assert 'leg 4 stands +10.000 mm from where it was when its drive was last' in user.reason
    accepted, why = user.client.request(Request.HOME)
    assert not accepted
    assert 'mm from home, allowed are 2 mm' in why
    at_home = replace(turned, strokes_m=tuple(float(x) for x in rig.strokes))
    user.end()
    save_rig(rig.file, replace(load_rig(rig.file), drives=at_home))
    user = use(**SLOW)
    accepted, why = user.client.request(Request.HOME)
    assert accepted, why
    until(lambda: user.state is State.DISABLED and user.changes[-1].homed)
    user.enable()


def test_drives_stop_and_hold_after_the_cyclic_process_was_killed(
    rig: Any, use: Callable[..., User]
) -> None:
    """The watchdogs of the drives judge, each by the frames that it has had, or not."""
    user = use(**SLOW, supervision=CALM_SUPERVISION)
    user.enable()
    user.wave()
    # By the drives themselves: on a busy machine the cycle may find the path late, and end it.
    until(lambda: max(map(abs, rig.seen['velocities'])) > 1e-3 * COUNTS_PER_METRE)
    before = rig.seen['drive_states']

    os.kill(user.client.pid, signal.SIGKILL)
    until(lambda: not user.client.alive)
    frames = rig.seen['frames']
    until(lambda: set(rig.seen['drive_states']) == {'QUICK_STOP_ACTIVE'})
    until(lambda: not any(rig.seen['velocities']))

    assert set(before) == {'OPERATION_ENABLED'}, user.reason
    after = rig.seen
    assert after['frames'] == frames
    assert set(after['error_codes']) == {0}
    assert set(after['al_states']) == {'SAFEOP'}
    assert 'was killed by signal 9' in user.client.exit_reason()


def test_nothing_survives_a_killed_parent_and_the_drives_are_off(rig: Any) -> None:
    options = {**SLOW, 'namespace': rig.namespace, 'rig_file': str(rig.file)}
    with subprocess.Popen(
        [sys.executable, '-c', PARENT, json.dumps(options)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        until(lambda: rig.seen['drive_states'] == ['OPERATION_ENABLED'] * 6)
        parent.kill()

    until(lambda: not Path(f'/proc/{pid}').exists())
    until(lambda: rig.seen['drive_states'] == ['SWITCH_ON_DISABLED'] * 6)
    until(lambda: set(rig.seen['al_states']) == {'INIT'})
