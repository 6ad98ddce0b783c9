# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Make the URDF of a platform from its YAML file."""

from __future__ import annotations

import os

from stewart_description.paths import platform_path, urdf_path


class RenderError(ValueError):
    """A platform's file makes no URDF."""


def render_urdf(
    platform: str | os.PathLike[str], prefix: str = '', *, ros2_control: bool = False
) -> str:
    """Expand the parametric model for one platform, a stored one by its name or a YAML file.

    Args:
        prefix: Put before the name of every link and joint.
        ros2_control: Add the tag by which a controller_manager drives the legs through the driver.

    Raises:
        UnknownPlatformError: If no platform of that name is stored.
        FileNotFoundError: If there is no such file.
        RenderError: If the file lacks what a model needs. `Platform.from_yaml` of
            stewart_kinematics says of more that is wrong with it, and where.
    """
    import xacro

    file = platform_path(platform).absolute()
    # It is pasted into a Python expression, between two apostrophes.
    pasted = str(file).replace('\\', r'\\').replace("'", r'\'')
    mappings = {'file': pasted, 'prefix': prefix, 'ros2_control': str(ros2_control).lower()}
    try:
        document = xacro.process_file(str(urdf_path()), mappings=mappings)
    except xacro.XacroException as error:
        # The first line says what is wrong; the others, in which expressions of ours.
        reason = (str(error).splitlines() or [''])[0].strip()
        raise RenderError(f'{file}: no URDF can be made of it: {reason}') from error
    return str(document.toprettyxml(indent='  '))
