# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a rig file is that of the platform by whose geometry the legs are commanded."""

from __future__ import annotations

from hashlib import sha256
import json
import os
from pathlib import Path

from stewart_description.paths import platform_path, UnknownPlatformError
from stewart_driver.errors import ConfigurationError
from stewart_driver.rig_file import load_rig
from stewart_driver.yaml_fields import read_content

# What turns a pose into strokes; masses and limits may be edited without a new calibration.
GEOMETRY = ('base_joints', 'platform_joints', 'pairing')
LEG_GEOMETRY = ('retracted_length_m', 'stroke_m')


def geometry_digest(platform: str | os.PathLike[str]) -> str:
    """Return sixteen digits of a digest of what turns poses of a platform into strokes.

    Raises:
        ConfigurationError: If there is no such platform or its file has no geometry.
    """
    try:
        content = read_content(platform_path(platform))
    except (UnknownPlatformError, FileNotFoundError) as error:
        raise ConfigurationError(
            'platform', str(platform), f'a platform that there is ({error})'
        ) from None
    try:
        parts = {key: content[key] for key in GEOMETRY}
        parts |= {key: content['legs'][key] for key in LEG_GEOMETRY}
        text = json.dumps(parts, sort_keys=True)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        expected = f'a platform file with a geometry ({error})'
        raise ConfigurationError('platform', str(platform), expected) from None
    return sha256(text.encode()).hexdigest()[:16]


def require_platform_of_the_rig(platform: str, rig_file: str) -> None:
    """Refuse to drive a machine by the geometry of another one.

    Raises:
        ConfigurationError: If name or geometry differ.
    """
    rig = load_rig(rig_file)
    wanted = f'{rig.platform!r}, the platform of {rig_file}'
    if not platform or Path(platform).stem != Path(rig.platform).stem:
        raise ConfigurationError('platform', platform, wanted)
    if rig.geometry and rig.geometry != geometry_digest(platform):
        raise ConfigurationError(
            'platform',
            platform,
            f'{wanted}, whose geometry was another one at the last calibration: calibrate again',
        )
