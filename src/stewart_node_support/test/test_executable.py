# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a node's executable does before the node is there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

# As long as kernels are compiled, Python is busy and nothing else happens.
SLOW = """
from stewart_node_support import executable

def compile_kernels(name):
    print('compiling', flush=True)
    while True:
        pass

executable.node_class = compile_kernels
executable.main()
"""


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_node_that_is_still_imported(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, '-c', SLOW],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == 'compiling\n'
        process.send_signal(number)
        assert process.wait(timeout=10.0) == 0
    finally:
        process.kill()
        process.communicate()
