# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS is started with settings with which commands and first messages are heard at once."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.node import Node
from std_msgs.msg import Int32
from stewart_node_support.running import (
    DISCOVERY_VARIABLES,
    middleware,
    PROFILE_VARIABLES,
    PROFILES,
)

pytestmark = pytest.mark.ros
THIS_MACHINE = PROFILES.with_name('this_machine.xml')


def test_participants_announce_themselves_five_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in PROFILE_VARIABLES:
        # Set first, so that the test's own value comes back.
        monkeypatch.setenv(name, '')
    with middleware([]):
        assert rclpy.ok()
        assert os.environ[PROFILE_VARIABLES[0]] == str(PROFILES)
    assert not rclpy.ok()
    period = ElementTree.parse(PROFILES).find('.//{*}leaseAnnouncement/{*}nanosec')
    assert period is not None
    assert period.text == '200000000'


@pytest.mark.parametrize(
    ('chosen', 'range_'),
    [
        ({}, 'LOCALHOST'),
        ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}, 'SUBNET'),
        ({'ROS_STATIC_PEERS': '192.0.2.1'}, ''),
        ({'ROS_LOCALHOST_ONLY': '1'}, ''),
    ],
)
def test_the_graph_stays_on_this_machine_unless_somebody_chose(
    chosen: dict[str, str], range_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    for name in DISCOVERY_VARIABLES:
        monkeypatch.setenv(name, chosen.get(name, ''))
    monkeypatch.setattr(
        rclpy, 'init', lambda **_: started.append(os.environ[DISCOVERY_VARIABLES[0]])
    )
    with middleware([]):
        assert started == [range_]


@pytest.mark.parametrize('name', PROFILE_VARIABLES)
def test_settings_of_the_user_stay(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in PROFILE_VARIABLES:
        monkeypatch.setenv(other, '')
    monkeypatch.setenv(name, '/etc/profiles.xml')
    with middleware([]):
        pass
    assert {os.environ[other] for other in PROFILE_VARIABLES} == {'', '/etc/profiles.xml'}


def in_a_process(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    lines = (
        'from rclpy.node import Node',
        'from stewart_node_support.running import middleware',
        code,
    )
    return subprocess.run(
        [sys.executable, '-c', '\n'.join(lines)],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path)), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60.0,
    )


@pytest.mark.parametrize('folder', ['/proc', '/proc/self/none'])
def test_without_a_log_folder_nodes_run_and_say_so(folder: str) -> None:
    ended = in_a_process(
        "with middleware([]):\n    Node('alone').get_logger().info('it runs')", ROS_LOG_DIR=folder
    )
    assert ended.returncode == 0, ended.stderr
    said, logged = ended.stderr.splitlines()
    assert said.startswith(f'{folder}: ')
    assert 'ROS_LOG_DIR' in said
    assert logged.endswith('it runs')


def test_a_log_folder_is_made_and_nothing_is_said(tmp_path: Path) -> None:
    folder = tmp_path / 'not' / 'yet'
    ended = in_a_process("with middleware([]):\n    Node('alone')", ROS_LOG_DIR=str(folder))
    assert (ended.returncode, ended.stderr) == (0, '')
    assert len(list(folder.iterdir())) == 1


def test_what_ros_does_not_start_with_is_said() -> None:
    ended = in_a_process(
        'from stewart_node_support.errors import StartUpError\n'
        "try:\n    with middleware(['--ros-args', '--nonsense']):\n        pass\n"
        'except StartUpError as error:\n    print(error)'
    )
    assert ended.returncode == 0, ended.stderr
    assert '--nonsense' in ended.stdout


@pytest.mark.slow
def test_a_keystore_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    enclave = tmp_path / 'enclaves'
    enclave.mkdir()
    for name in ('identity_ca.cert', 'cert', 'key', 'permissions_ca.cert'):
        (enclave / f'{name}.pem').touch()
    for name in ('governance', 'permissions'):
        (enclave / f'{name}.p7s').touch()
    asked = {
        'ROS_SECURITY_ENABLE': 'true',
        'ROS_SECURITY_STRATEGY': 'Enforce',
        'ROS_SECURITY_KEYSTORE': str(tmp_path),
    }
    ended = in_a_process("with middleware([]):\n    Node('alone')\n    print('it runs')", **asked)
    assert ended.returncode != 0
    assert not ended.stdout
    assert 'security' in ended.stderr.lower()


def test_who_subscribes_after_5000_messages_hears_the_next() -> None:
    def taken(subscription: Any) -> list[int]:
        with subscription.handle:
            messages = iter(lambda: subscription.handle.take_message(Int32, False), None)
            return [message.data for message, _ in messages]

    with middleware([]):
        node = Node('talker', start_parameter_services=False, enable_rosout=False)
        publisher = node.create_publisher(Int32, 'count', 5)
        # Somebody takes them, so none waits in the publisher's history.
        node.create_subscription(Int32, 'count', lambda _: None, 1)
        for number in range(5001):
            publisher.publish(Int32(data=number))
        late = node.create_subscription(Int32, 'count', lambda _: None, 5)
        for number in range(3):
            publisher.publish(Int32(data=number))
            assert taken(late) == [number]
        node.destroy_node()


def test_nodes_of_this_machine_alone_have_the_same_settings() -> None:
    for path in ('.//{*}data_reader', './/{*}leaseAnnouncement'):
        usual, alone = (
            ElementTree.tostring(found)
            for file in (PROFILES, THIS_MACHINE)
            if (found := ElementTree.parse(file).find(path)) is not None
        )
        assert usual.split() == alone.split()
