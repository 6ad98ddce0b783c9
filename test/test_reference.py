# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/reference.md says of nodes, back ends and verbs what the code says."""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

SCRIPT = Path(__file__).resolve().parents[1] / 'docs' / 'reference.py'


def test_the_reference_is_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, '--check'], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
