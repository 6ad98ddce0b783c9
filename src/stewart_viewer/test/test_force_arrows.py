# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from stewart_viewer.force_scale import colour_of_force, ForceScale, LONGEST_ARROW, PULL, PUSH

# Of the arrows [Hz], and of the legs [s].
RATE, PERIOD = 10.0, 0.01
LEGS = [f'leg_{number}' for number in range(1, 7)]


def test_longest_arrow_is_that_of_the_largest_force_so_far() -> None:
    scale = ForceScale(0.4)

    first = scale.lengths(np.array([100.0, -50.0, 0.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(first, [0.4 * LONGEST_ARROW, -0.2 * LONGEST_ARROW, 0, 0, 0, 0])
    scale.lengths(np.full(6, -200.0))
    again = scale.lengths(np.full(6, 100.0))
    np.testing.assert_allclose(again, 0.2 * LONGEST_ARROW)


@pytest.fixture
def rig() -> Iterator[tuple[Any, Any, list[Any]]]:
    """Return a harness with the node, a publisher of legs, and what becomes of them."""
    pytest.importorskip('rclpy')
    from node_harness import Harness
    from sensor_msgs.msg import JointState
    from stewart_node_support.qos import SENSOR_QOS
    from stewart_viewer.nodes.force_arrows import ForceArrows
    from visualization_msgs.msg import MarkerArray

    with Harness() as harness:
        harness.add(ForceArrows, platform='ex800', rate=RATE)
        heard = harness.listen(MarkerArray, 'leg_forces', SENSOR_QOS)
        legs = harness.talk(JointState, 'actuator_states', SENSOR_QOS)

        def tell(effort: list[float]) -> None:
            message = JointState(name=LEGS, position=[0.1] * 6, velocity=[0.0] * 6, effort=effort)
            message.header.frame_id = 'base_link'
            legs.publish(message)
            harness.spin(PERIOD)

        yield harness, tell, heard


@pytest.mark.ros
def test_legs_become_arrows_in_frames_of_the_model(rig: tuple[Any, Any, list[Any]]) -> None:
    from stewart_description.urdf import render_urdf
    from visualization_msgs.msg import Marker

    forces = [30.0, -60.0, 1.0, 2.0, 3.0, 4.0]
    harness, tell, heard = rig
    # What is not measured has no arrow.
    for _ in range(20):
        tell([])
    assert not heard

    def arrived() -> bool:
        tell(forces)
        return bool(heard)

    harness.until(arrived, 60.0)

    links = {
        item.get('name') for item in ElementTree.fromstring(render_urdf('ex800')).iter('link')
    }
    arrows = heard[0].markers
    assert [(arrow.type, arrow.id) for arrow in arrows] == [(Marker.ARROW, n) for n in range(1, 7)]
    assert {arrow.header.frame_id for arrow in arrows} <= links
    tips = [arrow.points[1].z for arrow in arrows]
    assert max(map(abs, tips)) == abs(tips[1])
    for arrow, tip, force in zip(arrows, tips, forces, strict=True):
        assert math.isclose(tip / tips[1], force / forces[1])
        assert (arrow.points[1].x, arrow.points[1].y) == (0.0, 0.0)
        seen = tuple(round(255.0 * part) for part in (arrow.color.r, arrow.color.g, arrow.color.b))
        assert seen == (PUSH if force > 0.0 else PULL) == colour_of_force(force)
        assert arrow.color.a == 1.0


@pytest.mark.ros
def test_pictures_come_at_the_rate_that_was_asked_for(rig: tuple[Any, Any, list[Any]]) -> None:
    harness, tell, heard = rig

    def arrived() -> bool:
        tell([1.0] * 6)
        return bool(heard)

    harness.until(arrived, 60.0)
    heard.clear()
    for _ in range(200):
        tell([1.0] * 6)
    assert len(heard) == pytest.approx(RATE * 200 * PERIOD, abs=1)
