# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart drives``: what is on the EtherCAT cable, and single objects of the drives."""

from __future__ import annotations

import argparse
from dataclasses import asdict
import json
from pathlib import Path

from stewart_driver.errors import TransportError
from stewart_driver.ethercat import sdo_tool
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.sdo import pack, TYPES, unpack
from stewart_driver.rig_file import interface_of, load_rig
from stewart_tables.numbers import whole_from

# Store and restore: what is written is a signature, what is read says what a drive can store.
SIGNED_FOR = (0x1010, 0x1011)

HELP = 'find the EtherCAT drives, and read or write their objects'

EXAMPLES = """
Stop the driver first: a cable has one master. The motors stay off; the drives are in PREOP while
they are asked. Objects are named by index and subindex as manuals do it, in hexadecimal digits.
What is written is read back, where it can be read; a drive keeps it until its supply goes, unless
its objects are stored by 1010h.

examples:
  stewart drives scan --interface eth1
  stewart drives scan --rig-file calibration.yaml --json
  stewart drives sdo read 3 6064:0 i32 --rig-file calibration.yaml
  stewart drives sdo read 1 1008:0 text --interface eth1
  stewart drives sdo write 3 6065:0 u32 500000 --rig-file calibration.yaml
  stewart drives sdo write 3 1010:1 u32 0x65766173 --rig-file calibration.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    actions = parser.add_subparsers(dest='action', required=True, metavar='scan | sdo')
    scan = actions.add_parser('scan', help='list what is on the cable')
    scan.add_argument('--json', action='store_true', help='print it as JSON')
    _add_wire(scan)
    accesses = actions.add_parser('sdo', help='read or write an object').add_subparsers(
        dest='access', required=True, metavar='read | write'
    )
    for access in ('read', 'write'):
        sdo = accesses.add_parser(access, help=f'{access} an object')
        sdo.add_argument(
            'place', type=whole_from(1), help='on the cable, from 1, as scan lists it'
        )
        sdo.add_argument('object', help='index:subindex, such as 607D:2')
        sdo.add_argument('type', choices=TYPES, metavar='TYPE', help=', '.join(TYPES))
        if access == 'write':
            sdo.add_argument('value', help='a number, 0x… too; a text; hexadecimal digits')
        _add_wire(sdo)


def _add_wire(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--interface', help='network interface (default: that of the calibration file)'
    )
    parser.add_argument('--rig-file', type=Path, help='file of the machine')
    parser.add_argument('--namespace', default='', help='network namespace of a virtual rig')


def main(arguments: argparse.Namespace) -> int:
    """Scan, read or write; 1 if the object has another value then. Raises `DriverError`."""
    rig = load_rig(arguments.rig_file) if arguments.rig_file else None
    interface = interface_of(arguments.interface, rig)
    options = EthercatOptions(interface=interface, namespace=arguments.namespace)
    if arguments.action == 'scan':
        found = sdo_tool.scan(options)
        print(json.dumps([asdict(item) for item in found], indent=2) if arguments.json else
              '\n'.join(map(_line, found)) or f'no slave answers on {interface}')  # fmt: skip
        return 0
    index, subindex = sdo_tool.parse_address(arguments.object)
    kind, place = arguments.type, arguments.place
    before = sdo_tool.read_object(options, place, index, subindex, kind)
    if arguments.access == 'read':
        if before is None:
            raise TransportError(f'{index:04X}h:{subindex:X} can only be written')
        print(before)
        return 0
    after = sdo_tool.write_object(options, place, index, subindex, kind, arguments.value)
    if after is None or index in SIGNED_FOR:
        print(f'{arguments.value} is taken, and cannot be read back')
        return 0
    print(f'{before} -> {after}')
    return int(after != unpack(kind, pack(kind, arguments.value)))


def _line(found: sdo_tool.Found) -> str:
    serial = 'unknown' if found.serial is None else str(found.serial)
    words = [
        f'{found.place}: {found.name}',
        f'vendor 0x{found.vendor:X}, product 0x{found.product:X}, '
        f'revision 0x{found.revision:X}, serial {serial}',
    ]
    if found.state:
        words.append(found.state)
    if found.position is not None:
        words.append(f'position {found.position} counts')
    if found.error_code:
        words.append(f'error 0x{found.error_code:04X}')
    return '; '.join(words)
