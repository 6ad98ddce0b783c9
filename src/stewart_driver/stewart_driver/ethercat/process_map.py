# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the octets of one drive mean in the cyclic exchange, read from its PDO maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import struct
from typing import NamedTuple

from stewart_driver.ethercat.cia402.objects import unpack_mapping
from stewart_driver.ethercat.errors import UnusableMap
from stewart_driver.ethercat.signals import (
    INPUTS,
    NEEDED_INPUTS,
    NEEDED_OUTPUTS,
    OUTPUTS,
    Signal,
)


@dataclass(frozen=True)
class Place:
    """An entry of a map: index, subindex, and where it lies [bit]."""

    index: int
    subindex: int
    bits: int
    offset: int


class Inputs(NamedTuple):
    """What one drive reports; None where its map does not have it."""

    statusword: int
    position: int
    velocity: int | None
    torque: int | None
    error_code: int | None
    mode: int | None = None
    digital: int | None = None


def places(entries: Sequence[int]) -> list[Place]:
    """Return where every entry of the assigned maps lies, one behind the other."""
    result, offset = [], 0
    for entry in entries:
        index, subindex, bits = unpack_mapping(entry)
        result.append(Place(index, subindex, bits, offset))
        offset += bits
    return result


def octets(entries: Sequence[int]) -> int:
    """Return the length of the maps [octet]."""
    return -(-sum(entry & 0xFF for entry in entries) // 8)


def find_signals(
    leg: int, entries: Sequence[int], signals: Mapping[str, Signal], needed: Sequence[str]
) -> dict[str, int]:
    """Find the signals in the maps of a drive.

    Args:
        leg: Whose drive, for the error.
        entries: Entries of all assigned maps in their order.
        signals: What can be made use of.
        needed: Signals without which nothing goes.

    Returns:
        Where each signal that is there begins [octet].

    Raises:
        UnusableMap: If a needed signal is missing, or lies across octets.
    """
    found = {}
    mapped = {(place.index, place.subindex, place.bits): place for place in places(entries)}
    for name, signal in signals.items():
        place = mapped.get((signal.index, signal.subindex, signal.bits))
        if place is not None and place.offset % 8 == 0:
            found[name] = place.offset // 8
        elif name in needed:
            there = ', '.join(f'{entry >> 16:04X}h' for entry in entries) or 'nothing'
            raise UnusableMap(
                f'drive of leg {leg} does not map {name.replace("_", " ")} ({signal.index:04X}h); '
                f'it maps {there}'
            )
    return found


class OutputImage:
    """Octets for one drive.

    Args:
        leg: Whose drive.
        entries: Its output maps.
        present: Returns the present value of an object, index and subindex, as octets: what is
            mapped and of no interest here keeps it, for a zero there might mean no torque.

    Attributes:
        takes_torque: Whether feed-forward reaches the drive.
    """

    def __init__(
        self, leg: int, entries: Sequence[int], present: Callable[[int, int], bytes]
    ) -> None:
        """Find the signals and fill the rest."""
        at = find_signals(leg, entries, OUTPUTS, NEEDED_OUTPUTS)
        self._image = bytearray(octets(entries))
        ours = {(signal.index, signal.subindex) for signal in OUTPUTS.values()}
        for place in places(entries):
            if place.index and (place.index, place.subindex) not in ours and not place.offset % 8:
                data = present(place.index, place.subindex)[: place.bits // 8]
                start = place.offset // 8
                self._image[start : start + len(data)] = data
        self._word = at['controlword']
        self._target = at['target_position']
        self._torque = at.get('torque_offset')
        self.takes_torque = self._torque is not None

    def pack(self, word: int, target: int, torque: int) -> bytes:
        """Return the octets for controlword, target [count] and torque offset [0.1 %]."""
        image = self._image
        struct.pack_into('<H', image, self._word, word)
        struct.pack_into('<i', image, self._target, target)
        if self._torque is not None:
            struct.pack_into('<h', image, self._torque, torque)
        return bytes(image)


class InputImage:
    """Octets of one drive.

    Args:
        leg: Whose drive.
        entries: Its input maps.

    Attributes:
        measures_torque, measures_velocity: Whether the drive reports these.
    """

    def __init__(self, leg: int, entries: Sequence[int]) -> None:
        """Find the signals."""
        self._at = find_signals(leg, entries, INPUTS, NEEDED_INPUTS)
        self.size = octets(entries)
        self.measures_torque = 'torque_actual' in self._at
        self.measures_velocity = 'velocity_actual' in self._at

    def unpack(self, data: bytes) -> Inputs:
        """Return what the octets say."""
        read = {
            name: struct.unpack_from(f'<{INPUTS[name].code}', data, offset)[0]
            for name, offset in self._at.items()
        }
        return Inputs(
            read['statusword'],
            read['position_actual'],
            read.get('velocity_actual'),
            read.get('torque_actual'),
            read.get('error_code'),
            read.get('mode_display'),
            read.get('digital_inputs'),
        )
