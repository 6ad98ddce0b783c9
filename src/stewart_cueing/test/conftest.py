# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the helpers of these tests, and the rig of the kinematics."""

from pathlib import Path
import sys

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'stewart_kinematics' / 'test')]
