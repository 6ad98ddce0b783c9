# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is on the cable, and single objects of its slaves, with all motors off.

The slaves are brought to PREOP for it, where none exchanges process data. So the driver must not
run: two masters would disturb each other, and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
import struct
import sys
from typing import Any

from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat import own_process
from stewart_driver.ethercat.cia402 import decode_state, objects, StatuswordError
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.sdo import pack, SdoChannel, unpack
from stewart_driver.ethercat.starting import Slave


@dataclass(frozen=True)
class Found:
    """One slave on the cable.

    Attributes:
        place: From 1; of a drive its leg.
        name: Order code of its EEPROM.
        vendor, product, revision: Of its EEPROM.
        serial: Object 1018h:4; None if it cannot be read.
        state: Of the drive; empty if it is none.
        position: Where it stands [count].
        error_code: 603Fh, 0 if there is no fault.
        modes: 6502h, one bit per mode of operation.
    """

    place: int
    name: str
    vendor: int
    product: int
    revision: int
    serial: int | None
    state: str
    position: int | None
    error_code: int | None
    modes: int | None


def scan(options: EthercatOptions) -> tuple[Found, ...]:
    """Find out what is on the cable.

    Args:
        options: Where to look.

    Returns:
        In the order of the cable, as many as there are.

    Raises:
        TransportError: If the wire cannot be used.
    """
    answer = own_process.ask(__name__, {'options': asdict(options)})
    return tuple(Found(**item) for item in answer)


def read_object(
    options: EthercatOptions, place: int, index: int, subindex: int, kind: str
) -> int | str:
    """Read an object.

    Args:
        options: Where the slaves are.
        place: Which, from 1.
        index, subindex: Which object.
        kind: One of ``sdo.TYPES``.

    Returns:
        Its value.

    Raises:
        TransportError: If the wire cannot be used or the slave refuses.
        ConfigurationError: If there is no such slave, or the object is of another type.
    """
    data = _transfer(options, place, index, subindex)
    return unpack(kind, data)


def write_object(
    options: EthercatOptions, place: int, index: int, subindex: int, kind: str, value: int | str
) -> int | str:
    """Write an object, and read it back.

    Args:
        options: Where the slaves are.
        place: Which, from 1.
        index, subindex: Which object.
        kind: One of ``sdo.TYPES``.
        value: What it shall be.

    Returns:
        What it is now, which is for the caller to compare.

    Raises:
        TransportError: If the wire cannot be used or the slave refuses.
        ConfigurationError: If there is no such slave, or the value does not fit the type.
    """
    data = _transfer(options, place, index, subindex, pack(kind, value))
    return unpack(kind, data)


def parse_address(text: str) -> tuple[int, int]:
    """Read the address of an object.

    Raises:
        ConfigurationError: If it is none.

    Examples:
        >>> parse_address('607D:2')
        (24701, 2)
    """
    index, _, subindex = text.lower().removeprefix('0x').replace('h', '').partition(':')
    try:
        result = int(index, 16), int(subindex or '0', 0)
    except ValueError:
        result = -1, -1
    if not (0 <= result[0] <= 0xFFFF and 0 <= result[1] <= 0xFF):
        raise ConfigurationError('object', text, 'index and subindex, such as 607D:2')
    return result


def _transfer(
    options: EthercatOptions, place: int, index: int, subindex: int, data: bytes | None = None
) -> bytes:
    request = {
        'options': asdict(options),
        'transfer': [place, index, subindex, None if data is None else data.hex()],
    }
    return bytes.fromhex(own_process.ask(__name__, request))


def carry_out(request: dict[str, Any]) -> Any:
    """Scan, or transfer an object, in this process; the answer is what JSON can say."""
    with _slaves(EthercatOptions(**request['options'])) as slaves:
        if 'transfer' not in request:
            return [asdict(_meet(place, slave)) for place, slave in enumerate(slaves, 1)]
        place, index, subindex, data = request['transfer']
        if not 1 <= place <= len(slaves):
            raise ConfigurationError('place', place, f'1 to {len(slaves)}, which are there')
        slave = slaves[place - 1]
        if data is not None:
            slave.write(index, subindex, bytes.fromhex(data))
        return slave.read(index, subindex).hex()


@contextmanager
def _slaves(options: EthercatOptions) -> Iterator[Sequence[Slave]]:
    """Bring all slaves to PREOP, and to INIT in the end."""
    from stewart_driver.ethercat import namespace, wires

    if options.namespace:
        namespace.enter(options.namespace)
    wire = wires.open_wire(options.interface, options.frame_timeout)
    try:
        yield wire.scan(None)
    finally:
        wire.close()


def _meet(place: int, slave: Slave) -> Found:
    word, state = _number(slave, objects.STATUSWORD, '<H'), ''
    if word is not None:
        try:
            state = decode_state(word).name
        except StatuswordError as error:
            state = str(error)
    return Found(
        place,
        slave.name,
        *slave.identity(),
        state,
        _number(slave, objects.POSITION_ACTUAL, '<i'),
        _number(slave, objects.ERROR_CODE, '<H'),
        _number(slave, objects.SUPPORTED_MODES, '<I'),
    )


def _number(slave: SdoChannel, index: int, code: str) -> int | None:
    """Return an object, or None if the slave does not have it."""
    try:
        return int(struct.unpack_from(code, slave.read(index, 0))[0])
    except (SdoRefused, struct.error):
        return None


if __name__ == '__main__':
    sys.exit(own_process.answer(carry_out))
