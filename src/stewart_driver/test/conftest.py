# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""For the tests of the driver."""

from __future__ import annotations

from pathlib import Path
import sys

# Tests are imported by path, and their helpers have to be found.
sys.path.insert(0, str(Path(__file__).parent))
