# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six legs in a JointState, as bytes: names, order and completeness are checked, never assumed."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sensor_msgs.msg import JointState
from stewart_node_support.codec import finite, Layout, Reader, stamp_of, Writer
from stewart_node_support.errors import MessageError

Array = NDArray[np.float64]

LEG_NAMES = tuple(f'leg_{number}' for number in range(1, 7))
FIELDS = ('position', 'velocity', 'effort')


class LegState(NamedTuple):
    """What a JointState says of the six legs; None where it says nothing.

    Attributes:
        stamp: Instant that the values belong to [ns].
        position, velocity, effort (6,): Strokes, legs 1 to 6 [m], rates [m/s], forces, positive
            pushes the joints apart [N].
    """

    stamp: int
    position: Array | None
    velocity: Array | None
    effort: Array | None


class LegWriter:
    """Serialise strokes, rates and forces of six legs; one writer per combination, when needed."""

    def __init__(self) -> None:
        self._writers: dict[tuple[str, ...], Writer] = {}

    def write(
        self,
        stamp: int,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
    ) -> bytes:
        """Return the bytes of a JointState with the names ``leg_1`` to ``leg_6`` and no frame.

        Args:
            stamp: Instant that the values belong to [ns].
            position, velocity, effort (6,): Strokes [m], rates [m/s], forces [N], legs 1 to 6.
                What is not given stays empty: nothing measured is not zero.

        Raises:
            MessageError: If an array does not have six elements.
        """
        fields = zip(FIELDS, (position, velocity, effort), strict=True)
        given = {name: values for name, values in fields if values is not None}
        names = tuple(given)
        if names not in self._writers:
            message = JointState(name=list(LEG_NAMES), **{name: [0.0] * 6 for name in names})
            self._writers[names] = Writer(message, *names)
        return self._writers[names].write(stamp, *given.values())


def leg_reader() -> Reader[LegState]:
    """Return a reader of JointState messages that name ``leg_1`` to ``leg_6``, in any order.

    Its ``read`` returns legs 1 to 6 in order, and raises MessageError where the names are not
    those of the six legs, a field has neither six values nor none, or a value is not finite.
    """
    return Reader(JointState, _legs)


def _legs(layout: Layout) -> Callable[[bytes], LegState]:
    names = layout.texts['name']
    if sorted(names) != list(LEG_NAMES):
        raise MessageError(f'a leg state names leg_1 to leg_6 once each, got {list(names)}')
    order = None if names == LEG_NAMES else [names.index(name) for name in LEG_NAMES]
    position, velocity, effort = (_field(layout, name, order) for name in FIELDS)

    def decode(data: bytes) -> LegState:
        return LegState(stamp_of(data), position(data), velocity(data), effort(data))

    return decode


def _field(layout: Layout, name: str, order: list[int] | None) -> Callable[[bytes], Array | None]:
    count = layout.place(name)[2]
    if count == 0:
        return lambda _: None
    if count != 6:
        raise MessageError(f'the {name} of a leg state has 6 or no values, got {count}')
    numbers = layout.numbers(name)

    def decode(data: bytes) -> Array:
        values = numbers(data)
        if order is not None:
            values = values[order]
        if not finite(values.tolist()):
            leg = next(leg for leg, value in enumerate(values) if not isfinite(value))
            raise MessageError(f'the {name} of leg {leg + 1} must be finite, got {values[leg]}')
        return values

    return decode
