# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a wire is, and which there are: network interfaces, and those in this process in `OFFERS`.

A wire in this process brings a master and a time of its own; all above it is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from stewart_driver.ethercat.errors import AlStatus, Emergency
from stewart_driver.ethercat.sdo import SdoChannel, T
from stewart_driver.offers import Offers
from stewart_driver.rig_file import DriveIdentity


class Slave(SdoChannel, Protocol):
    """One drive on the wire, with the name that its EEPROM has."""

    @property
    def name(self) -> str:
        """Order code."""

    def identity(self) -> DriveIdentity:
        """Return vendor, product, revision and serial number."""


class Wire(Protocol):
    """What the back end needs of `Bus`; all waiting uses its clock."""

    def now(self) -> float:
        """Return the present instant of its steady clock [s]."""

    def sleep(self, duration: float) -> None:
        """Let some time pass [s]."""

    def scan(
        self, count: int | None, accepts: Callable[[DriveIdentity], bool] | None = None, /
    ) -> Sequence[Slave]:
        """Find the drives, so many unless None, and bring all slaves to PREOP."""

    def map(
        self,
        *,
        watchdog: float,
        sync: tuple[float, float] | None,
        sizes: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """Lay the process data out, compare their sizes, and ask for SAFEOP."""

    @property
    def watchdogs(self) -> Sequence[float]:
        """After which silence each drive stops by its registers [s], 0: never; after `map`."""

    def use_cycle_timeout(self) -> None:
        """Wait for no frame longer than for one of the cycle from now on."""

    def request(self, state: int) -> None:
        """Ask all slaves for a state, and do not wait."""

    def recover(self, leg: int) -> None:
        """Ask a slave that has left OP for SAFEOP for OP again."""

    def readdress(self, leg: int) -> None:
        """Give a slave its address that has restarted at its place on the cable, if it has."""

    def statuses(self) -> list[AlStatus]:
        """Read the state of all slaves."""

    def exchange(self, outputs: Sequence[bytes]) -> int:
        """Send outputs and wait for inputs; return the working counter."""

    @property
    def expected(self) -> int:
        """Working counter if every slave takes part."""

    def inputs(self) -> list[bytes]:
        """Return what the drives have sent last."""

    @property
    def clock(self) -> int:
        """Time of the reference clock at the last frame [ns]."""

    def emergencies(self, leg: int) -> list[Emergency]:
        """Return the emergencies of a drive since the last call."""

    def beside(self, leg: int, call: Callable[[], T]) -> Generator[None, None, T]:
        """Ask a drive by SDO while the frames go on: yields once a cycle until it has answered."""

    def each(self, ask: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """Ask as `map` does, side by side where mailboxes take time; before any cycle."""

    def close(self) -> None:
        """Bring the slaves to INIT and close the interface."""


Open: TypeAlias = Callable[[float], Wire]
"""Takes the longest wait for a frame of the cycle [s]; raises `TransportError`."""

OFFERS: Offers[Open] = Offers()


def open_wire(interface: str, receive_timeout: float) -> Wire:
    """Open a wire, which the caller closes; raises `TransportError`.

    Args:
        interface: Name of a wire in this process, or of a network interface.
    """
    offered = OFFERS.find(interface)
    if offered is not None:
        return offered(receive_timeout)
    # The node's process asks what is offered, too, and needs no master.
    from stewart_driver.ethercat.bus import Bus

    return Bus(interface, receive_timeout)
