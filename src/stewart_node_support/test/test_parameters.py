# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter import Parameter
from stewart_node_support.parameters import declare, FIXED, read
from stewart_tables.errors import ParameterError
from stewart_tables.settings import param

MakeNode = Callable[..., Node]


@dataclass(frozen=True)
class Imu:
    port: str = param('/dev/ttyUSB0', 'serial device')
    baud_rate: int = param(115200, 'serial speed [baud]', min=9600, max=921600)
    stddev: float = param(0.001, 'noise [rad/s]', min=0.0)
    axes: tuple[float, float, float] = param((1.0, 1.0, 1.0), 'scale [-]', max=2.0)
    delays: tuple[float, ...] = param((), 'delays [s]', read_only=False)
    mode: str = param('slow', 'speed', choices=('slow', 'fast'))
    raw: bool = param(False, 'raw data too')


@pytest.fixture
def make_node(context: None) -> MakeNode:
    def make(**overrides: object) -> Node:
        values = [Parameter(name, value=value) for name, value in overrides.items()]
        return Node('imu', parameter_overrides=values)

    return make


def test_defaults_are_those_of_the_dataclass(make_node: MakeNode) -> None:
    assert declare(make_node(), Imu) == Imu()


def test_override_replaces_the_default_and_a_list_becomes_a_tuple(make_node: MakeNode) -> None:
    imu = declare(make_node(baud_rate=9600, delays=[0.5, 1.5], mode='fast', raw=True), Imu)

    assert imu == Imu(baud_rate=9600, delays=(0.5, 1.5), mode='fast', raw=True)


def test_descriptor_carries_description_range_and_read_only(make_node: MakeNode) -> None:
    node = make_node()
    declare(node, Imu)
    baud_rate, stddev = (node.describe_parameter(name) for name in ('baud_rate', 'stddev'))

    assert baud_rate.description == 'serial speed [baud]'
    assert baud_rate.read_only
    assert baud_rate.integer_range[0].from_value == 9600
    assert baud_rate.integer_range[0].to_value == 921600
    assert stddev.floating_point_range[0].from_value == 0.0
    assert 'slow, fast' in node.describe_parameter('mode').additional_constraints


@pytest.mark.parametrize(
    ('name', 'value', 'sentence'),
    [
        ('baud_rate', 1, r'parameter baud_rate: expected an integer from 9600 to 921600, got 1'),
        ('stddev', -1.0, r'parameter stddev: expected a decimal number of at least 0, got -1.0'),
        ('stddev', 1, r'parameter stddev: expected a decimal number of at least 0, got 1'),
        ('stddev', float('nan'), r'parameter stddev: .* got nan'),
        ('axes', [1.0, 1.0], r'parameter axes: expected a list of 3 times .* at most 2'),
        ('axes', [1.0, 1.0, 3.0], r'parameter axes: .*got \[1.0, 1.0, 3.0\]'),
        ('delays', 0.1, r'parameter delays: expected a list of a decimal number, got 0.1'),
        ('mode', 'quick', r"parameter mode: expected a text out of slow, fast, got 'quick'"),
        ('raw', 1, r'parameter raw: expected true or false, got 1'),
    ],
)
def test_refusal_names_parameter_value_and_bounds(
    make_node: MakeNode, name: str, value: object, sentence: str
) -> None:
    with pytest.raises(ParameterError, match=sentence):
        declare(make_node(**{name: value}), Imu)


def test_read_only_parameter_cannot_be_set_and_another_is_read_again(make_node: MakeNode) -> None:
    node = make_node()
    declare(node, Imu)
    refused, taken = node.set_parameters(
        [Parameter('baud_rate', value=9600), Parameter('delays', value=[0.25])]
    )

    assert not refused.successful
    assert taken.successful
    assert read(node, Imu) == Imu(delays=(0.25,))


def test_a_configured_node_refuses_what_it_would_not_read(make_node: MakeNode) -> None:
    make_node()
    node = LifecycleNode('once')
    declare(node, Imu)
    assert node.set_parameters([Parameter('delays', value=[0.25])])[0].successful
    node.trigger_configure()
    (answer,) = node.set_parameters([Parameter('delays', value=[0.5])])
    assert not answer.successful
    assert answer.reason == f'delays {FIXED}'
    # What is not of the dataclass, as use_sim_time, is set at any time.
    assert node.set_parameters([Parameter('use_sim_time', value=False)])[0].successful
    node.trigger_cleanup()
    assert node.set_parameters([Parameter('delays', value=[0.5])])[0].successful
    assert read(node, Imu).delays == (0.5,)


def test_declaring_twice_keeps_the_values(make_node: MakeNode) -> None:
    node = make_node(baud_rate=9600)

    assert declare(node, Imu) == declare(node, Imu) == Imu(baud_rate=9600)
