# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A move is stopped whenever that is asked for, from the moment in which it is sent."""

from __future__ import annotations

import pytest

pytest.importorskip('rclpy')

from probe_rig import ProbeRig
from stewart_node_support.testing import Harness
from stewart_viewer.nodes.operator import GraphOperator

pytestmark = pytest.mark.ros
HERE = (0.0, 0.0, 0.3), (0.0, 0.0, 0.0, 1.0)


def test_a_stop_that_comes_before_the_answer_stops_the_move() -> None:
    told: list[str] = []
    with Harness() as harness:
        rig = ProbeRig(harness)
        rig.lasting = True
        operator = GraphOperator(harness.probe, told.append)

        def joined() -> bool:
            if not rig.goals:
                told.clear()
                operator.move(*HERE, 0.1)
                operator.cancel()
                harness.spin(0.1)
            return bool(rig.goals)

        harness.until(joined)
        harness.until(lambda: told[-1].startswith('move_platform: came to rest'))
    assert 'no move is running' not in told
    assert told[0] == 'move_platform: moving'
