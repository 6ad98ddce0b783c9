# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The layouts of Foxglove and PlotJuggler name topics and fields that there are."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
import json
from pathlib import Path
import re
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip('rclpy')

from stewart_bringup.simulation.series import estimate_topics, topics
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_kinematics.solvers.joint_states import JOINT_NAMES
from stewart_node_support.legs import LEG_NAMES

CONFIG = Path(__file__).parents[1] / 'config'
FOXGLOVE, PLOTJUGGLER = CONFIG / 'foxglove_layout.json', CONFIG / 'plotjuggler_layout.xml'
# Those without a row per instant.
OTHERS = {
    '/driver/state': 'stewart_interfaces/msg/DriverState',
    '/diagnostics': 'diagnostic_msgs/msg/DiagnosticArray',
    '/leg_forces': 'visualization_msgs/msg/MarkerArray',
    '/robot_description': 'std_msgs/msg/String',
}
NUMBERS = re.compile(r'(u?int\d+|float|double|boolean|octet)')


@pytest.fixture(scope='module')
def kinds() -> dict[str, str]:
    """Return the type of each topic."""
    known = topics('source', forces=True) | estimate_topics(ImuParameters())
    return OTHERS | {f'/{name}': topic.msgtype for name, topic in known.items()}


def get_message(kind: str) -> Any:
    """Return the class of a type like geometry_msgs/msg/Pose."""
    package, _, name = kind.split('/')
    return getattr(import_module(f'{package}.msg'), name)


def require_number(kind: str, fields: list[str]) -> None:
    """Walk along fields, an element of an array as name[index], to a number."""
    for field in fields:
        name, index = re.fullmatch(r'(\w+?)(?:\[(\d+)\])?', field).groups()  # type: ignore[union-attr]
        found = get_message(kind).get_fields_and_field_types()
        assert name in found, f'{kind} has no field {name}'
        kind = found[name]
        if index is not None:
            assert kind.startswith('sequence<') or kind.endswith(']'), f'{name} is no array'
            kind = re.sub(r'^sequence<(.*)>$|\[\d+\]$', r'\1', kind)
        kind = re.sub(r'^(\w+)/(\w+)$', r'\1/msg/\2', kind)
    assert NUMBERS.fullmatch(kind), f'{fields} is a {kind}'


def values_of(node: Any, key: str) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get(key), str):
            yield node[key]
        for item in node.values():
            yield from values_of(item, key)
    elif isinstance(node, list):
        for item in node:
            yield from values_of(item, key)


def leaves(layout: Any) -> Iterator[str]:
    if isinstance(layout, str):
        yield layout
    else:
        assert set(layout) == {'direction', 'first', 'second', 'splitPercentage'}
        assert layout['direction'] in {'row', 'column'}
        yield from leaves(layout['first'])
        yield from leaves(layout['second'])


def test_every_panel_of_foxglove_is_there_once() -> None:
    content = json.loads(FOXGLOVE.read_text())
    assert sorted(leaves(content['layout'])) == sorted(content['configById'])


def test_plots_are_entitled_in_foxglove_and_in_its_open_fork() -> None:
    panels = json.loads(FOXGLOVE.read_text())['configById']
    plots = [panel for name, panel in panels.items() if name.startswith('Plot!')]
    assert len(plots) == 4
    for plot in plots:
        assert plot['foxglovePanelTitle'] == plot['lichtblickPanelTitle']
        assert '[' in plot['foxglovePanelTitle'], 'a unit is missing'


def test_foxglove_names_topics_and_fields_that_there_are(kinds: dict[str, str]) -> None:
    content = json.loads(FOXGLOVE.read_text())
    paths = list(values_of(content, 'value'))
    assert len(paths) > 20
    for path in paths:
        topic, *fields = path.split('.')
        require_number(kinds[topic], fields)
    named = [*values_of(content, 'topicPath'), *values_of(content, 'topicToRender')]
    named += [*values_of(content, 'topic'), *content['configById']['3D!platform']['topics']]
    assert len(named) == 5
    assert set(named) <= set(kinds)


def test_plotjuggler_names_topics_and_fields_that_there_are(kinds: dict[str, str]) -> None:
    root = ElementTree.parse(PLOTJUGGLER).getroot()
    curves = [item.attrib['name'] for item in root.iter('curve')]
    assert len(curves) > 30
    for curve in curves:
        # The longest topic that begins the name: PlotJuggler joins topic and fields with slashes.
        topic = max((name for name in kinds if curve.startswith(f'{name}/')), key=len)
        fields = curve.removeprefix(f'{topic}/').split('/')
        if kinds[topic] == 'sensor_msgs/msg/JointState':
            joint, field = fields
            assert joint in {*LEG_NAMES, *JOINT_NAMES}
            fields = [f'{field}[0]']
        require_number(kinds[topic], fields)


def test_plotjuggler_has_the_units_of_cranks_beside_those_of_strokes() -> None:
    root = ElementTree.parse(PLOTJUGGLER).getroot()
    titles = [
        area.attrib['name']
        for area in root.iter('DockArea')
        if any('/leg_1/' in curve.attrib['name'] for curve in area.iter('curve'))
    ]
    assert len(titles) == 3
    for title in titles:
        units = ('[N]', '[Nm]') if 'forces' in title else ('[m]', '[rad]')
        assert all(unit in title for unit in units), title


def test_the_splitters_of_plotjuggler_have_as_many_areas_as_they_say() -> None:
    root = ElementTree.parse(PLOTJUGGLER).getroot()
    for splitter in root.iter('DockSplitter'):
        assert len(splitter) == int(splitter.attrib['count'])
        assert len(splitter.attrib['sizes'].split(';')) == len(splitter)


def test_a_field_that_there_is_not_is_found_out(kinds: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match='no field posture'):
        require_number(kinds['/platform/pose'], ['posture', 'x'])
    with pytest.raises(AssertionError, match='is a'):
        require_number(kinds['/platform/pose'], ['pose', 'position'])
