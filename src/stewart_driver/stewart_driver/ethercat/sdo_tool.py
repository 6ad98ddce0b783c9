# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is on the cable, where its drives stand, and single objects, with all motors off.

The slaves are brought to PREOP for it, where none exchanges process data and no motor can be
switched on. So the driver must not run: two masters would disturb each other, and are refused.

Only a process with a single thread can enter a network namespace, so this is done in one of its
own, ``python -m stewart_driver.ethercat.sdo_tool REQUEST``: it takes a request in JSON, and prints
its answer in JSON or one sentence on why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
import json
import subprocess
import sys
from typing import Any

from stewart_driver.control.child_process import environment
from stewart_driver.errors import ConfigurationError, StewartError, TransportError
from stewart_driver.ethercat import namespace, wires
from stewart_driver.ethercat.cia402 import objects
from stewart_driver.ethercat.cia402.states import decode_state, StatuswordError
from stewart_driver.ethercat.drive_setup import check_encoder
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.sdo import number, optional_number, pack, unpack
from stewart_driver.ethercat.starting import check_identities
from stewart_driver.ethercat.wires import Slave, Wire
from stewart_driver.legs import LEGS
from stewart_driver.rig_file import DriveIdentity

TIMEOUT = 60.0
READINGS, PERIOD = 3, 0.1
WRITE_ONLY = 'abort 0x06010001'


@dataclass(frozen=True)
class Found:
    """One slave on the cable.

    Attributes:
        place: From 1; its leg where there are drives only.
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


@dataclass(frozen=True)
class Reading:
    """Six drives at rest.

    Attributes:
        counts: Positions [count].
        wandering: Largest change of a position while they were read [count].
    """

    counts: tuple[int, ...]
    wandering: int
    identities: tuple[DriveIdentity, ...]


def scan(options: EthercatOptions) -> tuple[Found, ...]:
    """Return what is on the cable, in its order; raises `TransportError`."""
    return tuple(Found(**item) for item in _ask(options, 'scan'))


def read_counts(options: EthercatOptions) -> Reading:
    """Return where the drives stand; raises `TransportError`."""
    counts, wandering, identities = _ask(options, 'counts')
    return Reading(tuple(counts), wandering, tuple(DriveIdentity(*item) for item in identities))


def read_object(
    options: EthercatOptions, place: int, index: int, subindex: int, kind: str
) -> int | str | None:
    """Return the value of an object; None if it can only be written."""
    return _value(kind, _ask(options, 'transfer', place, index, subindex, None))


def write_object(
    options: EthercatOptions, place: int, index: int, subindex: int, kind: str, value: int | str
) -> int | str | None:
    """Write an object as `read_object` reads it; return what it is now, to compare."""
    data = pack(kind, value).hex()
    return _value(kind, _ask(options, 'transfer', place, index, subindex, data))


def _value(kind: str, data: str | None) -> int | str | None:
    return None if data is None else unpack(kind, bytes.fromhex(data))


def parse_address(text: str) -> tuple[int, int]:
    """Read the address of an object; raises `ConfigurationError`.

    Examples:
        >>> parse_address('607D:2')
        (24701, 2)
    """
    index, _, subindex = text.lower().removeprefix('0x').replace('h', '').partition(':')
    try:
        result = int(index, 16), int(subindex or '0', 16)
    except ValueError:
        result = -1, -1
    if not (0 <= result[0] <= 0xFFFF and 0 <= result[1] <= 0xFF):
        raise ConfigurationError('object', text, 'index and subindex, such as 607D:2')
    return result


def _ask(options: EthercatOptions, what: str, *arguments: Any) -> Any:
    """Let another process call one of `ANSWERS`; raises `TransportError` with its reason."""
    try:
        done = subprocess.run(
            [sys.executable, '-m', __name__, json.dumps([asdict(options), what, arguments])],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TransportError(
            f'the slaves have not answered within {TIMEOUT:g} s: a mailbox is dead, or very slow'
        ) from None
    if done.returncode:
        reason = done.stderr.strip().rpartition('\n')[2]
        raise TransportError(reason or 'the drives were not asked')
    return json.loads(done.stdout)


def main() -> int:
    """Answer the request on the command line; return the exit code."""
    given, what, arguments = json.loads(sys.argv[1])
    options = EthercatOptions(**given)
    try:
        with _open(options) as wire:
            print(json.dumps(ANSWERS[what](options, wire, *arguments)))
    except StewartError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@contextmanager
def _open(options: EthercatOptions) -> Iterator[Wire]:
    """Open the wire; bring its slaves to INIT in the end."""
    if options.namespace:
        namespace.enter(options.namespace)
    wire = wires.open_wire(options.interface, options.frame_timeout)
    try:
        yield wire
    finally:
        wire.close()


def _scan(_: EthercatOptions, wire: Wire) -> list[dict[str, Any]]:
    slaves = wire.scan(None)
    return [asdict(found) for found in wire.each(_found, range(1, len(slaves) + 1), slaves)]


def _found(place: int, slave: Slave) -> Found:
    word, state = optional_number(slave, objects.STATUSWORD, 0, '<H'), ''
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
        optional_number(slave, objects.POSITION_ACTUAL, 0, '<i'),
        optional_number(slave, objects.ERROR_CODE, 0, '<H'),
        optional_number(slave, objects.SUPPORTED_MODES, 0, '<I'),
    )


def _counts(
    options: EthercatOptions, wire: Wire
) -> tuple[list[int], int, Sequence[DriveIdentity]]:
    kind = DriveType.from_yaml(options.drive)
    drives = wire.scan(LEGS, kind.accepts)
    identities = wire.each(lambda drive: drive.identity(), drives)
    check_identities(identities, kind)
    wire.each(check_encoder, drives, [kind] * LEGS)
    rows = []
    for reading in range(READINGS):
        wire.sleep(PERIOD if reading else 0.0)
        rows.append([number(drive, objects.POSITION_ACTUAL, 0, '<i') for drive in drives])
    return (
        rows[-1],
        max(max(column) - min(column) for column in zip(*rows, strict=True)),
        identities,
    )


def _transfer(
    _: EthercatOptions, wire: Wire, place: int, index: int, subindex: int, data: str | None
) -> str | None:
    slaves = wire.scan(None)
    if not slaves:
        raise TransportError('nothing answers on the cable')
    if not 1 <= place <= len(slaves):
        raise ConfigurationError('place', place, f'1 to {len(slaves)}, which are there')
    slave = slaves[place - 1]
    try:
        if data is not None:
            slave.write(index, subindex, bytes.fromhex(data))
        return _readable(slave, index, subindex)
    except SdoRefused as error:
        # Beside couplers and terminals a place is no leg.
        raise TransportError(
            f'place {place} on the cable ({slave.name}) refuses object '
            f'{index:04X}h:{subindex:X}: {error.reason}'
        ) from None


def _readable(slave: Slave, index: int, subindex: int) -> str | None:
    """Return the octets of an object; None if it can only be written."""
    try:
        return slave.read(index, subindex).hex()
    except SdoRefused as error:
        if WRITE_ONLY in error.reason:
            return None
        raise


ANSWERS: dict[str, Callable[..., Any]] = {'scan': _scan, 'counts': _counts, 'transfer': _transfer}

if __name__ == '__main__':
    sys.exit(main())
