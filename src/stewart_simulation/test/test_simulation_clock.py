# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who owns simulated time can pause it and step it; its factor is kept by the machine's clock."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
import os
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from node_harness import Harness
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_system_default
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger
from stewart_node_support.executor import make_executor
from stewart_node_support.running import spin
from stewart_node_support.stamps import to_nanoseconds
from stewart_node_support.stop_signals import StopSignals
from stewart_simulation.nodes.simulation_clock import SimulatedPace, SimulationClock

pytestmark = pytest.mark.ros

MS = 1_000_000
STEP_NS = 5 * MS


class Walker(Node):
    """Count periods of simulated time and talk to the clock, as a rig in one process would."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('walker', **kwargs)
        self.ticks: list[int] = []
        self.told: list[int] = []
        self.create_timer(0.01, lambda: self.ticks.append(self.now))
        self.create_subscription(
            Clock,
            '/clock',
            lambda message: self.told.append(to_nanoseconds(message.clock)),
            qos_profile_system_default,
        )
        self.pausing = self.create_client(SetBool, 'simulation/pause')
        self.stepping = self.create_client(Trigger, 'simulation/step')

    @property
    def now(self) -> int:
        return int(self.get_clock().now().nanoseconds)


def walk(
    speed: float,
    task: Callable[[Walker], Coroutine[Any, Any, Any]],
    asked: StopSignals | None = None,
) -> Walker:
    """Spin a walker at a pace until its task is done."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        clock = SimulationClock(parameter_overrides=[Parameter('speed', value=speed)])
        walker = Walker()
        spin(
            [walker, clock],
            task=partial(task, walker),
            stop=StopSignals(),
            pace=SimulatedPace(clock, asked),
        )
    finally:
        rclpy.try_shutdown()
    return walker


async def passed(walker: Walker, seconds: float) -> None:
    """Let simulated time pass."""
    future: Any = rclpy.task.Future()
    timer = walker.create_timer(seconds, lambda: future.set_result(None))
    await future
    walker.destroy_timer(timer)


@pytest.mark.parametrize('speed', [2.0, 20.0])
def test_time_passes_no_faster_than_asked_for(speed: float) -> None:
    lasted = []

    async def task(walker: Walker) -> None:
        begin = time.monotonic()
        await passed(walker, 0.4 * speed)
        lasted.append(time.monotonic() - begin)

    walk(speed, task)
    # A busy machine takes longer; how much it may is nobody's promise.
    assert lasted[0] > 0.38


def test_every_tick_of_every_node_is_on_time_however_fast() -> None:
    walker = walk(0.0, partial(passed, seconds=5.0))

    assert len(walker.ticks) >= 499
    assert set(np.diff(walker.ticks)) == {10 * MS}
    assert set(np.diff(walker.told)) == {STEP_NS}


@pytest.mark.parametrize('speed', [0.0, 5.0])
def test_paused_time_stands_still_and_goes_on_by_single_steps(speed: float) -> None:
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    clock = SimulationClock(parameter_overrides=[Parameter('speed', value=speed)])
    walker = Walker()
    pace, executor = SimulatedPace(clock), make_executor()
    for node in (walker, clock):
        executor.add_node(node)
    pace.begin([walker, clock])

    def asked(client: Any, **request: Any) -> Any:
        while not client.service_is_ready():
            pace.turn(executor)
        future = client.call_async(client.srv_type.Request(**request))
        while not future.done():
            pace.turn(executor)
        return future.result()

    try:
        early = asked(walker.stepping)
        assert not early.success
        assert 'simulation/pause first' in early.message
        assert asked(walker.pausing, data=True).message == 'time stands still'
        still, ticks = walker.now, len(walker.ticks)
        for _ in range(5):
            pace.turn(executor)
        assert walker.now == still
        for number in range(1, 5):
            assert asked(walker.stepping).success
            while clock.owed_ns:
                pace.turn(executor)
            pace.turn(executor)
            assert walker.now == still + number * STEP_NS
        # Two periods of 10 ms in four steps of 5 ms, whatever their phase.
        assert len(walker.ticks) == ticks + 2
        assert asked(walker.pausing, data=False).message == 'time goes on'
        for _ in range(40):
            pace.turn(executor)
        assert walker.now > still + 5 * STEP_NS
        assert set(np.diff(walker.ticks)) == {10 * MS}
    finally:
        for node in (walker, clock):
            node.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()


def test_a_request_to_stop_ends_a_pause() -> None:
    """Whoever brings the platform to rest waits on simulated time."""
    asked = StopSignals()

    async def task(walker: Walker) -> None:
        while not walker.pausing.service_is_ready():
            await passed(walker, 0.01)
        await walker.pausing.call_async(SetBool.Request(data=True))
        still = walker.now
        threading.Timer(0.1, asked.request).start()
        await passed(walker, 0.5)
        assert walker.now >= still + 500 * MS

    walk(5.0, task, asked)


def test_executable_publishes_a_clock_that_others_obey() -> None:
    command = (
        'from stewart_node_support.running import run\n'
        'from stewart_simulation.nodes.simulation_clock import SimulationClock\n'
        'run(SimulationClock)',
        *('--ros-args', '-p', 'speed:=5.0', '-p', 'step:=0.002'),
    )
    with Harness(real=True) as harness:
        told = harness.listen(Clock, '/clock', qos_profile_system_default)
        follower = harness.add(Walker, use_sim_time=True)
        with subprocess.Popen(
            [sys.executable, '-c', *command],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        ) as process:
            harness.until(lambda: len(told) > 100, 60.0)
            harness.until(lambda: len(follower.ticks) > 10, 60.0)
            assert harness.call(SetBool, 'simulation/pause', SetBool.Request(data=True)).success

            def quiet() -> bool:
                # What was told before the pause may still be under way.
                count = len(told)
                harness.spin(0.2)
                return len(told) == count

            harness.until(quiet, 60.0)
            count = len(told)
            assert harness.call(Trigger, 'simulation/step').success
            harness.until(lambda: len(told) > count, 60.0)
            process.terminate()
            assert process.wait(60.0) == 0

    stamps = [to_nanoseconds(message.clock) for message in told]
    assert min(np.diff(stamps)) > 0
    assert stamps[count] == stamps[count - 1] + 2 * MS
    assert {stamp % (2 * MS) for stamp in stamps} == {0}
    assert all(tick <= stamps[-1] for tick in follower.ticks)
