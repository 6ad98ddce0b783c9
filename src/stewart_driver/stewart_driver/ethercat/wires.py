# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which wires there are: network interfaces, and wires in this process by the names of `OFFERS`.

A wire in this process brings a master and a time of its own; all above it is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from stewart_driver.ethercat.starting import Wire
from stewart_driver.offers import Offers

Open: TypeAlias = Callable[[float], Wire]
"""Takes the longest wait for a frame of the cycle [s]; raises `TransportError`."""

OFFERS: Offers[Open] = Offers()


def open_wire(interface: str, receive_timeout: float) -> Wire:
    """Open a wire.

    Args:
        interface: Name of a wire in this process, or of a network interface.
        receive_timeout: Longest wait for a frame of the cycle [s].

    Returns:
        The caller closes it.

    Raises:
        TransportError: If it cannot be opened.
    """
    offered = OFFERS.find(interface)
    if offered is not None:
        return offered(receive_timeout)
    # The node's process asks what is offered, too, and needs no master.
    from stewart_driver.ethercat.bus import Bus

    return Bus(interface, receive_timeout)


def require_callers_time(interface: str) -> None:
    """Refuse a wire whose time is not the caller's; raises `ConfigurationError`."""
    OFFERS.require('interface', interface)
