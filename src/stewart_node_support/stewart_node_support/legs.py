# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six legs in a JointState: names, order and completeness are checked, never assumed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from builtin_interfaces.msg import Time
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from stewart_node_support.errors import MessageError

Array = NDArray[np.float64]

LEG_NAMES = tuple(f'leg_{number}' for number in range(1, 7))


class LegArrays(NamedTuple):
    """
    What a JointState says of the six legs; None where it says nothing.

    Attributes
    ----------
    position : ndarray, shape (6,), or None
        Strokes, legs 1 to 6 [m].
    velocity : ndarray, shape (6,), or None
        Rates [m/s].
    effort : ndarray, shape (6,), or None
        Forces, positive pushes the joints apart [N].

    """

    position: Array | None
    velocity: Array | None
    effort: Array | None


def leg_state_msg(
    header: Header,
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    effort: ArrayLike | None = None,
) -> JointState:
    """
    Return strokes, rates and forces of six legs as a JointState.

    Parameters
    ----------
    header : Header
        Its stamp is the instant that the values belong to.
    position, velocity, effort : array_like, shape (6,), optional
        Strokes [m], rates [m/s], forces [N], legs 1 to 6. What is not given stays empty: nothing
        measured is not zero.

    Returns
    -------
    JointState
        With the names ``leg_1`` to ``leg_6``.

    Raises
    ------
    MessageError
        If an array does not have six elements.

    """
    message = LegStateMessage().filled(header.stamp, position, velocity, effort)
    message.header = header
    return message


class LegStateMessage:
    """
    A JointState of six legs that is filled anew: to make one costs more than to send it.

    Publish what `filled` returns before calling it again.

    """

    def __init__(self) -> None:
        """Prepare what never changes."""
        self._message = JointState(name=list(LEG_NAMES))

    def filled(
        self,
        stamp: Time,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
    ) -> JointState:
        """Return the message without a frame; arguments and errors as for `leg_state_msg`."""
        message = self._message
        message.header.stamp = stamp
        message.position = _list('position', position)
        message.velocity = _list('velocity', velocity)
        message.effort = _list('effort', effort)
        return message


def legs_from_msg(message: JointState) -> LegArrays:
    """
    Return the six legs of a JointState.

    Parameters
    ----------
    message : JointState
        Named ``leg_1`` to ``leg_6``, in any order.

    Returns
    -------
    LegArrays
        In the order of legs 1 to 6.

    Raises
    ------
    MessageError
        If the names are not those of the six legs, a length differs or a value is not finite.

    """
    order = _order(tuple(message.name))
    return LegArrays(
        _array('position', message.position, order),
        _array('velocity', message.velocity, order),
        _array('effort', message.effort, order),
    )


def _list(name: str, values: ArrayLike | None) -> list[float]:
    if values is None:
        return []
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (6,):
        raise MessageError(f'the {name} of six legs has shape (6,), got {array.shape}')
    result: list[float] = array.tolist()
    return result


def _order(names: tuple[str, ...]) -> Sequence[int]:
    """Return where legs 1 to 6 stand among the names."""
    if names == LEG_NAMES:
        return range(6)
    if sorted(names) != list(LEG_NAMES):
        raise MessageError(f'a leg state names leg_1 to leg_6 once each, got {list(names)}')
    return [names.index(name) for name in LEG_NAMES]


def _array(name: str, values: Sequence[float], order: Sequence[int]) -> Array | None:
    if len(values) == 0:
        return None
    if len(values) != 6:
        raise MessageError(f'the {name} of a leg state has 6 or no values, got {len(values)}')
    numbers = [values[place] for place in order]
    for leg, number in enumerate(numbers, 1):
        if not isfinite(number):
            raise MessageError(f'the {name} of leg {leg} must be finite, got {number}')
    return np.array(numbers, dtype=np.float64)
