# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the node reach the cyclic process."""

from __future__ import annotations

from dataclasses import replace

from loopback import LoopbackBackend, LoopbackOptions
import pytest

pytest.importorskip('rclpy')

from stewart_driver.errors import ConfigurationError
from stewart_driver.nodes.driver_parameters import DriverParameters

pytestmark = pytest.mark.ros

BACKEND = LoopbackBackend(LoopbackOptions())


def test_the_defaults_leave_the_limits_of_the_back_end() -> None:
    configuration = DriverParameters().configuration(BACKEND)

    assert configuration.limits.rate == BACKEND.limits.rate
    assert configuration.limits.acceleration == BACKEND.limits.acceleration
    assert configuration.publish_every == 2


def test_every_setting_reaches_the_cyclic_process() -> None:
    parameters = replace(
        DriverParameters(),
        rate_limit=0.06,
        acceleration_limit=0.6,
        playout_delay=0.011,
        stop_strength=0.2,
        command_timeout=0.3,
        following_error=0.004,
        publish_rate=100.0,
    )
    configuration = parameters.configuration(BACKEND)

    assert configuration.limits.rate == 0.06
    assert configuration.limits.acceleration == 0.6
    assert configuration.interpolation.playout_delay == 0.011
    assert configuration.interpolation.stop_strength == 0.2
    assert configuration.supervision.command_timeout == 0.3
    assert configuration.supervision.following_error == 0.004
    assert configuration.publish_every == 5


@pytest.mark.parametrize(
    ('change', 'key'),
    [
        ({'rate_limit': 0.61}, 'rate_limit'),
        ({'acceleration_limit': 6.1}, 'acceleration_limit'),
        ({'publish_rate': 501.0}, 'publish_rate'),
        ({'start_tolerance': 0.0}, 'start_tolerance'),
        ({'quick_stop_strength': 0.4}, 'quick_stop_strength'),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(change: dict[str, float], key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        replace(DriverParameters(), **change).configuration(BACKEND)
