# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where everything of this clone is; the tests set these to a folder of their own."""

from __future__ import annotations

import os
from pathlib import Path
import sys

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / '.venv'
CACHE = ROOT / '.cache'
# The environment that is replaced, until the new one is complete.
BEFORE = CACHE / 'venv.before'
TEMPORARY = CACHE / 'tmp'
LOG = ROOT / 'log' / 'bootstrap.log'
KERNEL_LOG = ROOT / 'log' / 'kernels.log'
# Not sys.executable: inside the environment that may be the very .venv that is made anew.
INTERPRETER = os.path.realpath(sys.executable)


def site_packages() -> Path:
    """Return where the virtual environment keeps its packages."""
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    return VENV / 'lib' / version / 'site-packages'
