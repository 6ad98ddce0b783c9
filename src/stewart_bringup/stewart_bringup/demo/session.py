# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One scenario on a real graph in this process, recorded without a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from stewart_bringup.composition import compose_alone, Ledger, simulated_pace
from stewart_bringup.demo.machine import real_time
from stewart_bringup.demo.scenarios import Scenario
from stewart_bringup.nodes.wave_operator import operator_of, WaveOperator
from stewart_bringup.rigs import config_file
from stewart_node_support.lifecycle import state_of
from stewart_node_support.only_here import only_here
from stewart_node_support.running import middleware, spin
from stewart_node_support.stop_signals import StopSignals

# Those of `rigs.OPTIONAL` only where the rig's file has a section for them.
CHAIN = (
    'virtual_rig',
    'driver',
    'imu',
    'inverse_kinematics',
    'feed_forward',
    'forward_kinematics',
    'state_estimator',
)
LOCK_STEP = 'none: simulated time, in lock-step'
WATCH_PERIOD = 0.1
SETTLE_TIME = 3.0

Watch = Callable[[str, float], None]


@dataclass(frozen=True)
class Played:
    """What the process knows of a scenario that is not in the bag.

    Attributes:
        published: Messages by topic, from the publishers' own counters, read after the last node
            was down.
        simulated, backend: What the driver said: whether no metal moved, name of the back end.
        scheduling: What the scheduler did with the rig.
    """

    scenario: Scenario
    published: dict[str, int]
    simulated: bool
    backend: str
    scheduling: str


def play(scenario: Scenario, bag: Path, watch: Watch, stop: StopSignals) -> Played | None:
    """Play one scenario and record it; None if it was cut off by a request to stop.

    Args:
        bag: Where to record; must not exist.
        watch: Told the present phase and how long the wave has been played [s], ten times a
            second.
        stop: A request to stop brings the platform to rest, switches it off and closes the bag.

    Raises:
        RequestRefused: If the driver or the trajectory node refuses; the platform was brought to
            rest.
        StartUpError, ParameterError: If a node cannot be brought up, or another rig runs in this
            domain: what is asked here would reach it, too.
    """
    wave = scenario.wave
    files = [config_file('rig', scenario.rig), config_file('wave', wave.name)]
    # The name of a socket in the folder has to be short, whatever the bag is called. What the
    # nodes say in passing would tear the progress line apart.
    with (
        TemporaryDirectory(prefix='demo-') as folder,
        middleware(['--ros-args', '--log-level', 'warn']),
        only_here(''),
    ):
        overrides: dict[str, dict[str, object]] = {
            'virtual_rig': {'directory': f'{folder}/rig'},
            **scenario.overrides(),
        }
        nodes = compose_alone(
            files,
            names=(*CHAIN, wave.node),
            overrides=overrides,
            record=bag,
            lean=True,
            simulated=scenario.simulated,
        )
        ledger = Ledger(nodes)
        operator = operator_of(files, scenario.duration, stop)
        operator.create_timer(WATCH_PERIOD, lambda: watch(operator.phase, operator.played))

        async def work() -> bool:
            finished = await operator.play()
            operator.phase = 'closing the bag'
            watch(operator.phase, 0.0)
            fall_silent(nodes)
            # In simulated time the recorder has all that was published, and its thread, which
            # writes in real time, is waited for when the node is taken down.
            if not scenario.simulated:
                await _settle(nodes[0], ledger, operator)
            return finished

        # It is the operator that heeds the request: the way to rest belongs into the bag.
        # The middleware has its threads by now: with this priority one that polls would starve
        # the machine. The threads that nodes start in here inherit it.
        pace = simulated_pace(nodes, scenario.speed, stop) if scenario.simulated else None
        with nullcontext(LOCK_STEP) if scenario.simulated else real_time() as scheduling:
            finished = spin([*nodes, operator], task=work, stop=StopSignals(), pace=pace)
    if not finished:
        return None
    said = operator.driver_state
    return Played(scenario, ledger.counts(), said.simulated, said.backend, scheduling)


def fall_silent(nodes: Sequence[Node]) -> None:
    """Take the lifecycle nodes down, the last one first, so that nothing is published any more."""
    for node in reversed(nodes):
        if isinstance(node, LifecycleNode) and state_of(node) == 'active':
            node.trigger_deactivate()
            node.trigger_cleanup()


async def _settle(recorder: Any, ledger: Ledger, operator: WaveOperator) -> None:
    """Wait until the recorder has what was published."""
    end = operator.now() + SETTLE_TIME
    while operator.now() < end:
        sent, written = ledger.counts(), recorder.counts
        if all(written.get(topic, 0) >= count for topic, count in sent.items()):
            return
        await operator.pause(0.01)
