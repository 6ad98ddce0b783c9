# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A segment in the foreground, on an interface that somebody else has made."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest

pytest.importorskip('pyroute2')

from ethercat_rig import until

MODULE = (sys.executable, '-m', 'stewart_simulation.ethercat')
# The interface is one of a private network: no root is needed there.
INSIDE = 'exec "$@" --interface "$STEWART_ETHERCAT_INTERFACE"'


@pytest.mark.parametrize(
    'number', [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_segment_in_the_foreground_ends_on_a_signal(
    tmp_path: Path, number: signal.Signals
) -> None:
    control = tmp_path / 'control'
    inner = (*MODULE, '--drives', '1', '--control', str(control))
    process = subprocess.Popen(
        [*MODULE, '--drives', '1', '--', 'sh', '-c', INSIDE, 'sh', *inner],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: process.poll() is not None or control.exists(), nap=0.02)
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
    if 'What permits it' in errors:
        pytest.skip(errors)

    assert (process.returncode, errors) == (0, '')
    assert not control.exists()
