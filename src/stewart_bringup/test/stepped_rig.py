# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Set the clock of a rig that plays a sea: `stepped_rig.py FOLDER SECONDS` prints what came of it.

Runs in the environment of `stepped_clock`; the rig is recorded, and started anew afterwards.
"""

from __future__ import annotations

from functools import partial
import json
from pathlib import Path
import sys
import time
from typing import Any

from rclpy.parameter import Parameter
from stepped_clock import step
from stewart_bringup.composition import compose, Ledger
from stewart_bringup.nodes.wave_operator import WaveOperator
from stewart_bringup.rigs import config_file
from stewart_interfaces.msg import DriverState
from stewart_node_support.running import middleware, spin
from stewart_node_support.stop_signals import StopSignals

FILES = [config_file('rig', 'vigo'), config_file('wave', 'jonswap')]
CHAIN = ('driver', 'inverse_kinematics', 'forward_kinematics', 'ocean_trajectory')
# A busy machine is no fault here.
PATIENT = {'driver': {'command_timeout': 0.5, 'playout_delay': 0.2}}
STATES, LEGS = '/driver/state', '/actuator_states'


async def work(operator: WaveOperator, ledger: Ledger, seconds: float, told: Any) -> None:
    """Play, set the clock, wait for rest, play again."""
    await operator.request('driver/enable')
    await operator.reach(DriverState.ENABLED, 'driver/enable')
    await operator.pause(1.0)
    await operator._start('ocean/start')
    await operator.pause(3.0)
    before, begin = ledger.counts(), time.monotonic()
    step(seconds)
    while ledger.counts()[STATES] == before[STATES] and time.monotonic() < begin + 5.0:
        await operator.pause(0.02)
    told['stopping_s'] = time.monotonic() - begin
    await operator.pause(3.0)
    told['reason'] = operator.driver_state.reason
    told['state'] = operator.driver_state.state
    resting = ledger.counts()
    told['legs_hz'] = (resting[LEGS] - before[LEGS]) / (time.monotonic() - begin)
    operator._departure = ''
    if told['stopping_s'] < 5.0:
        await operator._start('ocean/start')
    await operator.pause(2.0)
    told['commands_after'] = ledger.counts()['/joint_commands'] - resting['/joint_commands']
    told['state_after'] = operator.driver_state.state


def main() -> None:
    """Play and print."""
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
    told: dict[str, Any] = {}
    with middleware(['--ros-args', '--log-level', 'error']):
        nodes = compose(FILES, names=CHAIN, overrides=PATIENT, record=folder / 'bag', lean=True)
        operator = WaveOperator(
            StopSignals(),
            use_global_arguments=False,
            cli_args=['--ros-args', '--params-file', str(FILES[1])],
            parameter_overrides=[Parameter('patience', value=20.0)],
        )
        ledger = Ledger(nodes)
        spin([*nodes, operator], task=partial(work, operator, ledger, seconds, told))
    recorder: Any = nodes[0]
    counts = ledger.counts()
    told['lost'] = sum(abs(counts[topic] - recorder.counts.get(topic, 0)) for topic in counts)
    print(json.dumps(told))


if __name__ == '__main__':
    main()
