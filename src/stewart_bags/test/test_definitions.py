# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Definitions are found where packages keep them, and a bag needs none of that to be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stewart_bags import definitions
from stewart_bags.definitions import hash_of, interface_directories, jazzy_typestore, require
from stewart_bags.errors import UnknownType
from stewart_bags.reading import Bag
from stewart_bags.writing import BagWriter

SOURCE = Path(__file__).parents[2] / 'stewart_interfaces' / 'msg'


def test_interfaces_are_found_without_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    assert list(interface_directories('stewart_interfaces')) == [SOURCE]
    known = jazzy_typestore().fielddefs
    assert {f'stewart_interfaces/msg/{path.stem}' for path in SOURCE.glob('*.msg')} <= set(known)


def test_installed_package_comes_before_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / 'share' / 'stewart_interfaces' / 'msg'
    installed.mkdir(parents=True)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert list(interface_directories('stewart_interfaces')) == [installed, SOURCE]


def test_types_of_any_installed_package_are_found_with_what_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / 'share' / 'lab_msgs' / 'msg'
    directory.mkdir(parents=True)
    (directory / 'Inner.msg').write_text('float64 value\n')
    (directory / 'Outer.msg').write_text('std_msgs/Header header\nInner[] inner\n')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/outer', 'lab_msgs/msg/Outer')
        types: Any = writer.typestore.types
        stamp = types['builtin_interfaces/msg/Time'](1, 2)
        header = types['std_msgs/msg/Header'](stamp, 'base_link')
        outer = types['lab_msgs/msg/Outer'](header, [types['lab_msgs/msg/Inner'](4.5)])
        writer.write('/outer', 1, outer)
    monkeypatch.delenv('AMENT_PREFIX_PATH')
    with Bag(tmp_path / 'bag') as bag:
        (item,) = bag.messages()
    assert item.message.inner[0].value == 4.5


@pytest.mark.parametrize('name', ['std_msgs/msg/Nothing', 'Imu', 'a/srv/B', ''])
def test_unknown_types_are_refused(name: str) -> None:
    with pytest.raises(UnknownType, match='is unknown'):
        require(jazzy_typestore(), name)


def test_broken_definition_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / 'share' / 'lab_msgs' / 'msg'
    directory.mkdir(parents=True)
    (directory / 'Broken.msg').write_text('float64 [[\n')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with pytest.raises(UnknownType, match=r'Broken\.msg'):
        require(jazzy_typestore(), 'lab_msgs/msg/Broken')


def test_bag_with_our_types_is_read_where_our_definitions_are_not(
    tmp_path: Path, make_bag: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = jazzy_typestore()
    types = store.types
    stamp = types['builtin_interfaces/msg/Time'](1, 2)
    header = types['std_msgs/msg/Header'](stamp, 'base_link')
    vector = types['geometry_msgs/msg/Vector3'](1.0, 2.0, 3.0)
    error = types['stewart_interfaces/msg/TrackingError'](header, vector, vector, np.ones(6))
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/error', 1, error)
    monkeypatch.setattr(definitions, 'interface_directories', lambda _: iter(()))
    with Bag(tmp_path / 'bag') as bag:
        (item,) = bag.messages()
    np.testing.assert_array_equal(item.message.strokes, np.ones(6))


def test_hash_is_that_of_ros() -> None:
    store = jazzy_typestore()
    definition, _ = store.generate_msgdef('sensor_msgs/msg/Imu', ros_version=2)
    # As rosbag2 wrote it into the recording of the real robot.
    assert hash_of(definition, 'sensor_msgs/msg/Imu') == (
        'RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b'
    )
    assert hash_of('lab_msgs/Inner inner', 'lab_msgs/msg/Outer') is None
