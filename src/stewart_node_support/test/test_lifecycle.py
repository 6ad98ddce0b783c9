# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who asks for a transition that a node's state does not have is refused, and nothing ends."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip('rclpy')

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_harness import Harness
from stewart_node_support.lifecycle import bring_up, DeviceNode, state_of

pytestmark = pytest.mark.ros


class Device(DeviceNode):
    """A device that nothing happens to."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('device', **kwargs)

    def let_go(self) -> None:
        pass


def test_a_number_that_the_state_does_not_have_is_refused() -> None:
    with Harness() as harness:
        node = harness.add(Device)
        bring_up(node)

        def ask(number: int = 0, label: str = '') -> bool:
            request = ChangeState.Request(transition=Transition(id=number, label=label))
            return bool(harness.call(ChangeState, 'device/change_state', request).success)

        assert state_of(node) == 'active'
        assert not ask(Transition.TRANSITION_CONFIGURE)
        assert not ask(label='configure')
        assert not ask(250)
        assert state_of(node) == 'active'
        assert ask(Transition.TRANSITION_DEACTIVATE)
        assert state_of(node) == 'inactive'
