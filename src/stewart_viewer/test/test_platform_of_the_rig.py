# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The page shows the platform that the rig says it is, whenever the rig comes up."""

from __future__ import annotations

from pathlib import Path
import re

import pytest

pytest.importorskip('rclpy')

from node_harness import Harness
from probe_rig import ProbeRig
from rclpy.node import Node
from stewart_bags.errors import BagError
from stewart_interfaces.msg import DriverState
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_viewer.nodes.operator import GraphOperator
from stewart_viewer.nodes.platform_question import ASKED
from stewart_viewer.nodes.web_viewer import WebViewer
from stewart_viewer.verbs import view
from typed_words import parsed, typed

pytestmark = pytest.mark.ros


class Poser(Node):
    """Have the name and the parameter of the node that is asked."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(ASKED, **kwargs)
        self.declare_parameter('platform', 'ex800')


def test_viewer_waits_for_a_rig_and_takes_its_platform(ex800: Platform) -> None:
    with Harness() as harness:
        viewer = harness.add(WebViewer, port=0)
        harness.spin(0.5)
        assert viewer.view is None
        harness.add(Poser)
        harness.until(lambda: viewer.view is not None)
        assert viewer._comparison._name == ex800.name


def test_the_verb_views_the_rig_of_a_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr('stewart_node_support.running.run', lambda make, **_: made.append(make))
    assert typed(view, '--namespace', 'hexapod', '--port', '0') == 0
    with Harness():
        node = made[0]()
        try:
            assert node.get_namespace() == '/hexapod'
        finally:
            node.destroy_node()


@pytest.mark.parametrize(
    ('said', 'why'),
    [
        (['--namespace', 'hexapod'], 'has its topics as they are, see --topic'),
        (['--watch-only'], 'has no controls'),
        (['--taught-to', 'points.yaml'], 'has no waypoints to append'),
        (['--record-to', 'bags'], 'is not recorded again'),
    ],
)
def test_the_verb_refuses_for_a_bag_what_only_a_rig_has(said: list[str], why: str) -> None:
    arguments = parsed(view, 'a_bag', *said)
    told = f'{said[0]}: expected no bag: a recording {why}, got '
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        view.main(arguments)


@pytest.mark.parametrize(
    ('said', 'why'),
    [
        (['--topic', 'platform/pose=/mocap/pose'], 'is shown by the names of its own topics'),
        (['--speed', '2'], 'is shown as it goes'),
    ],
)
def test_the_verb_refuses_for_a_rig_what_only_a_bag_has(
    monkeypatch: pytest.MonkeyPatch, said: list[str], why: str
) -> None:
    monkeypatch.setattr(view, '_live', lambda _: 0)
    with pytest.raises(ConfigurationError, match=f'{said[0]}: expected a bag: a rig {why}, got '):
        view.main(parsed(view, *said))


def test_the_verb_takes_a_bag_with_nothing_else_said(tmp_path: Path) -> None:
    with pytest.raises(BagError):
        typed(view, tmp_path / 'no_bag')


def test_an_open_door_is_refused_before_a_rig_is_there() -> None:
    with Harness() as harness, pytest.raises(ConfigurationError, match='STEWART_TOKEN for host 0'):
        harness.add(WebViewer, host='0.0.0.0', port=0)


def test_the_token_is_not_on_the_graph(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv('STEWART_TOKEN', 'abc-DEF_123')
    with Harness() as harness:
        viewer = harness.add(WebViewer, platform='ex800', host='0.0.0.0', port=0)
        viewer._heard = 1
        reported = viewer._report().message
        parameters = [item.value for item in viewer._parameters.values()]
    assert reported == f'showing {viewer.view.url.removesuffix("?token=abc-DEF_123")}'
    assert 'abc-DEF_123' not in f'{parameters}'
    # What the node logs is on the graph, too, and has its name.
    (said,) = [line for line in capfd.readouterr().err.splitlines() if 'abc-DEF_123' in line]
    assert said == f'open {viewer.view.url} in a browser, it shows ex800'


def test_viewer_of_another_platform_says_so_and_sends_no_motion(ex800: Platform) -> None:
    neutral, geometry = ex800.geometry.neutral_pose, ex800.geometry
    strokes = leg_lengths(geometry, neutral.position, neutral.quaternion_xyzw)
    with Harness() as harness:
        rig = ProbeRig(harness)
        viewer = harness.add(WebViewer, platform='vigo', port=0)

        def told() -> bool:
            rig.measure(strokes - geometry.retracted_length)
            rig.say(neutral, DriverState.DISABLED, 'started')
            harness.spin(0.02)
            return bool(viewer._wrong())

        harness.until(told)
        operator: GraphOperator = viewer._operator
        harness.until(lambda: told() and operator.obstacle.startswith('this rig is no '))
        operator.move(neutral.position, neutral.quaternion_xyzw, 0.1)
        operator.call('ocean/start')
        operator.call('driver/quick_stop')
        harness.until(lambda: rig.called)
        harness.spin(0.2)
    # What stops is always sent.
    assert rig.called == ['driver/quick_stop']
    assert rig.goals == []
