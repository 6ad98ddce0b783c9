# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS is started with settings with which a command to a running rig is heard at once."""

from __future__ import annotations

import os
from xml.etree import ElementTree

import pytest

rclpy = pytest.importorskip('rclpy')

from stewart_node_support.running import middleware, PROFILE_VARIABLES, PROFILES

pytestmark = pytest.mark.ros


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


@pytest.mark.parametrize('name', PROFILE_VARIABLES)
def test_settings_of_the_user_stay(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in PROFILE_VARIABLES:
        monkeypatch.setenv(other, '')
    monkeypatch.setenv(name, '/etc/profiles.xml')
    with middleware([]):
        pass
    assert {os.environ[other] for other in PROFILE_VARIABLES} == {'', '/etc/profiles.xml'}
