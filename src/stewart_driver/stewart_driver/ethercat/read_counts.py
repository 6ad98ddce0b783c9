# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read where the drives stand, and who they are, with the motors off.

Positions come by SDO in PREOP, so nothing is exchanged in a cycle and no drive can be switched on.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
import struct
import sys

from stewart_driver.ethercat import own_process
from stewart_driver.ethercat.cia402.objects import POSITION_ACTUAL
from stewart_driver.ethercat.drive_setup import check_encoder
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.legs import LEGS
from stewart_driver.rig_file import DriveIdentity

READINGS = 3
PERIOD = 0.1


@dataclass(frozen=True)
class Reading:
    """Six drives at rest.

    Attributes:
        counts: Positions [count].
        wandering: Largest change of a position while they were read [count].
        identities: Who they are.
    """

    counts: tuple[int, ...]
    wandering: int
    identities: tuple[DriveIdentity, ...]


def ask(options: EthercatOptions) -> Reading:
    """Read in another process.

    Args:
        options: Where the drives are.

    Returns:
        Where they stand.

    Raises:
        TransportError: If they cannot be read; the reason of the other process.
    """
    found = own_process.ask(__name__, asdict(options))
    identities = tuple(DriveIdentity(*item) for item in found['identities'])
    return Reading(tuple(found['counts']), found['wandering'], identities)


def read(options: EthercatOptions) -> Reading:
    """Read in this process, which must have one thread if there is a namespace to enter.

    Raises:
        TransportError: If the wire cannot be used, or the drives are not those of the type.
    """
    from stewart_driver.ethercat import namespace, wires
    from stewart_driver.ethercat.starting import check_identities

    kind = DriveType.from_yaml(options.drive)
    if options.namespace:
        namespace.enter(options.namespace)
    bus = wires.open_wire(options.interface, options.frame_timeout)
    try:
        drives = bus.scan(LEGS)
        identities = tuple(drive.identity() for drive in drives)
        check_identities(identities, kind)
        for drive in drives:
            check_encoder(drive, kind)
        rows = []
        for number in range(READINGS):
            bus.sleep(PERIOD if number else 0.0)
            rows.append(
                [struct.unpack('<i', drive.read(POSITION_ACTUAL, 0)[:4])[0] for drive in drives]
            )
    finally:
        bus.close()
    wandering = max(max(column) - min(column) for column in zip(*rows, strict=True))
    return Reading(tuple(rows[-1]), wandering, identities)


if __name__ == '__main__':
    sys.exit(own_process.answer(lambda options: asdict(read(EthercatOptions(**options)))))
