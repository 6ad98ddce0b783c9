# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a node imports is imported before it is ready, which may take 1.5 s."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip('rclpy')

pytestmark = pytest.mark.ros


@pytest.mark.parametrize(
    'module',
    ['stewart_estimation.nodes.state_estimator', 'stewart_identification.nodes.identification'],
)
def test_a_node_does_without_what_takes_half_a_second(module: str) -> None:
    code = f'import sys, {module}; raise SystemExit("scipy.stats" in sys.modules)'
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0
