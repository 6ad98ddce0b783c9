# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Hand samples with any leading axes to kernels, which know rows only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import ShapeError
from stewart_kinematics.motion import Array


def rows(values: ArrayLike, name: str, size: int) -> tuple[Array, tuple[int, ...]]:
    """Flatten the leading axes of `name` (..., size), copied only where order or type demand it.

    Returns:
        (n, size): The samples as C-ordered float64.
        The leading axes, to shape the kernel's result with.

    Raises:
        ShapeError: If the last axis has another size.
    """
    array = np.ascontiguousarray(values, dtype=np.float64)
    # ascontiguousarray makes a scalar one-dimensional, which the size then refuses.
    if array.shape[-1] != size:
        raise ShapeError(name, f'(..., {size})', np.shape(values))
    return array.reshape(-1, size), array.shape[:-1]


def pose_rows(
    position: ArrayLike, quaternion_xyzw: ArrayLike
) -> tuple[Array, Array, tuple[int, ...]]:
    """Flatten positions (..., 3) and attitudes (..., 4), broadcasting one against the other.

    Returns:
        (n, 3), (n, 4): Positions and attitudes.
        The common leading axes.

    Raises:
        ShapeError: If a last axis is wrong or the leading axes do not broadcast.
    """
    p, lead = rows(position, 'position', 3)
    q, other = rows(quaternion_xyzw, 'quaternion_xyzw', 4)
    if lead == other:
        return p, q, lead
    try:
        common = np.broadcast_shapes(lead, other)
    except ValueError as error:
        raise ShapeError('quaternion_xyzw', str((*lead, 4)), (*other, 4)) from error
    p = np.broadcast_to(p.reshape(*lead, 3), (*common, 3))
    q = np.broadcast_to(q.reshape(*other, 4), (*common, 4))
    return rows(p, 'position', 3)[0], rows(q, 'quaternion_xyzw', 4)[0], common
