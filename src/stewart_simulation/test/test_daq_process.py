# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``daq`` in its process, on a rig in another one: what is left after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import signal
import time
from typing import Any

from card_bench import BRAKES, teaching_rig
import numpy as np
import pytest
from stewart_driver.control.configuration import CycleConfiguration, InterpolationSettings
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.control.state_machine import Request, State
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.options import DaqOptions
from stewart_driver.errors import CycleError
from stewart_driver.path.motion import LegMotion
from stewart_driver.rig_file import load_rig
from stewart_simulation.control import ControlClient
from stewart_simulation.daq_card.analog_rig import Mode
from stewart_simulation.rig.launcher import RigProcess

pytestmark = pytest.mark.installed

# Other tests may hold these processes up.
PATIENT = InterpolationSettings(playout_delay=0.1, extrapolation_time=0.2)
RATE = 0.01
STEP = 0.005


@pytest.fixture(params=list(Mode), ids=lambda mode: mode.value, scope='module')
def rig(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RigProcess]:
    # The tests share it, so what is off between them has to stay where it is.
    settings = teaching_rig(request.param, **BRAKES)
    with RigProcess(settings, tmp_path_factory.mktemp('rig') / 'd') as process:
        yield process


@pytest.fixture
def control(rig: RigProcess) -> Iterator[ControlClient]:
    with rig.control() as client:
        client.call('card.mend')
        yield client


def backend_for(rig: RigProcess, longest_call: float) -> DaqBackend:
    found = load_rig(rig.ends['rig_file']).daq
    assert found is not None
    return DaqBackend(
        DaqOptions(
            card='simulated',
            device=rig.ends['card'],
            rig_file=rig.ends['rig_file'],
            mode=found.mode,
            enable_channel=0,
            longest_call=longest_call,
            rate=0.045,
            # What this patience needs; who watches for standstills is not here.
            largest_runaway=5.0,
        )
    )


def mode_of(backend: DaqBackend) -> str:
    return backend.details['amplifiers take']


class Session:
    """A cyclic process on the rig, enabled, and a ramp to play."""

    def __init__(self, backend: DaqBackend) -> None:
        self.backend = backend
        configuration = CycleConfiguration(backend.limits, PATIENT)
        self.client = CycleClient(backend, configuration, timeout=90.0)
        self.changes: list[tuple[State, str]] = []
        self.strokes = np.zeros(6)

    def look(self) -> tuple[State, str]:
        self.changes += [(item.state, item.reason) for item in self.client.state_changes()]
        for sample in self.client.samples():
            self.strokes = sample.strokes
        return self.changes[-1] if self.changes else (State.DISABLED, '')

    def until(self, condition: Callable[[], bool], timeout: float = 60.0) -> None:
        limit = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < limit, self.changes
            time.sleep(2e-3)

    def enable(self) -> None:
        # Nothing is enabled before the drives were measured.
        self.until(lambda: bool(self.look() and self.strokes.any()))
        accepted, said = self.client.request(Request.ENABLE, timeout=30.0)
        assert accepted, said
        self.until(lambda: self.look()[0] is State.ENABLED)

    def ramp(self, distance: float, upto: Callable[[], bool] = lambda: False) -> None:
        """Move all legs, slowly at first, until the distance is covered or a condition holds."""
        begin, start = time.monotonic(), self.strokes.copy()
        for number in range(int(distance / RATE / STEP)):
            ahead = number * STEP
            # From rest to RATE within 0.2 s.
            gone = min(ahead, 0.2) ** 2 / 0.4 + max(ahead - 0.2, 0.0)
            rate = RATE * min(ahead / 0.2, 1.0)
            self.client.offer(
                LegMotion(begin + ahead, start + RATE * gone, np.full(6, rate), np.zeros(6))
            )
            while time.monotonic() < begin + ahead + STEP:
                if upto():
                    return
                time.sleep(1e-3)
            self.look()


@pytest.fixture
def sessions(rig: RigProcess, control: ControlClient) -> Iterator[Callable[..., Session]]:
    """Make sessions; what a test that fails leaves of them does not keep the card in use."""
    made: list[Session] = []

    def make(longest_call: float = 5.0) -> Session:
        made.append(Session(backend_for(rig, longest_call)))
        return made[-1]

    yield make
    for session in made:
        if session.client.alive:
            os.kill(session.client.pid, signal.SIGKILL)
            session.until(lambda left=session: not left.client.alive)
            control.call('card.mend')
            session.backend.rescue()


def powered(control: ControlClient) -> bool:
    return bool(control.call('observe')['card']['digital_outputs'][0])


def given(control: ControlClient, backend: DaqBackend) -> float:
    """Return the least of what the volts are to the amplifiers [m] or [m/s]."""
    found = load_rig(backend._options.rig_file).daq
    assert found is not None
    volts = control.call('observe')['card']['outputs_v']
    outputs = zip(volts, found.outputs, strict=True)
    return min(item.gain_m_per_v * volt + item.offset_m for volt, item in outputs)


def settled(control: ControlClient, backend: DaqBackend) -> None:
    """Outputs hold, or are at rate zero; the amplifiers are off."""
    card = control.call('observe')['card']
    assert card['digital_outputs'] == [False] * 4
    if mode_of(backend) == 'velocity':
        found = load_rig(backend._options.rig_file).daq
        assert found is not None
        zeros = [-item.offset_m / item.gain_m_per_v for item in found.outputs]
        assert card['outputs_v'] == pytest.approx(zeros, abs=1e-3)


# test_daq_backend.py has the end of both modes, with and without a card, in simulated time.
POSITION_FIRST = pytest.mark.parametrize(
    'rig',
    [Mode.POSITION, pytest.param(Mode.VELOCITY, marks=pytest.mark.slow)],
    ids=lambda mode: mode.value,
    indirect=True,
    scope='module',
)


@POSITION_FIRST
@pytest.mark.parametrize('how', [pytest.param('end', marks=pytest.mark.slow), 'terminate'])
def test_outputs_are_safe_after_every_orderly_end(
    control: ControlClient, sessions: Callable[..., Session], how: str
) -> None:
    session = sessions()
    session.enable()
    assert powered(control)

    if how == 'end':
        session.client.end(60.0)
    else:
        os.kill(session.client.pid, signal.SIGTERM)
        session.until(lambda: not session.client.alive)

    settled(control, session.backend)


def test_killed_process_leaves_its_last_volts_and_the_rescue_ends_that(
    rig: RigProcess, control: ControlClient, sessions: Callable[..., Session]
) -> None:
    session = sessions()
    session.enable()
    truth = rig.truth()

    def caught_in_motion() -> bool:
        """Stop the process; let it go on if it has brought the legs to rest just before."""
        if truth.read().rates.min() < 0.5 * RATE:
            return False
        os.kill(session.client.pid, signal.SIGSTOP)
        status = Path(f'/proc/{session.client.pid}/status')
        session.until(lambda: 'T (stopped)' in status.read_text())
        if mode_of(session.backend) == 'position' or given(control, session.backend) > 0.5 * RATE:
            caught.append(True)
            return True
        os.kill(session.client.pid, signal.SIGCONT)
        return False

    caught: list[bool] = []

    def ramp_again() -> bool:
        session.ramp(0.008, caught_in_motion)
        if not caught:
            # What stood still for too long has given its path up: another begins where it is.
            session.until(lambda: np.abs(truth.read().rates).max() < 1e-4)
            session.look()
        return bool(caught)

    session.until(ramp_again)
    os.kill(session.client.pid, signal.SIGKILL)
    session.until(lambda: not session.client.alive)

    # No watchdog: the volts stay, and in velocity mode the legs go on.
    first = control.call('observe')['card']
    before = truth.read()
    session.until(lambda: truth.read().stamp > before.stamp + 0.3)
    moved = 1e3 * float(np.abs(truth.read().strokes - before.strokes).max())
    assert control.call('observe')['card'] == first
    said = session.backend.rescue()

    mode = mode_of(session.backend)
    print(f'\n{mode}: moved {moved:.2f} mm in 0.3 s after the kill; {said}')
    assert moved > 1.0 if mode == 'velocity' else moved < 1.0
    settled(control, session.backend)


# test_daq_backend.py breaks the card in both modes, in simulated time.
@POSITION_FIRST
@pytest.mark.parametrize(
    ('fault', 'arguments', 'words', 'holds'),
    [
        ('card.remove', {}, 'failed: No such device', False),
        # As long as a call may be; a machine that stands still makes each one slow.
        ('card.slow', {'seconds': 0.99}, 'allowed are 950 ms', False),
        ('card.saturate', {'leg': 2}, 'position sensor of leg 2: +10.0000 V is at the end', True),
    ],
)
def test_fault_of_the_card_ends_in_fault_and_is_told(
    rig: RigProcess,
    control: ControlClient,
    sessions: Callable[..., Session],
    fault: str,
    arguments: dict[str, Any],
    words: str,
    holds: bool,
) -> None:
    session = sessions(0.95) if fault == 'card.slow' else sessions()
    session.enable()

    control.call(fault, **arguments)
    session.until(lambda: session.look()[0] is State.FAULT)

    assert words in session.look()[1]
    control.call('card.mend')
    if holds:
        # The other legs are healthy, and stay under power through the reset.
        assert powered(control)
        session.until(lambda: session.client.request(Request.RESET_FAULT)[0])
        assert powered(control)
        session.until(lambda: session.look()[0] is State.ENABLED)
        assert powered(control)
        assert [state for state, _ in session.changes[-2:]] == [State.ENABLING, State.ENABLED]
        assert session.client.request(Request.DISABLE, timeout=30.0)[0]
        session.until(lambda: session.look()[0] is State.DISABLED)
        # It is told at the beginning of the cycle that switches off.
        session.until(lambda: not powered(control))
    else:
        session.until(lambda: session.client.request(Request.RESET_FAULT)[0])
    settled(control, session.backend)
    session.client.end(60.0)


@POSITION_FIRST
def test_end_without_the_card_says_in_a_sentence_what_is_not_safe(
    rig: RigProcess,
    control: ControlClient,
    sessions: Callable[..., Session],
    capfd: pytest.CaptureFixture[str],
) -> None:
    session = sessions()
    session.enable()

    control.call('card.remove')
    with pytest.raises(CycleError) as ended:
        session.client.end(60.0)

    assert str(ended.value) == (
        f'the cyclic process ended with code 1: analogue card {rig.ends["card"]}: '
        'the outputs may not be safe: setting six outputs failed: No such device; '
        'switching the amplifiers failed: No such device'
    )
    assert 'Traceback' not in capfd.readouterr().err
    # Nothing is left locked: once the card is there again, its outputs are made safe from here.
    control.call('card.mend')
    session.backend.rescue()
    settled(control, session.backend)
