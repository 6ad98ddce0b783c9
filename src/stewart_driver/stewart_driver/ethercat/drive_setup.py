# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every drive is told and asked by SDO in PREOP: settings and PDO maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
import struct
from typing import NamedTuple

from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat import guards
from stewart_driver.ethercat.cia402 import objects
from stewart_driver.ethercat.cia402.states import Mode
from stewart_driver.ethercat.drive_type import DriveType, MapPlan
from stewart_driver.ethercat.errors import SdoRefused, WrongBus
from stewart_driver.ethercat.guards import Lack, Setting
from stewart_driver.ethercat.process_data import (
    InputImage,
    INPUTS,
    NEEDED_INPUTS,
    NEEDED_OUTPUTS,
    OFFSETS,
    OutputImage,
    OUTPUTS,
    PADDING,
    PADDING_ENTRY,
    refuse_twice,
    Signal,
)
from stewart_driver.ethercat.sdo import has_mode, number, optional_number, SdoChannel

FINEST_EXPONENT = -6
# Of 607Eh: positions and targets are multiplied by -1.
POSITION_POLARITY = 0x80
ENTRY, INDEX = '<I', '<H'


class PdoLayout(NamedTuple):
    """What one drive exchanges.

    Attributes:
        note: Where its maps are not what was planned.
        lacks: What else it does not have or take.
    """

    outputs: OutputImage
    inputs: InputImage
    note: str = ''
    lacks: Sequence[Lack] = ()

    @property
    def sizes(self) -> tuple[int, int]:
        """Length of outputs and inputs [octet]."""
        return self.outputs.size, self.inputs.size


def set_up(
    drive: SdoChannel,
    kind: DriveType,
    cycle_time: float,
    ends: tuple[int, int] | None,
    homing: Sequence[Setting] = (),
    patience: float = 0.0,
) -> PdoLayout:
    """Give a drive its settings and maps.

    Only what makes it follow targets at all is demanded; what else it refuses is noted.

    Args:
        ends: Where the drive itself has to stop its leg [count]; None where strokes are not
            absolute.
        homing: How it finds home by itself, if it shall. In OP there is no time for it: a mailbox
            may answer later than the next frame is due.
        patience: So long a drive on SYNC0 shall bear missing frames [s].

    Raises:
        SdoRefused: If it does not take a start value that is needed.
        UnusableMap: If its maps lack what is needed and cannot be changed.
        WrongBus: If its encoder is not the one of the drive type, it has no mode for cyclic
            positions, it keeps an offset to them, or it cannot home.
    """
    unknown = check_encoder(drive, kind)
    if homing:
        _set_homing(drive, homing)
    for item in kind.settings:
        if item.needed:
            drive.write(item.index, item.subindex, item.data)
    wanted = [
        *(item for item in kind.settings if not item.needed),
        *_interpolation(cycle_time),
        *kind.guards.settings(kind.gear, float(kind.limits.acceleration), ends),
    ]
    lacks = [*unknown, *_turned(drive), *_set_mode(drive)]
    refused = guards.write(drive, wanted)
    lacks += guards.limit_both_ways(drive, [*kind.settings, *wanted], refused)
    if ends is not None and kind.guards.software_limits:
        lacks += _shift(drive)
    if kind.clocks:
        _choose_sync0(drive)
        lacks += _tolerate(drive, guards.tolerance(cycle_time, patience))
    outputs, output_note = _assign(
        drive, objects.RECEIVE_ASSIGNMENT, kind.maps.outputs, OUTPUTS, NEEDED_OUTPUTS
    )
    inputs, input_note = _assign(
        drive, objects.TRANSMIT_ASSIGNMENT, kind.maps.inputs, INPUTS, NEEDED_INPUTS
    )
    _clear_offsets(drive, outputs)
    return PdoLayout(
        OutputImage(drive.leg, outputs, partial(_present, drive)),
        InputImage(drive.leg, inputs),
        '; '.join(filter(None, (output_note, input_note))),
        lacks,
    )


def _interpolation(cycle_time: float) -> tuple[Setting, Setting]:
    units, exponent = interpolation_time(cycle_time)
    name, index = 'interpolation time', objects.INTERPOLATION_TIME
    return (
        Setting(name, index, 1, bytes([units])),
        Setting(name, index, 2, struct.pack('<b', exponent), signed=True),
    )


def _present(drive: SdoChannel, index: int, subindex: int) -> bytes:
    """Return what an object holds; of one that is write-only, zero is the best guess."""
    try:
        return drive.read(index, subindex)
    except SdoRefused:
        return b''


def _clear_offsets(drive: SdoChannel, mapped: Sequence[int]) -> None:
    """Take back what somebody has told a drive to add to its targets; raises `WrongBus`.

    Most drives do not have all of these objects. What is mapped is told in every frame.
    """
    for what, signal in OFFSETS.items():
        with suppress(SdoRefused):
            drive.write(signal.index, 0, bytes(signal.bits // 8))
        stays = optional_number(drive, signal.index, 0, f'<{signal.code}')
        if stays and signal.entry not in mapped:
            raise WrongBus(
                f'drive of leg {drive.leg} keeps a {what} of {stays} ({signal.index:04X}h), which '
                'would carry its leg away: set it to 0'
            )


def _set_mode(drive: SdoChannel) -> list[Lack]:
    """Ask for cyclic positions, for most fixed maps have no 6060h; raises `WrongBus`."""
    mode = Mode.CYCLIC_SYNCHRONOUS_POSITION
    if not has_mode(drive, mode):
        raise WrongBus(f'drive of leg {drive.leg} has no mode {mode} (6502h): no cyclic positions')
    return guards.write(drive, [Setting('mode', objects.MODE, 0, bytes([mode]), signed=True)])


def _set_homing(drive: SdoChannel, settings: Sequence[Setting]) -> None:
    """Tell a drive how to home; raises `SdoRefused` and `WrongBus`."""
    if not has_mode(drive, Mode.HOMING):
        raise WrongBus(f'drive of leg {drive.leg} has no mode {Mode.HOMING} (6502h): no homing')
    # Without it the mode-specific bits of the statusword are ambiguous.
    drive.read(objects.MODE_DISPLAY, 0)
    for lack in guards.write(drive, settings):
        raise WrongBus(f'drive of leg {drive.leg} does not take its {lack.what}: {lack.reason}')


def _turned(drive: SdoChannel) -> list[Lack]:
    """Return whether a drive counts the other way round, by what somebody has told it before."""
    polarity = optional_number(drive, objects.POLARITY, 0, 'B') or 0
    if not polarity & POSITION_POLARITY:
        return []
    said = f'reads 0x{polarity:02X}, by which positions count the other way round'
    return [Lack('a polarity without bit 7 (607Eh)', said, objects.POLARITY)]


def _shift(drive: SdoChannel) -> list[Lack]:
    """Return what may shift the software limits: by CiA 402 the home offset, in some drives."""
    if not (offset := optional_number(drive, objects.HOME_OFFSET, 0, '<i')):
        return []
    what = 'software limits without a home offset (607Ch)'
    return [Lack(what, f'reads {offset}, by which they may be shifted')]


def _choose_sync0(drive: SdoChannel) -> None:
    """Choose SYNC0 where a drive comes up with another type; some refuse SAFEOP with it (0028h).

    Most choose it by themselves once their clock fires: they may refuse, and are asked in SAFEOP.
    """
    for index in (objects.OUTPUT_SYNCHRONISATION, objects.INPUT_SYNCHRONISATION):
        with suppress(SdoRefused):
            wanted = struct.pack('<H', objects.DC_SYNC0)
            if drive.read(index, 1)[:2] != wanted:
                drive.write(index, 1, wanted)


def _tolerate(drive: SdoChannel, wanted: Setting) -> list[Lack]:
    """Let a drive bear as many missing frames as wanted, unless it bears more, or any (0)."""
    try:
        present = drive.read(wanted.index, wanted.subindex)[: len(wanted.data)]
    except SdoRefused as error:
        return [Lack(guards.named(wanted), error.reason)]
    bears, needed = (int.from_bytes(data, 'little') for data in (present, wanted.data))
    return guards.write(drive, [wanted] if 0 < bears < needed else [])


def check_synchronisation(drive: SdoChannel, kind: DriveType, layout: PdoLayout) -> list[Lack]:
    """Return how a drive in SAFEOP differs from the mode and the clock that it was told to use.

    Objects that a drive lacks are not checked, nor is a mode that is exchanged cyclically. No mode
    (0) is what some show until they are in operation.
    """
    lacks, wanted = [], []
    if not layout.outputs.takes_mode:
        mode = int(Mode.CYCLIC_SYNCHRONOUS_POSITION)
        wanted.append(('mode', objects.MODE_DISPLAY, 0, mode, {mode, 0}))
    if kind.clocks:
        sync0 = objects.DC_SYNC0
        wanted.append(('work on SYNC0', objects.OUTPUT_SYNCHRONISATION, 1, sync0, {sync0}))
    for what, index, subindex, value, right in wanted:
        with suppress(SdoRefused):
            found = int.from_bytes(drive.read(index, subindex)[:2], 'little')
            if found not in right:
                where = f'{index:04X}h:{subindex:X}'
                lacks.append(Lack(f'{what} ({where})', f'reads {found} instead of {value}'))
    return lacks


def check_encoder(drive: SdoChannel, kind: DriveType) -> list[Lack]:
    """Compare counts per revolution of the motor with what the drive says of its position unit.

    That is feed per revolution of the shaft (6092h), or the encoder's resolution (608Fh) in drives
    without it, over revolutions of the motor per one of the shaft (6091h). A feed of one unit is
    that of a drive that does not use it.

    Returns:
        What is lacking to compare with.

    Raises:
        WrongBus: If they differ: then every stroke would be wrong by that factor.
    """
    source, counts = objects.FEED_CONSTANT, _ratio(drive, objects.FEED_CONSTANT)
    if counts in {None, 1.0}:
        source, counts = objects.ENCODER_RESOLUTION, _ratio(drive, objects.ENCODER_RESOLUTION)
    if counts is None:
        return [Lack('a scale to compare the gear with', 'neither 6092h nor 608Fh tells it')]
    counts /= _ratio(drive, objects.GEAR_RATIO) or 1.0
    expected = kind.gear.counts_per_revolution
    if abs(counts - expected) > 0.5:
        raise WrongBus(
            f'drive of leg {drive.leg} has {counts:.0f} counts per revolution of its motor '
            f'({source:04X}h, 6091h), expected are {expected}'
        )
    return []


def _ratio(drive: SdoChannel, index: int) -> float | None:
    """Return the quotient of the subindices 1 and 2; None where a drive does not tell it."""
    above, below = (optional_number(drive, index, subindex, '<I') for subindex in (1, 2))
    return above / below if above and below else None


def interpolation_time(cycle_time: float) -> tuple[int, int]:
    """Return 60C2h for a cycle: units and exponent of ten; raises `ConfigurationError`.

    Examples:
        >>> interpolation_time(0.0025)
        (25, -4)
    """
    for exponent in range(-3, FINEST_EXPONENT - 1, -1):
        units = cycle_time * 10.0**-exponent
        if 0.5 < units < 255.5 and abs(units - round(units)) < 1e-6:
            return round(units), exponent
    raise ConfigurationError('cycle_time', cycle_time, '1 to 255 times a power of ten of seconds')


def _assign(
    drive: SdoChannel,
    assignment: int,
    plan: MapPlan,
    signals: Mapping[str, Signal],
    needed: Sequence[str],
) -> tuple[list[int], str]:
    """Write and assign maps; return the entries that the drive exchanges then, and a note.

    A drive with read-only maps refuses the writing. Then its maps are used as they are: whether
    they hold what is needed is seen when the signals are looked for in the entries.
    """
    notes = []
    before = _list(drive, assignment, INDEX)
    # Many drives cannot change their assignment, and need not: its map may still be written.
    assigned = list(filter(None, before)) == list(plan.assign)
    if plan.write or not assigned:
        try:
            with suppress(SdoRefused) if assigned else nullcontext():
                drive.write(assignment, 0, b'\0')
            if plan.write:
                wanted = [
                    PADDING_ENTRY if name == PADDING else signals[name].entry
                    for name in plan.write
                ]
                entries = {signals[name].entry for name in needed}
                notes += _write_map(drive, plan.assign[0], wanted, entries)
            if not any(_list(drive, assignment, INDEX)):
                _fill(drive, assignment, INDEX, plan.assign)
        except SdoRefused as error:
            notes.append(f'{error}; the maps that it has assigned are used as they are')
            _restore(drive, assignment, INDEX, before)
    mapped: list[int] = []
    # Places of an assignment that are not used are 0.
    for index in filter(None, _list(drive, assignment, INDEX)):
        found = _list(drive, index, ENTRY)
        refuse_twice(drive.leg, found)
        mapped += found
    return mapped, '; '.join(notes)


def _write_map(drive: SdoChannel, index: int, wanted: list[int], needed: set[int]) -> list[str]:
    """Write what a drive takes of a map; return what there is to say.

    Without an entry that is needed, and where anything else is read back than was written, the
    map is put back: a half-written one is worse than the one that was there.
    """
    before = _list(drive, index, ENTRY)
    as_it_is = f'its map {index:04X}h is used as it is'
    try:
        drive.write(index, 0, b'\0')
    except SdoRefused as error:
        return [f'{error}; {as_it_is}']
    taken: list[int] = []
    notes = []
    for entry in wanted:
        try:
            drive.write(index, len(taken) + 1, struct.pack(ENTRY, entry))
            taken.append(entry)
        except SdoRefused as error:
            notes.append(f'{error}, which was to be {entry >> 16:04X}h')
    try:
        if needed <= set(taken):
            drive.write(index, 0, bytes([len(taken)]))
            if _list(drive, index, ENTRY) == taken:
                return notes
    except SdoRefused as error:
        notes.append(str(error))
    _restore(drive, index, ENTRY, before)
    return [*notes, as_it_is]


def _fill(drive: SdoChannel, index: int, code: str, values: Sequence[int]) -> None:
    for subindex, value in enumerate(values, 1):
        drive.write(index, subindex, struct.pack(code, value))
    drive.write(index, 0, bytes([len(values)]))


def _restore(drive: SdoChannel, index: int, code: str, values: Sequence[int]) -> None:
    """Put back what was there; what the drive then really has is read by the caller."""
    with suppress(SdoRefused):
        if _list(drive, index, code) != values:
            drive.write(index, 0, b'\0')
            _fill(drive, index, code, values)


def _list(drive: SdoChannel, index: int, code: str) -> list[int]:
    """Return the values of an object whose subindex 0 counts them."""
    count = number(drive, index, 0, 'B')
    return [number(drive, index, subindex, code) for subindex in range(1, count + 1)]
