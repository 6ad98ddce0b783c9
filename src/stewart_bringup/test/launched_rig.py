# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig that bears with a busy machine, and who stands at it; for the tests that launch one."""

from __future__ import annotations

from pathlib import Path
import time
from typing import Any

from node_harness import Harness
import numpy as np
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_bringup.rigs import available
from stewart_interfaces.msg import DriverState
from stewart_node_support.qos import SENSOR_QOS, STATE_QOS
import yaml

NAMESPACE = 'hexapod'
# Of a machine that is busy, and compiles kernels first [s].
LIMIT = 90.0
# Far more than noise; soon reached, before a busy machine breaks the wave off [m].
TRAVEL = 5e-4
# That others are busy is no fault here.
PATIENT: dict[str, Any] = {
    'publish_rate': 100.0,
    'start_timeout': 60.0,
    'extrapolation_time': 0.3,
    'command_timeout': 2.0,
    'overrun_share': 1.0,
}
PATIENT_WIRES = {
    'ethercat': {
        'cycle_time': 0.01,
        'receive_timeout': 0.2,
        'patience': 4.0,
        'drive_watchdog': 5.0,
        'start_timeout': 30.0,
    },
    'daq': {'cycle_time': 0.01, 'longest_call': 5.0},
}


def patient(rig: str, wires: Path | None = None) -> dict[str, Any]:
    """Return what a rig's file says, for a busy machine, with its wires in a folder."""
    text = available('rig')[rig].read_text()
    content: dict[str, Any] = yaml.safe_load(text)
    if '/**/virtual_rig' in content:
        content['/**/virtual_rig']['ros__parameters']['directory'] = str(wires)
    driver = content['/**/driver']['ros__parameters']
    driver |= PATIENT
    for wire, options in PATIENT_WIRES.items():
        if wire in driver:
            driver[wire] |= options
    return content


class Person(Harness):
    """Whoever stands at the rig."""

    def __init__(self) -> None:
        super().__init__(real=True)
        self.states = self.listen(DriverState, f'{NAMESPACE}/driver/state', STATE_QOS)
        self.legs = self.listen(JointState, f'{NAMESPACE}/actuator_states', SENSOR_QOS)

    def ask(self, service: str) -> None:
        """Ask for something that may be refused."""
        client = self.probe.create_client(Trigger, f'{NAMESPACE}/{service}')
        self.until(client.service_is_ready, LIMIT)
        self.result(client.call_async(Trigger.Request()), LIMIT)
        self.probe.destroy_client(client)

    def play(self) -> None:
        """Enable and start the wave until all legs move; a busy machine needs several tries."""
        wanted = {
            DriverState.DISABLED: 'driver/enable',
            DriverState.ENABLED: 'ocean/start',
            DriverState.FAULT: 'driver/reset_fault',
        }
        self.until(lambda: self.states and self.legs, LIMIT)
        end = time.monotonic() + LIMIT
        while self.travel() < TRAVEL:
            assert time.monotonic() < end
            state = self.states[-1].state
            if state in wanted:
                self.ask(wanted[state])
            if state != DriverState.ENABLED:
                self.legs.clear()
            self.spin(1.0)

    def travel(self) -> float:
        """Return how far the leg that has moved least has moved lately [m]."""
        strokes = [item.position for item in self.legs[-200:]]
        return float(np.ptp(strokes, axis=0).min()) if strokes else 0.0
