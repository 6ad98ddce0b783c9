# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a drive does by itself when the computer does not stop it: limits and option codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
import struct
from typing import Annotated, NamedTuple, TypeAlias

from stewart_driver.ethercat.cia402 import objects
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.gear import Gear, HIGHEST, LOWEST, PER_MILLE
from stewart_driver.ethercat.sdo import SdoChannel
from stewart_driver.legs import END_MARGIN, LegLimits
from stewart_tables.yaml_models import Check

MILLISECONDS = 1e3
LARGEST_WORD, LARGEST_SIGNED = (1 << 16) - 1, (1 << 31) - 1
LARGEST = {'<H': LARGEST_WORD, '<I': (1 << 32) - 1}
# Aborts 0609 0030h to 0032h: the drive does not take this value, and may take a smaller one.
OUT_OF_RANGE = 'abort 0x0609003'
NO_OBJECT = 'abort 0x06020000'
TORQUE_LIMITS = (objects.POSITIVE_TORQUE_LIMIT, objects.NEGATIVE_TORQUE_LIMIT)
# A leg that needs more than four times its way to stop is taken for one that does not hold.
LEAST_RAMP = 0.25
# What the option codes are for, and where they are (i16).
OPTIONS = {
    'abort_connection': objects.ABORT_CONNECTION_OPTION,
    'quick_stop': objects.QUICK_STOP_OPTION,
    'shutdown': objects.SHUTDOWN_OPTION,
    'disable_operation': objects.DISABLE_OPERATION_OPTION,
    'halt': objects.HALT_OPTION,
    'fault_reaction': objects.FAULT_REACTION_OPTION,
}
# With these a drive holds its leg under power when the bus is lost: it stops and stays stopped.
HOLDING = {'abort_connection': {3}, 'quick_stop': {5, 6, 7, 8}}
# By which ramp it stops then, by 605Ah; the others need none.
RAMPS = {5: objects.PROFILE_DECELERATION, 6: objects.QUICK_STOP_DECELERATION}
# What a SYNC0 without new outputs counts towards the limit of 10F1h:2 (ETG.1020).
MISSED_SYNC0 = 3
# The drive steps in behind the computer, which lets legs be END_MARGIN beyond their ends [m].
OptionCode: TypeAlias = Annotated[int, Check(least=-128, most=127)]
LIMIT_MARGIN = 2.0 * END_MARGIN


@dataclass(frozen=True)
class Setting:
    """A value for an object, and what it is for.

    Attributes:
        needed: Whether a drive without it is refused.
        signed: Whether the object is a signed integer, as what it reads back is told.
        ramp: Whether it is a deceleration, of which a drive is given as much as it takes.
    """

    what: str
    index: int
    subindex: int
    data: bytes
    needed: bool = False
    signed: bool = False
    ramp: bool = False


def named(item: Setting) -> str:
    """Name an object and what it is for."""
    return f'{item.what} ({item.index:04X}h' + (f':{item.subindex:X})' if item.subindex else ')')


class Lack(NamedTuple):
    """What a drive does not have or take, what it says to that, and which object is meant.

    No object (0) is meant by a ramp that is long, and yet short enough to hold a leg.
    """

    what: str
    reason: str
    number: int = 0


@dataclass(frozen=True)
class Guards:
    """Which guards a type of drive has, and their values; None or missing: it has none.

    Attributes:
        options: Option codes of CiA 402 by the names of `OPTIONS`.
        ramps: Whether the drive's own stops, quick or not, take a deceleration.
        software_limits: Whether the drive takes the ends of the stroke.
        following_error: Window of the following error [m].
        following_time: For how long a leg may be outside of it [s].
        torque: Share of the rated torque [-].
    """

    options: Annotated[dict[str, OptionCode], Check(choices=tuple(OPTIONS))]
    ramps: bool
    software_limits: bool
    following_error: Annotated[float | None, Check(key='following_error_m', positive=True)] = None
    following_time: Annotated[float | None, Check(key='following_time_s', positive=True)] = None
    torque: Annotated[float | None, Check(key='torque_limit', positive=True)] = None

    def settings(
        self, gear: Gear, deceleration: float, ends: tuple[int, int] | None
    ) -> Iterator[Setting]:
        """Yield what a drive is to be given, in the order of writing.

        Args:
            deceleration: What the legs and the platform on them bear [m/s²].
            ends: Software limits [count]; None where strokes are not absolute, which opens them.
        """
        for name, option in self.options.items():
            yield Setting(_title(name), OPTIONS[name], 0, struct.pack('<h', option), signed=True)
        ramp, metre = deceleration if self.ramps else None, abs(gear.counts_per_metre)
        error, time, torque = self.following_error, self.following_time, self.torque
        for name, index, code, value, unit in (
            ('deceleration', objects.PROFILE_DECELERATION, '<I', ramp, metre),
            ('quick stop deceleration', objects.QUICK_STOP_DECELERATION, '<I', ramp, metre),
            ('following error', objects.FOLLOWING_ERROR_WINDOW, '<I', error, metre),
            ('following error time', objects.FOLLOWING_ERROR_TIMEOUT, '<H', time, MILLISECONDS),
            *(('torque limit', index, '<H', torque, 1.0 / PER_MILLE) for index in TORQUE_LIMITS),
        ):
            if value is not None:
                data = struct.pack(code, min(round(unit * value), LARGEST[code]))
                yield Setting(name, index, 0, data, ramp=index in RAMPS.values())
        if self.software_limits:
            for subindex, end in enumerate(ends or (LOWEST, HIGHEST), 1):
                data = struct.pack('<i', end)
                index = objects.SOFTWARE_POSITION_LIMIT
                yield Setting('software limit', index, subindex, data, signed=True)

    @property
    def missing(self) -> list[str]:
        """What the type is known not to have."""
        values = {
            **{_title(name): self.options.get(name) for name in OPTIONS},
            'deceleration': self.ramps or None,
            'following error': self.following_error,
            'following error time': self.following_time,
            'torque limit': self.torque,
            'software limit': self.software_limits or None,
        }
        return [what for what, value in values.items() if value is None]


def software_limits(
    leg: int, gear: Gear, limits: LegLimits, zero: int, position: int | None
) -> tuple[int, int]:
    """Return between which counts the drive may bring leg 1 to 6: lower and upper limit.

    A leg that stands beyond them (`position`, if known) must not be pulled inside by being
    switched on: then the limit is beyond where it stands.
    """
    margin = LIMIT_MARGIN * abs(gear.counts_per_metre)
    ends = [
        zero + gear.counts_per_metre * float(end[leg - 1])
        for end in (limits.stroke_lower, limits.stroke_upper)
    ]
    if position is not None:
        ends.append(float(position))
    return max(round(min(ends) - margin), LOWEST), min(round(max(ends) + margin), HIGHEST)


def holds_limits(drive: SdoChannel, ends: tuple[int, int]) -> bool:
    """Tell whether a drive has these software limits, which most forget when switched off."""
    index = objects.SOFTWARE_POSITION_LIMIT
    try:
        return all(
            drive.read(index, subindex)[:4] == struct.pack('<i', end)
            for subindex, end in enumerate(ends, 1)
        )
    except SdoRefused:
        return False


def takes_limits(lacks: Iterable[Lack]) -> bool:
    """Tell whether a drive that lacks these has taken its software limits."""
    return all(lack.number != objects.SOFTWARE_POSITION_LIMIT for lack in lacks)


def write(drive: SdoChannel, settings: Iterable[Setting]) -> list[Lack]:
    """Write settings and read them back; return which the drive lacks or changes.

    What it does not take is written once more in the end: a lower limit above the old upper one
    (abort 0609 0036h), or a cycle in the old unit, fits once the others are there.
    """
    refused = [item for item in settings if _write(drive, item)]
    return [lack for item in refused if (lack := _write(drive, item))]


def limit_both_ways(
    drive: SdoChannel, settings: Sequence[Setting], lacks: list[Lack]
) -> list[Lack]:
    """Limit the torque by 6072h where a drive has neither 60E0h nor 60E1h; return what it lacks.

    `lacks` is what it lacks of the `settings` that it was given.
    """
    limits = [item for item in settings if item.index in TORQUE_LIMITS]
    absent = [item for item in lacks if item.number in TORQUE_LIMITS and NO_OBJECT in item.reason]
    given = any(item.index == objects.MAX_TORQUE for item in settings)
    if given or len(absent) < len(TORQUE_LIMITS):
        return lacks
    found = write(drive, [Setting('largest torque', objects.MAX_TORQUE, 0, limits[0].data)])
    return [*lacks, *found] if found else [item for item in lacks if item not in absent]


def _write(drive: SdoChannel, item: Setting) -> Lack | None:
    """Write a setting and read it back; what is refused is told with the value that stays."""
    reasons = _offer(drive, item)
    meant = item.index
    try:
        found = drive.read(item.index, item.subindex)[: len(item.data)]
        if found == item.data and not reasons:
            return None
        value = int.from_bytes(found, 'little', signed=item.signed)
        reasons.append(f'reads back {value}')
        if item.ramp and value >= LEAST_RAMP * int.from_bytes(item.data, 'little'):
            meant = 0
    except SdoRefused as error:
        reasons = reasons or [error.reason]
        meant = 0 if item.ramp else meant
    return Lack(named(item), ', '.join(reasons), meant)


def _offer(drive: SdoChannel, item: Setting) -> list[str]:
    """Write a setting, of a ramp as much as the drive takes; return why not all, if so."""
    value, reasons = item.data, list[str]()
    while any(value) or not reasons:
        try:
            drive.write(item.index, item.subindex, value)
            break
        except SdoRefused as error:
            reasons = reasons or [error.reason]
            if not (item.ramp and OUT_OF_RANGE in error.reason):
                break
            number = int.from_bytes(value, 'little')
            number = LARGEST_SIGNED if number > LARGEST_SIGNED else number // 2
            value = number.to_bytes(len(value), 'little')
    return reasons


def tolerance(cycle: float, patience: float) -> Setting:
    """Return how many frames a drive on SYNC0 may miss: as many as the driver waits for [s]."""
    counts = min(MISSED_SYNC0 * (int(patience / cycle) + 1), LARGEST_WORD)
    return Setting(
        'tolerance of missed frames', *objects.SYNC_ERROR_LIMIT, struct.pack('<H', counts)
    )


def letting_go(guards: Guards, lacks: Sequence[Sequence[Lack]]) -> str:
    """Say whose drives do not hold their legs when the bus is lost; empty if all do.

    Args:
        lacks: What the drives of legs 1 to 6 have refused.
    """
    told = all(guards.options.get(name) in codes for name, codes in HOLDING.items())
    where = {OPTIONS[name] for name in HOLDING} | {RAMPS.get(guards.options.get('quick_stop', 0))}
    legs = [
        str(leg)
        for leg, found in enumerate(lacks, 1)
        if not told or any(lack.number in where for lack in found)
    ]
    if not legs:
        return ''
    which = 'all legs give' if len(legs) == len(lacks) else f'legs {", ".join(legs)} give'
    return (
        f'{which} way when the bus is lost: 6007h is not 3 there, 605Ah not 5 to 8, or the ramp '
        'of the stop far too long'
    )


def _title(name: str) -> str:
    return name.replace('_', ' ')


def sentence(missing: Sequence[str], lacks: Sequence[Sequence[Lack]]) -> str:
    """Say by name what the drives lack; empty if nothing.

    Args:
        missing: What the type is known not to have.
        lacks: What the drives of legs 1 to 6 have refused.
    """
    legs: dict[Lack, list[str]] = {}
    for leg, found in enumerate(lacks, 1):
        for lack in found:
            legs.setdefault(lack, []).append(str(leg))
    groups: dict[tuple[str, str], list[str]] = {}
    for lack, names in legs.items():
        which = '' if len(names) == len(lacks) else f' of leg {", ".join(names)}'
        groups.setdefault((which, lack.reason), []).append(lack.what)
    parts = [', '.join(missing)] if missing else []
    parts += [f'{", ".join(what)}{which}: {why}' for (which, why), what in groups.items()]
    return f'the drives lack {"; ".join(parts)}' if parts else ''
