# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a jog means where the legs are cranks: degrees, not millimetres."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from node_harness import Harness
from stewart_bringup import main as command
from stewart_bringup.nodes.jog_operator import JogOperator
from stewart_kinematics.model.leg_kinds import LegKind, LINEAR, ROTARY, SLIDING
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.stop_signals import StopSignals

pytestmark = pytest.mark.ros


class Hand:
    """Stand in for the operator: every leg goes as far as it is asked to in a second."""

    def __init__(self, kind: LegKind) -> None:
        self._kind = kind
        self.asked: dict[str, Any] = {}

    async def kind(self) -> LegKind:
        return self._kind

    async def jog(self, duration: float, **asked: Any) -> np.ndarray:
        self.asked = asked
        return np.full(6, 0.01)


@pytest.mark.parametrize(
    ('kind', 'rate', 'said'),
    [
        (LINEAR, 5e-3, 'legs moved [mm]: +10.00'),
        (SLIDING, 5e-3, 'legs moved [mm]: +10.00'),
        (ROTARY, math.radians(5.0), 'legs moved [deg]: +0.57'),
    ],
)
def test_a_leg_is_jogged_in_the_unit_of_its_kind(
    kind: LegKind,
    rate: float,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hand = Hand(kind)

    def on_the_graph(_: str, work: Callable[[Any], Any], namespace: str) -> Any:
        return asyncio.run(work(hand))

    monkeypatch.setattr('stewart_bringup.verbs.jog.on_the_graph', on_the_graph)
    assert command.main(['jog', 'leg', '3', '--rate', '5']) == 0
    assert hand.asked == {'leg': 3, 'rate': pytest.approx(rate)}
    assert capsys.readouterr().out.startswith(said)
    # An axis of the platform has the same unit everywhere.
    for axis, value in (('z', 5e-3), ('yaw', math.radians(5.0))):
        assert command.main(['jog', axis, '--rate', '5']) == 0
        assert max(hand.asked['twist']) == pytest.approx(value)


@pytest.mark.parametrize(
    ('platform', 'kind'),
    [('sg90_rotary', ROTARY), ('vigo', LINEAR), ('', LINEAR), ('elsewhere.yaml', LINEAR)],
)
def test_the_rig_tells_what_its_legs_are(platform: str, kind: LegKind) -> None:
    with Harness() as harness:
        operator = harness.add(partial(JogOperator, StopSignals()))
        reports = harness.talk(DiagnosticArray, '/diagnostics', COMMAND_QOS)
        found = harness.probe.executor.create_task(operator.kind)
        said = [('driver: commands', 'simulated')]
        if platform:
            said.append(('cycloidal_trajectory: motion', platform))
        statuses = [DiagnosticStatus(name=name, hardware_id=of) for name, of in said]
        reports.publish(DiagnosticArray(status=statuses))
        harness.until(found.done)
        assert found.result() is kind


def test_another_rig_in_the_same_domain_is_not_believed() -> None:
    with Harness() as harness:
        operator = harness.add(partial(JogOperator, StopSignals(), namespace='a'))
        reports = harness.talk(DiagnosticArray, '/diagnostics', COMMAND_QOS)

        def told(namespace: str, platform: str, trouble: str) -> DiagnosticArray:
            motion = DiagnosticStatus(
                name=f'{namespace}cycloidal_trajectory: motion', hardware_id=platform
            )
            commands = DiagnosticStatus(
                name=f'{namespace}driver: commands', level=DiagnosticStatus.ERROR, message=trouble
            )
            return DiagnosticArray(status=[motion, commands])

        reports.publish(told('a/', 'vigo', 'too fast'))
        for elsewhere in ('', 'b/', 'b/a/', 'aa/', 'a/b/'):
            reports.publish(told(elsewhere, 'sg90_rotary', 'too late'))
        harness.spin(0.1)
        assert (operator.platform_name, operator.trouble) == ('vigo', 'too fast')
