# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which signals ask to stop."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CHILD = """
import os, signal, sys
from stewart_node_support.stop_signals import StopSignals

before = getattr(signal, sys.argv[2])
signal.signal(signal.SIGHUP, before)
with StopSignals() as stop:
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    print(stop.requested)
    stop.restore()
    assert signal.getsignal(signal.SIGHUP) is before
"""


@pytest.mark.parametrize(
    ('name', 'hangup', 'requested'),
    [
        ('SIGINT', 'SIG_DFL', True),
        ('SIGTERM', 'SIG_IGN', True),
        ('SIGHUP', 'SIG_DFL', True),
        # Under nohup.
        ('SIGHUP', 'SIG_IGN', False),
    ],
)
def test_a_signal_is_a_request_to_stop(name: str, hangup: str, requested: bool) -> None:
    done = subprocess.run(
        [sys.executable, '-c', CHILD, name, hangup],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout == f'{requested}\n'
