# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every verb that writes says in one sentence that the disk takes no more, and leaves no part."""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

SCRIPT = Path(__file__).with_name('disk_verbs.py')
# A file system of its own, for this process alone.
MOUNT = 'mount -t tmpfs -o size=256k disk "$1" && shift && exec "$@"'
NAMESPACE = ['unshare', '--map-root-user', '--mount', 'sh', '-c', MOUNT, 'sh']


@pytest.mark.slow
@pytest.mark.installed
@pytest.mark.parametrize(
    ('kind', 'reason'),
    [
        ('full', 'No space left on device'),
        ('read-only', 'Read-only file system|permission denied'),
    ],
)
def test_a_disk_that_takes_nothing(kind: str, reason: str, tmp_path: Path) -> None:
    disk, inputs = tmp_path / 'disk', tmp_path / 'inputs'
    for folder in (disk, inputs):
        folder.mkdir()
    if subprocess.run([*NAMESPACE, disk, 'true'], check=False, capture_output=True).returncode:
        pytest.skip('this user may not mount a file system in a namespace')
    done = subprocess.run(
        [*NAMESPACE, disk, sys.executable, SCRIPT, kind, inputs, disk],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        check=False,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 10
    for result in found:
        # What cannot be written at all is refused with the command line.
        assert result['code'] in ({1} if kind == 'full' else {1, 2}), result
        assert result['left'] == [], result
        said = [line for line in result['said'] if 'assuming' not in line]
        assert len(said) == 1 or result['code'] == 2, result
        assert any(item in said[-1] for item in reason.split('|')), result
        assert '--rescue' not in said[-1], result
