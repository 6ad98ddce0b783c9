# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the octets of one drive mean in the cyclic exchange, read from its PDO maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import struct
from typing import NamedTuple

from stewart_driver.ethercat.cia402 import objects
from stewart_driver.ethercat.cia402.states import Mode
from stewart_driver.ethercat.errors import UnusableMap


@dataclass(frozen=True)
class Signal:
    """An object of the cyclic exchange: where it is, how long, and its code in struct."""

    index: int
    bits: int
    code: str

    @property
    def entry(self) -> int:
        """The 32 bits of a PDO map: index, subindex 0, length."""
        return self.index << 16 | self.bits


# By the names that drives/*.yaml uses.
OUTPUTS = {
    'controlword': Signal(objects.CONTROLWORD, 16, 'H'),
    'target_position': Signal(objects.TARGET_POSITION, 32, 'i'),
    'torque_offset': Signal(objects.TORQUE_OFFSET, 16, 'h'),
    'mode': Signal(objects.MODE, 8, 'b'),
}
INPUTS = {
    'statusword': Signal(objects.STATUSWORD, 16, 'H'),
    'position_actual': Signal(objects.POSITION_ACTUAL, 32, 'i'),
    'velocity_actual': Signal(objects.VELOCITY_ACTUAL, 32, 'i'),
    'torque_actual': Signal(objects.TORQUE_ACTUAL, 16, 'h'),
    'error_code': Signal(objects.ERROR_CODE, 16, 'H'),
    'mode_display': Signal(objects.MODE_DISPLAY, 8, 'b'),
    'digital_inputs': Signal(objects.DIGITAL_INPUTS, 32, 'I'),
}
# What CiA 402 adds to targets and torque in mode 8. A target that is the actual position carries a
# leg away with the first, by so much in every cycle; only the last one is ever other than 0.
OFFSETS = {
    'position offset': Signal(objects.POSITION_OFFSET, 32, 'i'),
    'velocity offset': Signal(objects.VELOCITY_OFFSET, 32, 'i'),
    'torque offset': OUTPUTS['torque_offset'],
}
# An octet of a map that means nothing: many drives take no map of odd length.
PADDING, PADDING_ENTRY = 'padding', 0x00000008
# Of the indices that stand for a gap of a type of data (CiA 301).
LAST_DATA_TYPE = 0x0FFF
CYCLIC_POSITION = int(Mode.CYCLIC_SYNCHRONOUS_POSITION)
NEEDED_OUTPUTS = ('controlword', 'target_position')
NEEDED_INPUTS = ('statusword', 'position_actual')


class Inputs(NamedTuple):
    """What one drive reports, in the order of `INPUTS`; None where its map does not have it."""

    statusword: int
    position: int
    velocity: int | None = None
    torque: int | None = None
    error_code: int | None = None
    mode: int | None = None
    digital: int | None = None


def _offsets(entries: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield every entry of the assigned maps and where it begins [bit]."""
    offset = 0
    for entry in entries:
        yield entry, offset
        offset += entry & 0xFF


def _octets(entries: Sequence[int]) -> int:
    """Return the length of the maps [octet]."""
    return -(-sum(entry & 0xFF for entry in entries) // 8)


def _find(
    leg: int, entries: Sequence[int], signals: Mapping[str, Signal], needed: Sequence[str]
) -> dict[str, int]:
    """Return where each signal that is mapped begins [octet]; raises `UnusableMap`."""
    offsets = dict(_offsets(entries))
    found = {
        name: offsets[signal.entry] // 8
        for name, signal in signals.items()
        if offsets.get(signal.entry, 1) % 8 == 0
    }
    for name in needed:
        if name not in found:
            there = ', '.join(f'{entry >> 16:04X}h' for entry in entries) or 'nothing'
            raise UnusableMap(
                f'drive of leg {leg} does not map {name.replace("_", " ")} '
                f'({signals[name].index:04X}h); it maps {there}'
            )
    return found


def refuse_twice(leg: int, entries: Sequence[int]) -> None:
    """Raise `UnusableMap` where one map has an object twice: it was misread.

    Several maps of inputs may have one. Index 0 and types of data are gaps.
    """
    meant = [entry for entry in entries if entry >> 16 > LAST_DATA_TYPE]
    if len(set(meant)) < len(meant):
        there = ', '.join(f'{item >> 16:04X}h' for item in entries)
        raise UnusableMap(f'drive of leg {leg} says that it maps {there}: one is there twice')


def check_sizes(read: Sequence[tuple[int, int]], laid: Sequence[tuple[int, int]]) -> None:
    """Raise `UnusableMap` unless the process data are as long as the maps that were read.

    Args:
        read, laid: Octets of outputs and inputs of each drive, legs 1 to 6.
    """
    wrong = [
        f'leg {leg} has {there[0]} and {there[1]} octets, its maps {maps[0]} and {maps[1]}'
        for leg, (maps, there) in enumerate(zip(read, laid, strict=True), 1)
        if maps != there
    ]
    if wrong:
        raise UnusableMap(f'outputs and inputs do not fit the maps: {"; ".join(wrong)}')


class OutputImage:
    """Octets for one drive.

    Args:
        present: Returns the present value of an object, index and subindex, as octets: what is
            mapped and of no interest here keeps it, for a zero there might mean no torque. But
            `OFFSETS` are 0.

    Attributes:
        size: Length [octet].
        takes_mode: Whether the mode of operation is exchanged, too.
    """

    def __init__(
        self, leg: int, entries: Sequence[int], present: Callable[[int, int], bytes]
    ) -> None:
        refuse_twice(leg, entries)
        at = _find(leg, entries, OUTPUTS, NEEDED_OUTPUTS)
        self.size = _octets(entries)
        self._image = bytearray(self.size)
        ours = {signal.entry for signal in (*OUTPUTS.values(), *OFFSETS.values())}
        for entry, offset in _offsets(entries):
            if entry >> 16 and entry not in ours and not offset % 8:
                data = present(entry >> 16, entry >> 8 & 0xFF)[: (entry & 0xFF) // 8]
                self._image[offset // 8 : offset // 8 + len(data)] = data
        self._word, self._target = at['controlword'], at['target_position']
        self._torque, self._mode = at.get('torque_offset'), at.get('mode')
        self.takes_mode = self._mode is not None

    def pack(self, word: int, target: int, torque: int, mode: int = CYCLIC_POSITION) -> bytes:
        """Return the octets for controlword, target [count], torque offset [0.1 %] and mode."""
        image = self._image
        struct.pack_into('<H', image, self._word, word)
        struct.pack_into('<i', image, self._target, target)
        if self._torque is not None:
            struct.pack_into('<h', image, self._torque, torque)
        if self._mode is not None:
            image[self._mode] = mode
        return bytes(image)


class InputImage:
    """Octets of one drive, by its input maps; raises `UnusableMap` as `OutputImage` does.

    Attributes:
        size: Length [octet].
        measures_torque: Whether the drive reports its torque.
    """

    def __init__(self, leg: int, entries: Sequence[int]) -> None:
        at = _find(leg, entries, INPUTS, NEEDED_INPUTS)
        self._at = [(at.get(name), f'<{signal.code}') for name, signal in INPUTS.items()]
        self.size = _octets(entries)
        self.measures_torque = 'torque_actual' in at

    def unpack(self, data: bytes) -> Inputs:
        """Return what the octets say."""
        return Inputs._make(
            None if at is None else struct.unpack_from(code, data, at)[0] for at, code in self._at
        )
