# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A URDF in the scene whose joints move many times a second.

`ViserUrdf.update_cfg` looks every joint up in a graph and tells position and attitude of all of
them, also those that stay: 13 ms of processor time for a platform, six times what this takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.joint_states import JOINT_NAMES
import viser
from viser.extras import ViserUrdf
import yourdfpy


class MovingUrdf:
    """A URDF below a node of the scene.

    Args:
        part: Link that is shown alone; then only joints that move it are moved.
        look: As of `ViserUrdf`.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        urdf: yourdfpy.URDF,
        root: str,
        part: str = '',
        **look: Any,
    ) -> None:
        self._shown = ViserUrdf(server, urdf, root_node_name=root, **look)
        self._shown.update_cfg(np.zeros(urdf.num_actuated_joints))
        above = {joint.child: joint.parent for joint in urdf.robot.joints}

        def chain(link: str) -> list[str]:
            return [*chain(above[link]), link] if link in above else []

        wanted = set(chain(part)) or set(above)
        joints = [joint for joint in urdf.actuated_joints if joint.child in wanted]
        self._order = [JOINT_NAMES.index(joint.name) for joint in joints]
        self._slides = [joint.type == 'prismatic' for joint in joints]
        self._axes = np.array([joint.axis for joint in joints])
        origins = np.array([np.eye(4) if j.origin is None else j.origin for j in joints])
        self._places, self._turns = origins[:, :3, 3], Rotation.from_matrix(origins[:, :3, :3])
        names = ['/'.join([root, 'visual', *chain(joint.child)]) for joint in joints]
        self._frames: list[Any] = [server.scene.get_handle_by_name(name) for name in names]
        assert None not in self._frames, names

    def move(self, positions: Array) -> None:
        """Move the joints to positions (24,) in the order of `JOINT_NAMES` [m, rad]."""
        ways = positions[self._order, None] * self._axes
        places = self._places + self._turns.apply(ways)
        turned = np.roll((self._turns * Rotation.from_rotvec(ways)).as_quat(), 1, axis=1)
        for frame, slides, place, turn in zip(
            self._frames, self._slides, places, turned, strict=True
        ):
            if slides:
                frame.position = place
            else:
                frame.wxyz = turn

    def show(self, shown: bool) -> None:
        """Show or hide it."""
        self._shown.show_visual = shown
