# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Somebody sets the clock of the machine while a platform moves."""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

pytest.importorskip('rclpy')

# Tests are imported by path, and their helpers have to be found.
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'stewart_node_support' / 'test')]

from stepped_clock import environment
from stewart_interfaces.msg import DriverState


@pytest.mark.slow
@pytest.mark.realtime
@pytest.mark.ros
@pytest.mark.installed
@pytest.mark.parametrize('seconds', [-3600.0, -1.0, 1.0, 3600.0])
def test_a_rig_stops_says_so_and_plays_again(seconds: float, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, HERE / 'stepped_rig.py', tmp_path, str(seconds)],
        env=environment(tmp_path)
        | {'PYTHONPATH': os.pathsep.join(filter(None, sys.path)), 'ROS_PYTHON_CHECK_FIELDS': '0'},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    print(told)

    # Driver and recorder go on: what is published is recorded, at its rate.
    assert told['legs_hz'] > 150.0
    assert told['lost'] == 0
    # The motion is broken off and the legs come to rest, unless the path goes on within all limits
    # after a second that was left out; nothing is a fault.
    assert told['stopping_s'] < 2.0 or seconds == 1.0
    assert seconds == 1.0 or 'no command in time' in told['reason']
    assert told['state'] == DriverState.ENABLED
    # Nobody has to restart anything.
    assert told['state_after'] == DriverState.ENABLED
    assert told['commands_after'] > 200
