# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
import gc
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('context')]
rclpy = pytest.importorskip('rclpy')

from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter import Parameter
from stewart_node_support.errors import StartUpError
from stewart_node_support.lifecycle import bring_up, state_of, transition
from stewart_node_support.only_here import only_here
from stewart_node_support.running import spin
from stewart_node_support.stop_signals import StopSignals

TINY = Path(__file__).parent / 'tiny_nodes.py'
ACTIVE = ['--ros-args', '-p', 'autostart:=true']


def start(*arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    process = subprocess.Popen(
        [sys.executable, str(TINY), *arguments],
        env={**os.environ, 'PYTHONPATH': path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == 'listening\n'
    return process


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, error = process.communicate(timeout=90)
    finally:
        process.kill()
    return process.returncode, out, error


def signalled(number: signal.Signals, delay: float, times: int) -> tuple[int, str, str]:
    process = start('Managed', *ACTIVE)
    time.sleep(delay)
    for _ in range(times):
        process.send_signal(number)
    return finish(process)


def time_to_active() -> float:
    """Return how long this machine takes to bring a node up [s]; end it as soon as it is."""
    process = start('Managed', *ACTIVE)
    begin = time.monotonic()
    assert process.stdout is not None
    assert process.stdout.readline() == 'configured\n'
    assert process.stdout.readline() == 'active\n'
    took = time.monotonic() - begin
    process.send_signal(signal.SIGTERM)
    assert finish(process) == (0, 'safe\nclean\ndestroyed\n', '')
    return took


@pytest.mark.parametrize('times', [2, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    'number',
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)],
    ids=lambda number: number.name,
)
def test_signal_at_any_moment_ends_with_code_0(number: signal.Signals, times: int) -> None:
    rng = random.Random(int(number))
    # The last ones come when the node is up.
    step = 2.0 * time_to_active() / times
    moments = [rng.uniform(step * i, step * (i + 1)) for i in range(times)]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda i: signalled(number, moments[i], 1 + i % 3), range(times)))

    assert [code for code, _, _ in runs] == [0] * times, [error for _, _, error in runs if error]
    # Whoever got as far as active was made safe, cleaned up and destroyed, in this order.
    for _, out, _ in runs:
        assert out.split() in (
            [],
            ['destroyed'],
            ['configured', 'active', 'safe', 'clean', 'destroyed'],
        )


def test_signal_in_the_middle_of_spinning_ends_a_plain_node() -> None:
    process = start('Plain')
    assert process.stdout is not None
    assert process.stdout.readline() == 'ready\n'
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)

    assert finish(process) == (0, '', '')


@pytest.mark.parametrize(
    ('arguments', 'sentence'),
    [
        (['Misconfigured'], 'parameter rate: expected a decimal number of at least 1, got -1.0'),
        (['Refusing', *ACTIVE], 'managed did not configure: parameter port: expected a text'),
        (['Ending', *ACTIVE], 'parameter start_offset: expected less than 5, got 60'),
    ],
)
def test_what_the_user_can_change_is_one_sentence_and_code_1(
    arguments: list[str], sentence: str
) -> None:
    code, _, error = finish(start(*arguments))

    assert code == 1
    assert sentence in error.splitlines()[-1]
    assert 'Traceback' not in error


def test_who_has_to_be_alone_is_refused_where_another_one_is() -> None:
    with only_here('/deck'):
        here = finish(start('Alone', *ACTIVE, '-r', '__ns:=/deck'))
    # It went away without having touched anything.
    assert here[:2] == (1, 'destroyed\n')
    assert 'another rig runs in the namespace /deck already' in here[2].splitlines()[-1]
    process = start('Alone', *ACTIVE)
    assert process.stdout is not None
    assert process.stdout.readline() == 'configured\n'
    with pytest.raises(StartUpError, match='another rig'), only_here('/'):
        pass
    process.send_signal(signal.SIGTERM)
    assert finish(process)[0] == 0


def test_bug_in_start_up_keeps_its_traceback() -> None:
    code, _, error = finish(start('Broken'))

    assert code == 1
    assert 'Traceback' in error
    assert "KeyError: 'a bug'" in error


def test_bug_while_spinning_still_makes_hardware_safe() -> None:
    code, out, error = finish(start('Crashing', *ACTIVE))

    assert code == 1
    assert "KeyError: 'a bug'" in error
    assert out.split() == ['configured', 'active', 'safe', 'clean', 'destroyed']


class Recorded(LifecycleNode):
    def __init__(self, name: str, log: list[str], **kwargs: object) -> None:
        super().__init__(name, **kwargs)
        self.log = log

    @transition
    def on_deactivate(self, _: object) -> None:
        self.log.append(f'{self.get_name()} safe')

    def destroy_node(self) -> None:
        self.log.append(f'{self.get_name()} destroyed')
        super().destroy_node()


class Buggy(LifecycleNode):
    @transition
    def on_configure(self, _: object) -> None:
        raise KeyError('a bug')


def test_task_runs_beside_the_nodes_and_ends_the_spin() -> None:
    log: list[str] = []
    autostart = [Parameter('autostart', value=True)]
    nodes = [
        Recorded('first', log, parameter_overrides=autostart),
        Recorded('second', log, parameter_overrides=autostart),
        Recorded('third', log),
    ]
    ticks: list[int] = []
    enough = rclpy.task.Future()

    def tick() -> None:
        ticks.append(len(ticks))
        if len(ticks) == 5:
            # On a busy machine the next tick would be due before the task goes on.
            timer.cancel()
            enough.set_result('enough')

    timer = nodes[0].create_timer(0.01, tick)

    async def work() -> str:
        return await enough

    assert spin(nodes, task=work) == 'enough'
    assert len(ticks) == 5
    assert log == [
        'third destroyed',
        'second safe',
        'second destroyed',
        'first safe',
        'first destroyed',
    ]


def test_objects_of_the_start_up_are_left_alone_by_the_collector_while_spinning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As in a process of its own; here pytest keeps the collector away.
    monkeypatch.setattr('stewart_tables.short_collections._kept', False)
    frozen: list[int] = []

    async def work() -> None:
        frozen.append(gc.get_freeze_count())

    gc.unfreeze()
    spin([Node('idle')], task=work)

    assert frozen[0] > 10_000
    assert gc.get_freeze_count() == 0
    gc.freeze()


def test_error_of_the_task_is_raised_after_the_nodes_were_taken_down() -> None:
    log: list[str] = []

    async def work() -> None:
        raise RuntimeError('no such wave')

    with pytest.raises(RuntimeError, match='no such wave'):
        spin([Recorded('only', log)], task=work)
    assert log == ['only destroyed']


def test_request_from_another_thread_ends_the_spin_at_once() -> None:
    stop = StopSignals()
    timer = threading.Timer(0.1, stop.request)
    node = Node('idle')
    # Would wake the executor, too, but later than this test may last.
    node.create_timer(1000.0, stop.request)
    begin = time.monotonic()
    timer.start()
    spin([node], stop=stop)
    timer.join()

    assert time.monotonic() - begin >= 0.1


def test_a_node_that_outlives_others_is_waited_for() -> None:
    class Patient(Node):
        turns, may_end = 0, False

        def turn(self) -> None:
            stop.request()
            self.turns += 1
            self.may_end = self.turns == 3

    stop, node = StopSignals(), Patient('patient')
    node.create_timer(0.01, node.turn)
    spin([node, Node('idle')], stop=stop)

    assert node.turns == 3


def test_handlers_are_put_back_after_a_spin() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    node = Node('idle')
    # Not a thread's: before it spins, the signal would end this process.
    node.create_timer(0.01, lambda: os.kill(os.getpid(), signal.SIGTERM))
    spin([node])

    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_autostart_is_off_unless_asked_for() -> None:
    node = Recorded('patient', [])
    states: list[str] = []

    async def work() -> None:
        states.append(state_of(node))

    spin([node], task=work)
    assert states == ['unconfigured']


def test_bring_up_tells_what_the_callback_raised() -> None:
    node = Buggy('buggy')
    with pytest.raises(StartUpError, match="buggy did not configure: 'a bug'"):
        bring_up(node)
    node.destroy_node()


@pytest.mark.parametrize('fails', [False, True])
def test_a_stop_while_nodes_come_up_ends_that_at_once(fails: bool) -> None:
    """A bus that takes half a minute to start is not followed by all other nodes."""
    stop, done = StopSignals(), []

    class Slow(LifecycleNode):
        @transition
        def on_configure(self, _: object) -> None:
            done.append(f'{self.get_name()} configured')
            stop.request()
            if fails:
                raise StartUpError('no frame came back')

        @transition
        def on_activate(self, _: object) -> None:
            done.append(f'{self.get_name()} active')

    overrides = [Parameter('autostart', value=True)]
    nodes = [Slow(name, parameter_overrides=overrides) for name in ('driver', 'imu')]
    assert spin(nodes, stop=stop) is None
    assert done == ['driver configured']
