# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Cards in this process, by the names under which the driver opens them.

A driver knows a card by its file name alone. Those that begin with `PREFIX` are no files: whoever
simulates a card here offers it under such a name.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import errno
from itertools import count
import os

from stewart_simulation.daq_card.inline_wire import InlineWire

PREFIX = 'inline:'


@dataclass(frozen=True)
class InlineCard:
    """
    A card that is offered.

    Attributes
    ----------
    connect : callable
        Returns a wire to it.
    now : callable
        Its time, which is also that of its stamps [s].
    let_pass : callable
        Lets a slow call take its time [s].

    """

    connect: Callable[[], InlineWire]
    now: Callable[[], float]
    let_pass: Callable[[float], None]


_offered: dict[str, InlineCard] = {}
_numbers = count(1)


def offer(card: InlineCard) -> str:
    """Offer a card; return the name under which it is opened."""
    name = f'{PREFIX}{next(_numbers)}'
    _offered[name] = card
    return name


def withdraw(name: str) -> None:
    """Offer it no more; who has opened it keeps it."""
    _offered.pop(name, None)


def find(name: str) -> InlineCard | None:
    """
    Return the card of a name; None for a name that is a file.

    Raises
    ------
    OSError
        If no card is offered under such a name.

    """
    if not name.startswith(PREFIX):
        return None
    if name not in _offered:
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV), name)
    return _offered[name]
