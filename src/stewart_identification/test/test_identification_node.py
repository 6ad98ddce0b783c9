# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The node identifies bags, tells how far it is, and says what went wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger
from stewart_identification.nodes.identification import IdentificationNode
from stewart_node_support.qos import STATE_QOS
from stewart_node_support.testing import Harness


def test_bag_is_identified_with_progress_and_result(payload_bag: Path, tmp_path: Path) -> None:
    with Harness() as harness:
        progress = harness.listen(Float64, 'identification/progress')
        result = harness.listen(String, 'identification/result', STATE_QOS)
        harness.add(
            IdentificationNode, bags=[str(payload_bag)], output=str(tmp_path), friction='common'
        )
        harness.until(lambda: result and progress, timeout=60.0)

    said = json.loads(result[0].data)
    assert said['state'] == 'done'
    assert said['parameters']['m']['interval'][0] < 8.8369 < said['parameters']['m']['interval'][1]
    assert Path(said['files']['parameters']).is_file()
    assert progress[-1].data == 1.0


def test_what_cannot_be_read_is_a_result_too(tmp_path: Path) -> None:
    with Harness() as harness:
        result = harness.listen(String, 'identification/result', STATE_QOS)
        harness.add(IdentificationNode, bags=[str(tmp_path / 'none')], output=str(tmp_path))
        harness.until(lambda: result, timeout=30.0)
        stopped = harness.call(Trigger, 'identification/stop')

    assert 'not a bag, it does not exist' in json.loads(result[0].data)['message']
    assert not stopped.success
