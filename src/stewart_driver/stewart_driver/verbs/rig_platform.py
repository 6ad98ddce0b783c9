# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which platform a calibration file is of: given once, and changed by ``--adopt`` alone.

And the question that is asked before such a file is written.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
import sys

import numpy as np
from stewart_description.paths import platform_path
from stewart_driver.errors import ConfigurationError
from stewart_driver.rig_file import geometry_digest, load_rig, Rig, save_rig
from stewart_tables.progress import tell

HELP = (
    'write the platform that `stewart calibrate` has found of this very machine into the file; '
    'zero offsets and lines stay, to which its lengths belong'
)


def add_adopt(group: argparse._MutuallyExclusiveGroup) -> None:
    """Add --adopt."""
    group.add_argument('--adopt', metavar='PLATFORM', help=HELP)


def agreed(question: str) -> bool:
    """Ask on stderr; tell whether the answer on stdin is yes."""
    print(question, end='', file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {'y', 'yes'}


def lasting(platform: str) -> str:
    """Return the name of a platform, or the path of its file that holds in any folder."""
    return str(Path(platform).resolve()) if Path(platform).is_file() else platform


def rig_of(path: Path, platform: str | None) -> Rig:
    """Return what a calibration file says, or a new machine of a platform where there is none.

    Raises:
        ConfigurationError: If the file cannot be used, or is of a platform with another geometry.
    """
    if not path.exists() and platform:
        return Rig(lasting(platform))
    rig = load_rig(path)
    if platform and not _same(platform, rig):
        expected = (
            f'{rig.platform!r}, the platform of {path}, which --adopt changes, keeping the '
            'offsets (the same machine, measured anew); another machine takes another file'
        )
        raise ConfigurationError('--platform', platform, expected)
    return rig


def _same(platform: str, rig: Rig) -> bool:
    """Tell whether a platform is the file's own, edited since or not, or has its geometry."""
    if lasting(platform) == lasting(rig.platform):
        return True
    return geometry_digest(platform) == (rig.geometry or geometry_digest(rig.platform))


def adopt(path: Path, platform: str, *, yes: bool) -> int:
    """Write another platform into a calibration file and keep the rest; 1 if the answer is no."""
    rig, digest = load_rig(path), geometry_digest(platform)
    tell(_differences(rig, platform))
    if not yes and not agreed(f'Is it the same machine? Write {path}? [y/N] '):
        return 1
    save_rig(path, replace(rig, platform=lasting(platform), geometry=digest))
    tell(f'written: {path}')
    return 0


def _differences(rig: Rig, platform: str) -> str:
    """Say by how much two platforms differ at most."""
    from stewart_kinematics.model.platform import Platform

    new = Platform.from_yaml(platform).geometry
    try:
        platform_path(rig.platform)
    except (ValueError, FileNotFoundError):
        return f'the platform of before, {rig.platform}, is not there to compare with'
    old = Platform.from_yaml(rig.platform).geometry
    shifts = [
        np.linalg.norm(after - before, axis=-1).max()
        for before, after in (
            (old.base_joints, new.base_joints),
            (old.platform_joints, new.platform_joints),
        )
    ]
    length = np.abs(new.retracted_length - old.retracted_length).max()
    return (
        f'{platform} differs from {rig.platform} in its joints by {1e3 * max(shifts):.3f} mm, in '
        f'the lengths of the legs by {1e3 * length:.3f} mm at most'
    )
