# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the RViz configuration shows is there, of that type, when a rig with an estimator runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip('rclpy')

from stewart_bringup.composition import compose
from stewart_bringup.rigs import config_file
from stewart_description.paths import rviz_path
from stewart_description.urdf import render_urdf
from stewart_node_support.lifecycle import take_down
from stewart_viewer.nodes.force_arrows import ForceArrows
import yaml

pytestmark = pytest.mark.ros

# Display -> type of its topic.
TYPES = {
    'rviz_default_plugins/Pose': 'geometry_msgs/msg/PoseStamped',
    'rviz_default_plugins/Odometry': 'nav_msgs/msg/Odometry',
    'rviz_default_plugins/MarkerArray': 'visualization_msgs/msg/MarkerArray',
}
# robot_state_publisher's, from the URDF and from joint_states; view.launch.py starts it.
OF_THE_MODEL = {'robot_description'}
WITHOUT_TOPIC = {'rviz_default_plugins/Grid', 'rviz_default_plugins/TF'}


def displays() -> Iterator[tuple[str, str, str]]:
    """Yield class, topic and reliability of every display that listens."""
    for item in manager()['Displays']:
        if item['Class'] in WITHOUT_TOPIC:
            continue
        topic = item.get('Topic') or item['Description Topic']
        yield item['Class'], topic['Value'], topic['Reliability Policy']


def manager() -> dict[str, Any]:
    return dict(yaml.safe_load(Path(rviz_path()).read_text())['Visualization Manager'])


@pytest.mark.usefixtures('context')
def test_every_topic_of_the_rviz_configuration_is_published_by_a_rig(tmp_path: Path) -> None:
    more = tmp_path / 'more.yaml'
    more.write_text('/**/state_estimator: {ros__parameters: {gate: true}}\n')
    nodes = compose([config_file('rig', 'vigo'), more], namespace='hexapod', lean=True)
    try:
        nodes.append(ForceArrows(namespace='/hexapod'))
        published = {
            topic: type_name
            for node in nodes
            for topic, (type_name,) in nodes[0].get_publisher_names_and_types_by_node(
                node.get_name(), '/hexapod'
            )
        }
        wanted = {'platform/pose', 'platform/odometry', 'leg_forces'}
        for kind, topic, _ in displays():
            assert not topic.startswith('/'), f'{topic} is bound to one namespace'
            if topic not in OF_THE_MODEL:
                assert published.get(f'/hexapod/{topic}') == TYPES[kind], topic
                wanted.discard(topic)
        assert not wanted
        # What robot_state_publisher needs to move the model.
        assert published['/hexapod/joint_states'] == 'sensor_msgs/msg/JointState'
    finally:
        for node in reversed(nodes):
            take_down(node)


def test_every_frame_of_the_rviz_configuration_is_a_link() -> None:
    links = {item.get('name') for item in ET.fromstring(render_urdf('ex800')).iter('link')}
    found = manager()
    (frames,) = [
        set(item['Frames']) - {'All Enabled'}
        for item in found['Displays']
        if item['Class'] == 'rviz_default_plugins/TF'
    ]

    assert frames <= links
    assert found['Global Options']['Fixed Frame'] in links
    assert found['Views']['Current']['Target Frame'] in links
    # A best-effort subscription hears a reliable publisher, not the other way round.
    assert {reliability for kind, _, reliability in displays() if kind in TYPES} <= {
        'Best Effort',
        'Reliable',
    }
