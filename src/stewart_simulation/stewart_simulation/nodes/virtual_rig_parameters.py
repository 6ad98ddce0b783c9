# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the virtual_rig node beside those of the rig; no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_tables.settings import param


@dataclass(frozen=True)
class VirtualRigParameters:
    """Parameters of the virtual_rig node beside those of `RigSettings`."""

    directory: str = param('', 'where its wires end; empty: by user and platform, see README')
    base_on: str = param(
        '',
        'simulation/truth of another rig, on whose platform the base stands; in simulated time '
        'only, empty: the base is what `base` says',
    )
    truth_rate: float = param(200.0, 'rate of simulation/truth [Hz]', min=1.0, max=1000.0)
