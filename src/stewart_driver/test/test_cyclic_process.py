# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The cyclic process starts fast, dies with its parent, and is missed when it dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
import gc
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from cycle_rig import Rig
from loopback import LoopbackBackend, LoopbackOptions, Trouble
import numpy as np
import pytest
from stewart_driver.control import cycle_client
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.control.cycle_client import CycleClient, Waiting
from stewart_driver.control.cycle_link import Sample
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import CycleError
from stewart_driver.path.interpolation import LONGEST_PAUSE
from stewart_driver.path.motion import LegMotion

SPEEDS = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])
START = np.full(6, 0.3)

PARENT = """
import sys, time
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle_client import CycleClient
from loopback import LoopbackBackend, LoopbackOptions
backend = LoopbackBackend(LoopbackOptions())
client = CycleClient(backend, CycleConfiguration(backend.limits), timeout=90.0)
print(client.pid, flush=True)
time.sleep(600)
"""

PATIENT = InterpolationSettings(playout_delay=0.1, extrapolation_time=0.2)
# Nor about cycles that were missed.
SUPERVISION = SupervisionSettings(command_timeout=4.0, overrun_share=1.0)

Start = Callable[..., CycleClient]
# Ends a test that hangs [s].
LIMIT = 60.0
# A request passes so many sleeps, on both sides.
SLEEPS = 5


@pytest.fixture
def start() -> Iterator[Start]:
    """Start cyclic processes and leave none behind."""
    clients = []

    def make(
        trouble: Trouble = Trouble.NONE, after: float = 0.0, priority: int = 0
    ) -> CycleClient:
        backend = LoopbackBackend(LoopbackOptions(trouble=trouble.value, trouble_after=after))
        # This machine may be busy with other things: nothing here is about 60 ms of silence.
        configuration = CycleConfiguration(
            backend.limits, PATIENT, SUPERVISION, realtime_priority=priority
        )
        clients.append(CycleClient(backend, configuration, timeout=90.0))
        return clients[-1]

    yield make
    for client in clients:
        with suppress(CycleError):
            client.end()


@pytest.fixture(scope='module')
def idle() -> Iterator[CycleClient]:
    """One for those who only look at it; the last of them kills it."""
    backend = LoopbackBackend(LoopbackOptions())
    client = CycleClient(backend, CycleConfiguration(backend.limits), timeout=90.0)
    yield client
    with suppress(CycleError):
        client.end()


def exists(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        with open(f'/proc/{pid}/stat') as stat:
            return stat.read().rsplit(')', 1)[1].split()[0] != 'Z'
    return False


def stop(pid: int) -> None:
    """Stop a process; it has run its last instruction when this returns."""
    os.kill(pid, signal.SIGSTOP)
    stat = Path(f'/proc/{pid}/stat')
    assert wait_for(lambda: stat.read_text().rsplit(')', 1)[1].split()[0] == 'T')


def wait_for(condition: Callable[[], bool], timeout: float = LIMIT) -> bool:
    limit = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.002)
    return True


def drive(client: CycleClient, duration: float) -> list[Sample]:
    """Enable, then speed all legs up for a second and on, in real time."""
    assert client.request(Request.ENABLE, timeout=LIMIT)[0]
    time.sleep(0.02)
    begin, samples, count = time.monotonic(), [], 0
    while (now := time.monotonic() - begin) < duration:
        rise = min(now, 1.0)
        strokes = START + SPEEDS * (0.5 * rise**2 + max(now - 1.0, 0.0))
        client.offer(LegMotion(begin + now, strokes, SPEEDS * rise))
        samples += client.samples()
        count += 1
        time.sleep(max(begin + 0.005 * count - time.monotonic(), 0.0))
    return samples


def states(client: CycleClient) -> list[State]:
    return [change.state for change in client.state_changes()]


def test_the_process_starts_with_a_second_and_a_half_of_work_and_loads_no_ros(
    idle: CycleClient,
) -> None:
    client = idle
    # Of the processor: how long it had to wait for it is not its fault.
    with open(f'/proc/{client.pid}/stat') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    assert (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK') < 1.5
    with open(f'/proc/{client.pid}/maps') as maps:
        loaded = maps.read()
    assert 'rclpy' not in loaded
    assert 'rmw' not in loaded
    assert 'llvmlite' not in loaded


@pytest.mark.skipif(sys.version_info < (3, 11), reason='Popen has no process_group before 3.11')
def test_it_takes_turns_with_its_session_and_hears_no_signal_of_the_terminal(
    idle: CycleClient,
) -> None:
    assert os.getsid(idle.pid) == os.getsid(0)
    assert os.getpgid(idle.pid) == idle.pid


def test_ctrl_c_of_the_terminal_is_left_to_the_node(idle: CycleClient) -> None:
    os.kill(idle.pid, signal.SIGINT)
    time.sleep(0.1)

    assert idle.alive


def test_a_killed_process_is_missed_with_a_sentence(idle: CycleClient) -> None:
    client, words = idle, 'killed by signal 9'
    os.kill(client.pid, signal.SIGKILL)

    assert wait_for(lambda: not client.alive)
    assert words in client.exit_reason()
    accepted, message = client.request(Request.ENABLE, timeout=LIMIT)
    assert not accepted
    assert words in message
    assert not client.quick_stop()[0]
    with pytest.raises(CycleError, match=words):
        client.end()


@pytest.mark.realtime
def test_the_legs_follow_and_stop_together_in_real_time(
    start: Start, lateness: Callable[[], float]
) -> None:
    client = start()
    samples = drive(client, 1.2)
    seen: list[State] = []

    def stopped() -> bool:
        seen.extend(states(client))
        return State.FAULT in seen or (State.STOPPING in seen and seen[-1] is State.ENABLED)

    assert wait_for(stopped)
    if State.FAULT in seen:
        # Then the machine stood still for longer than a path waits, and it had to be given up.
        assert lateness() > 0.9 * LONGEST_PAUSE
        return
    samples += client.samples()

    followed = [sample for sample in samples if sample.commanded_strokes is not None]
    travelled = (followed[-1].strokes - START) / SPEEDS
    assert travelled == pytest.approx(np.full(6, travelled[0]), rel=1e-9)
    assert travelled[0] > 0.4
    assert np.all(followed[-1].commanded_strokes == followed[-2].commanded_strokes)


@pytest.mark.realtime
def test_a_process_that_was_frozen_goes_on_from_rest(start: Start) -> None:
    client = start()
    assert client.request(Request.ENABLE, timeout=LIMIT)[0]
    samples: list[Sample] = []
    begin, frozen, count = time.monotonic(), False, 0
    while (now := time.monotonic() - begin) < 1.6:
        if now > 1.2 and not frozen:
            os.kill(client.pid, signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(client.pid, signal.SIGCONT)
            frozen = True
        # What the path needs while nobody can send comes before.
        while 0.005 * count < now + 0.2:
            time_ = 0.005 * count
            rise = min(time_, 1.0)
            strokes = START + 2.5 * SPEEDS * (0.5 * rise**2 + max(time_ - 1.0, 0.0))
            client.offer(LegMotion(begin + time_, strokes, 2.5 * SPEEDS * rise))
            count += 1
        samples += client.samples()
        time.sleep(0.005)

    followed = [sample for sample in samples if sample.commanded_strokes is not None]
    strokes = np.array([sample.commanded_strokes for sample in followed])
    # One after the other, as drives that hold see them.
    rates = np.diff(strokes, axis=0) / 0.002
    gaps = np.diff([sample.stamp for sample in followed])
    assert gaps.max() > 0.09
    after = int(gaps.argmax())
    assert np.abs(rates).max() < 0.3
    assert np.abs(rates[after]).max() <= 6.0 * 0.002 * (1 + 1e-6)


def test_a_gentle_stop_at_the_end_is_not_cut_off(start: Start) -> None:
    backend = LoopbackBackend(LoopbackOptions())
    configuration = CycleConfiguration(
        # 3 s from 0.1 m/s.
        backend.limits.narrowed(acceleration=0.1),
        PATIENT,
        SUPERVISION,
    )
    client = CycleClient(backend, configuration, timeout=90.0)
    samples = drive(client, 1.5)
    client.end(LIMIT)
    samples += client.samples()

    assert client.state_changes()[-1].state is State.DISABLED
    followed = [sample for sample in samples if sample.commanded_strokes is not None]
    assert np.all(followed[-1].commanded_strokes == followed[-2].commanded_strokes)


@pytest.mark.realtime
def test_a_quick_stop_is_seen_and_ends_disabled(
    start: Start, lateness: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    # How late this machine is, is judged below.
    monkeypatch.setattr(cycle_client, 'REPLY_TIMEOUT', LIMIT)
    client = start()
    drive(client, 0.5)
    begin = time.monotonic()
    seen, message = client.quick_stop()
    took = time.monotonic() - begin

    assert seen, message
    assert 'quick stop' in message
    assert took < 0.02 + SLEEPS * lateness()
    assert wait_for(lambda: State.DISABLED in states(client))


def test_the_process_is_gone_after_its_parent_was_killed() -> None:
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, '-c', PARENT], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert exists(child)
        parent.kill()
        parent.wait()
    assert wait_for(lambda: not exists(child))


def test_an_answer_counts_that_came_while_this_process_stood_still(start: Start) -> None:
    client, answer = start(), (True, 'done')

    # The limit is over before the first look.
    assert client._answer(lambda: answer, 0.0)() == answer
    client.kill()
    assert wait_for(lambda: not client.alive)
    assert client._answer(lambda: answer, LIMIT)() == answer


def test_a_terminated_process_stops_the_legs_first(start: Start) -> None:
    client = start()
    drive(client, 0.5)
    os.kill(client.pid, signal.SIGTERM)

    assert wait_for(lambda: not client.alive)
    seen = states(client)
    assert seen[-1] is State.DISABLED
    assert State.STOPPING in seen[-3:]


def test_ending_while_moving_stops_the_legs_first(start: Start) -> None:
    client = start()
    drive(client, 0.5)
    client.end(LIMIT)

    changes = client.state_changes()
    assert changes[-1].state is State.DISABLED
    assert State.STOPPING in [change.state for change in changes[-3:]]
    assert changes[-1].reason == 'the driver is being cleaned up'
    assert not client.alive


def test_a_bug_in_the_back_end_ends_the_process_with_its_reason(
    start: Start, capfd: pytest.CaptureFixture[str]
) -> None:
    client = start(Trouble.CRASH)
    client.request(Request.ENABLE, timeout=LIMIT)

    assert wait_for(lambda: not client.alive)
    assert client.exit_reason() == (
        'the cyclic process ended with code 1: RuntimeError: a bug in loopback'
    )
    assert 'Traceback' in capfd.readouterr().err


def test_a_back_end_that_cannot_be_opened_says_why(start: Start) -> None:
    with pytest.raises(CycleError, match=r'no drives answer on loopback, kept to 0\.6 m/s'):
        start(Trouble.NOT_OPENED)


def test_a_start_that_takes_too_long_is_an_error_and_leaves_no_process() -> None:
    backend = LoopbackBackend(LoopbackOptions())
    before = children()
    waiting = Waiting(type(backend))
    # It takes longer than this process may get no turn.
    stop(waiting.process.pid)
    with pytest.raises(CycleError, match=r'did not start within 0\.001 s'):
        CycleClient(backend, CycleConfiguration(backend.limits), 0.001, waiting)

    assert children() == before


def test_a_stopped_process_is_killed_in_the_end(start: Start) -> None:
    client = start()
    stop(client.pid)

    assert client.request(Request.ENABLE, timeout=0.05) == (
        False,
        'the cyclic process did not answer within 0.05 s',
    )
    with pytest.raises(CycleError, match='was killed'):
        client.end(timeout=0.1)
    assert not client.alive


def test_a_real_time_priority_is_taken_or_refused_but_never_dropped(start: Start) -> None:
    """And what a process that has it was not permitted beside is said."""
    refusal = ''
    try:
        client = start(priority=1)
    except CycleError as error:
        refusal = str(error)

    if refusal:
        assert 'realtime_priority: expected 0, -1, or the permission' in refusal
        return
    assert os.sched_getscheduler(client.pid) == os.SCHED_FIFO
    with open(f'/proc/{client.pid}/status') as status:
        locked = next(line for line in status if line.startswith('VmLck'))
    reason = client.state_changes()[0].reason

    assert (int(locked.split()[1]) > 0) is ('memory is not locked' not in reason)


def test_processors_are_taken_or_refused(start: Start) -> None:
    backend = LoopbackBackend(LoopbackOptions())
    mine = min(os.sched_getaffinity(0))
    client = CycleClient(
        backend, CycleConfiguration(backend.limits, cpu_affinity=(mine,)), timeout=90.0
    )
    assert os.sched_getaffinity(client.pid) == {mine}
    client.end(LIMIT)

    with pytest.raises(CycleError, match='cpu_affinity: expected processors out of'):
        CycleClient(
            backend, CycleConfiguration(backend.limits, cpu_affinity=(4095,)), timeout=90.0
        )


def test_a_loop_leaves_nothing_to_collect() -> None:
    """The collector is off while the loop runs."""
    rig = Rig().moving()
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        rig.run(1.0, rig.feed)
        assert gc.collect() < 10
    finally:
        if collecting:
            gc.enable()


@pytest.mark.realtime
def test_the_cycles_are_counted(start: Start, lateness: Callable[[], float]) -> None:
    client = start()
    before, begin = client.counters(), time.monotonic()
    time.sleep(0.5)
    counters, lasted = client.counters(), time.monotonic() - begin

    due = lasted / 0.002
    counted = counters.cycles + counters.overruns - before.cycles - before.overruns
    # Both instants may lie within a cycle that was late.
    assert counted == pytest.approx(due, abs=2 + 2 * lateness() / 0.002)
    assert counters.lateness.sum() == pytest.approx(counters.cycles, abs=3)
    assert counters.busy.sum() == pytest.approx(counters.cycles, abs=3)
    assert counters.busiest > 0.0
    assert counters.lost_samples == 0


def children() -> set[str]:
    with open(f'/proc/self/task/{os.getpid()}/children') as listing:
        return set(listing.read().split())


def test_a_process_is_not_killed_while_its_back_end_waits_for_legs_that_sink(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A segment of others: legs without brakes sank for 4 s, and nobody wrote down where to."""
    backend = LoopbackBackend(LoopbackOptions())
    backend.longest_closing = 20.0
    client = CycleClient(backend, CycleConfiguration(backend.limits), timeout=90.0)
    wait, granted = client._process.wait, []
    monkeypatch.setattr(
        client._process, 'wait', lambda timeout: (granted.append(timeout), wait(timeout))[1]
    )

    client.end()

    assert granted[0] > 20.0
