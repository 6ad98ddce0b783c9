# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a Stewart platform is, as data files, and where to find them."""

from stewart_description.paths import (
    platform_names,
    platform_path,
    rviz_path,
    UnknownPlatformError,
    urdf_path,
)

__all__ = ['UnknownPlatformError', 'platform_names', 'platform_path', 'rviz_path', 'urdf_path']
