# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One platform for everything in a process."""

from __future__ import annotations

from functools import lru_cache

from stewart_description import platform_path, UnknownPlatformError
from stewart_kinematics.model.platform import Platform


def load_platform(name_or_path: str) -> Platform:
    """Read a platform, once for every version of its file.

    Platforms cannot change, so all can share them, and with them what is prepared for a geometry.
    Parameters, result and errors are those of `Platform.from_yaml`.
    """
    try:
        version = platform_path(name_or_path).stat().st_mtime_ns
    except (UnknownPlatformError, OSError):
        version = 0  # Reading it says what is wrong.
    return _read(name_or_path, version)


@lru_cache(maxsize=8)
def _read(name_or_path: str, _version: int) -> Platform:
    return Platform.from_yaml(name_or_path)
