# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which cards there are: packages offer them through the entry points ``stewart.daq_cards``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from stewart_driver.errors import ConfigurationError

GROUP = 'stewart.daq_cards'


@dataclass(frozen=True)
class CallersTime:
    """
    Time of a card in this process, which its caller lets pass.

    Attributes
    ----------
    now : callable
        Present time, which is also that of the stamps [s].
    come_to : callable
        Goes on to an instant; one that has passed changes nothing [s].

    """

    now: Callable[[], float]
    come_to: Callable[[float], None]


@dataclass(frozen=True)
class CardType:
    """
    A way to reach a card.

    Attributes
    ----------
    label : str
        What diagnostics call it.
    simulated : bool
        Whether there is no card.
    load : callable
        Returns an object with the functions of python3-comedilib; raises `CardError` where
        they are not installed.
    time_of : callable
        Takes the file name of a card, returns its time where that is simulated, and None where
        it is the machine's.

    """

    label: str
    simulated: bool
    load: Callable[[], Any]
    time_of: Callable[[str], CallersTime | None] = lambda _: None


def find_card_type(name: str) -> CardType:
    """
    Load the card type of this name; there is no fallback.

    Parameters
    ----------
    name : str
        Name of the entry point, for example ``comedi``.

    Returns
    -------
    CardType
        It, with nothing opened.

    Raises
    ------
    ConfigurationError
        If no installed package offers it; the message lists those that are.

    """
    known = {point.name: point for point in entry_points(group=GROUP)}
    if name not in known:
        raise ConfigurationError('card', name, ' or '.join(sorted(known)) or 'an installed card')
    found: CardType = known[name].load()
    return found
