# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The EX800 paper's model: thirteen bodies, 78 coordinates, 72 constraints and six drives.

It shares no code with ``newton_euler``: the two check each other.
"""

from stewart_dynamics.multibody.model import MultibodyModel, MultibodySolution

__all__ = ['MultibodyModel', 'MultibodySolution']
