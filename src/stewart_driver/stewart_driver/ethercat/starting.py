# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From an open interface to six drives that exchange process data, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import inf
from typing import NamedTuple

from stewart_driver.ethercat import guards, home
from stewart_driver.ethercat.cia402.objects import (
    ERROR_CODE,
    POLARITY,
    POSITION_ACTUAL,
    STATUSWORD,
    SYNC_ERROR_LIMIT,
)
from stewart_driver.ethercat.cia402.states import Control, decode_state, StatuswordError
from stewart_driver.ethercat.drive_group import FAULTS
from stewart_driver.ethercat.drive_setup import check_synchronisation, PdoLayout, set_up
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.errors import (
    AL_ERROR,
    AlStatus,
    DisturbedMap,
    NotOperational,
    OP,
    SAFEOP,
    SdoRefused,
    WrongBus,
)
from stewart_driver.ethercat.home import Known
from stewart_driver.ethercat.op_requests import FIRST_WAIT, OpRequests
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.sdo import number, optional_number, SdoChannel
from stewart_driver.ethercat.wires import Wire
from stewart_driver.legs import LEGS
from stewart_driver.rig_file import DriveIdentity

OFF = int(Control.DISABLE_VOLTAGE)
# Asking for the states costs a frame each time.
CYCLES_BETWEEN_LOOKS = 5
# A machine that is too busy to be punctual for five frames in a row shall find out in OP.
MOST_ALIGNING_FRAMES = 250
# A slave goes down to SAFEOP within this time [s].
DOWN_PATIENCE = 1.0
# Controllers round the time of their watchdog by less than this share.
WATCHDOG_ROUNDING = 0.1


class StartedBus(NamedTuple):
    """Six drives that exchange process data.

    Attributes:
        not_homed: Why their positions are not strokes; empty if they are.
        zeros: Position of each drive at stroke zero [count], if these are the calibrated drives.
        notes: What the drives do not have of what was asked for, and what they do instead.
        holds_alone: Whether every drive stops and holds its leg when it hears nothing.
        remembered: As `Known` has it, after the first start of a session.
        ends: Between which counts the drives have taken to keep legs 1 to 6; None: anywhere.
        silences: For how long the drive of each leg goes on without frames [s], 0: not known.
        codes: Of the faults that drives were in before the start, 0: in none.
    """

    identities: tuple[DriveIdentity, ...]
    layouts: tuple[PdoLayout, ...]
    not_homed: str = ''
    zeros: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    drives: Sequence[SdoChannel] = ()
    holds_alone: bool = False
    remembered: bool = False
    ends: Sequence[tuple[int, int] | None] = (None,) * LEGS
    silences: tuple[float, ...] = (0.0,) * LEGS
    codes: tuple[int, ...] = (0,) * LEGS


def start(
    wire: Wire,
    kind: DriveType,
    options: EthercatOptions,
    phase: PhaseLock,
    known: Known | None = None,
) -> StartedBus:
    """Bring six drives to OP, motors off, and back to SAFEOP, which needs no punctual frames.

    `phase` is told where the frames are in the cycle of the drives. Raises `WrongBus`,
    `SdoRefused`, `UnusableMap` and `NotOperational`.
    """
    known = known or Known(None, options.rig_file)
    try:
        return _start(wire, kind, options, phase, known)
    except DisturbedMap as first:
        known = known._replace(disturbed=True, remembered=first.remembered)
        return _start(wire, kind, options, phase, known)


def _start(
    wire: Wire,
    kind: DriveType,
    options: EthercatOptions,
    phase: PhaseLock,
    known: Known,
) -> StartedBus:
    """Do so once; raises `DisturbedMap`, too, where another try may succeed."""
    slaves = wire.scan(LEGS, kind.accepts)
    identities = tuple(wire.each(lambda slave: slave.identity(), slaves))
    check_identities(identities, kind)
    codes = tuple(wire.each(standing_fault, slaves))
    ends, not_homed, remembered = _software_limits(wire, slaves, identities, kind, known)
    cycle, method = options.cycle_time, options.homing_method
    homing = tuple(kind.homing.settings(method, kind.gear)) if kind.homing and method else ()

    def told(slave: SdoChannel, end: tuple[int, int] | None) -> PdoLayout:
        return set_up(slave, kind, cycle, end, homing, options.patience)

    layouts = tuple(wire.each(told, slaves, ends))
    check_polarity(layouts)
    try:
        wire.map(
            watchdog=options.drive_watchdog,
            sync=(cycle, options.sync_shift * cycle) if kind.clocks else None,
            sizes=[layout.sizes for layout in layouts],
        )
    except DisturbedMap as error:
        error.remembered = remembered
        raise
    check_states('SAFEOP', SAFEOP, wire.statuses())
    found = wire.each(check_synchronisation, slaves, [kind] * LEGS, layouts)
    lacks = [[*layout.lacks, *more] for layout, more in zip(layouts, found, strict=True)]
    sync0 = cycle if kind.clocks else 0.0
    silences = tuple(wire.each(silence, slaves, wire.watchdogs, [sync0] * LEGS))
    letting_go = guards.letting_go(kind.guards, lacks)
    notes = (
        *merge_notes([layout.note for layout in layouts]),
        guards.sentence(kind.guards.missing, lacks),
        '' if kind.brake_apply else letting_go,
        unwatched(wire.watchdogs, options.drive_watchdog),
        home.without_numbers(identities),
    )
    _operate(wire, layouts, kind, options, phase)
    # No frames are sent until the first cycle, which only SAFEOP tolerates.
    leave_op(wire, cycle, phase, lambda: _idle(wire, layouts))
    wire.use_cycle_timeout()
    return StartedBus(
        identities,
        layouts,
        not_homed,
        # Drives that stand elsewhere most likely tell the truth; homed they are not.
        None if home.why_not(known.calibration, identities, known.rig_file) else known.zeros,
        tuple(filter(None, notes)),
        slaves,
        not letting_go,
        remembered,
        [
            end if kind.guards.software_limits and guards.takes_limits(lack) else None
            for end, lack in zip(ends, lacks, strict=True)
        ],
        silences,
        codes,
    )


def _software_limits(
    wire: Wire,
    slaves: Sequence[SdoChannel],
    identities: Sequence[DriveIdentity],
    kind: DriveType,
    known: Known,
) -> tuple[Sequence[tuple[int, int] | None], str, bool]:
    """Return between which counts each drive may be, and why their positions are no strokes.

    Where they are none there are no limits; the reason is empty where they are. And whether drives
    may remember such limits while they are off, as `Known` has it.
    """
    positions = wire.each(lambda slave: optional_number(slave, POSITION_ACTUAL, 0, '<i'), slaves)
    ends = None if known.zeros is None else known.ends(kind, positions)
    kept, remembered = False, known.remembered
    if ends is not None:
        held = wire.each(guards.holds_limits, slaves, ends)
        remembered = remembered or (not (known.seen or known.disturbed) and any(held))
        kept = all(held) and not remembered
    not_homed = known.why_not_homed(identities, kind, positions, kept=kept)
    if ends is None or not_homed:
        return [None] * LEGS, not_homed, remembered
    return ends, '', remembered


def standing_fault(drive: SdoChannel) -> int:
    """Return the code of the fault that a drive is in from before (603Fh), 0 if in none.

    Its emergency came when nobody listened, and its code may be in no map.
    """
    with suppress(SdoRefused, StatuswordError):
        if decode_state(number(drive, STATUSWORD, 0, '<H')) in FAULTS:
            return number(drive, ERROR_CODE, 0, '<H')
    return 0


def silence(drive: SdoChannel, watchdog: float, cycle: float) -> float:
    """Return for how long a drive goes on without frames [s], 0 if that is not known.

    Args:
        watchdog: After which silence its EtherCAT controller stops it [s], 0: never.
        cycle: Of its SYNC0 [s], 0: it has none. Missed frames are counted by it (10F1h:2), too.
    """
    bears = 0.0
    if cycle:
        try:
            counts = int.from_bytes(drive.read(*SYNC_ERROR_LIMIT)[:2], 'little')
        except SdoRefused:
            return 0.0
        bears = counts // guards.MISSED_SYNC0 * cycle
    return min(filter(None, (bears, watchdog)), default=0.0)


def unwatched(watchdogs: Sequence[float], wanted: float) -> str:
    """Say whose watchdogs do not act after the time that is wanted [s]; empty if all do."""
    wrong = [
        f'leg {leg} ' + (f'acts after {1e3 * time:.0f} ms' if time else 'is not armed')
        for leg, time in enumerate(watchdogs, 1)
        if abs(time - wanted) > WATCHDOG_ROUNDING * wanted
    ]
    if not wrong:
        return ''
    return (
        f'the watchdog (0420h, 0814h) of {", of ".join(wrong)}: without frames such a drive keeps '
        'its last target until then, and only the safety circuit stops it'
    )


def merge_notes(notes: Sequence[str]) -> list[str]:
    """Say once what several drives have in common."""
    legs: dict[str, list[str]] = {}
    for leg, note in enumerate(notes, 1):
        legs.setdefault(note.replace(f'drive of leg {leg} ', 'drive of leg %s '), []).append(
            str(leg)
        )
    return [note.replace('%s', ', '.join(named)) for note, named in legs.items()]


class Resumption:
    """The way from SAFEOP to OP, frame by frame.

    Attributes:
        refusals: What drives have refused OP with, by leg; they are asked again.
    """

    def __init__(
        self, wire: Wire, kind: DriveType, phase: PhaseLock, *, asked: bool = False
    ) -> None:
        self._wire, self._clocks, self._phase = wire, kind.clocks, phase
        self._asked = asked
        self._requests = OpRequests(wire, wire.now() + FIRST_WAIT if asked else inf)
        self.refusals: dict[int, AlStatus] = {}

    def reached(self, frame: int) -> bool:
        """Do what is due after a frame, counted from 1; tell whether all drives are in OP."""
        look = frame % CYCLES_BETWEEN_LOOKS == 0
        if self._asked:
            return look and self._all_in_op()
        near = not self._clocks or self._phase.near_for >= CYCLES_BETWEEN_LOOKS
        if near or frame > MOST_ALIGNING_FRAMES:
            self._wire.request(OP)
            self._asked = True
        elif look:
            self._phase.align()
        return False

    def check(self) -> None:
        """Raise `NotOperational` with what drives have refused OP with, unless all are there."""
        found = enumerate(self._wire.statuses(), 1)
        check_states(
            'OP',
            OP,
            [item if item.state == OP else self.refusals.get(leg, item) for leg, item in found],
        )

    def _all_in_op(self) -> bool:
        """Tell whether all drives are in OP; ask those again that have gone back with an error."""
        statuses = self._wire.statuses()
        for leg, item in enumerate(statuses, 1):
            if item.state == SAFEOP | AL_ERROR:
                self.refusals[leg] = item
        self._requests.ask(statuses)
        return all(item.state == OP for item in statuses)


def check_identities(found: Sequence[DriveIdentity], kind: DriveType) -> None:
    """Raise `WrongBus` if a drive is not of the expected type."""
    wrong = [
        f'leg {leg} has vendor 0x{item.vendor:X}, product 0x{item.product:X}, '
        f'revision 0x{item.revision:X}'
        for leg, item in enumerate(found, 1)
        if not kind.accepts(item)
    ]
    if wrong:
        raise WrongBus(f'wrong drives: {"; ".join(wrong)}; expected is {kind.identity}')


def check_polarity(layouts: Sequence[PdoLayout]) -> None:
    """Raise `WrongBus` if some drives count the other way round, and others do not."""
    turned = [
        str(leg)
        for leg, layout in enumerate(layouts, 1)
        if any(lack.number == POLARITY for lack in layout.lacks)
    ]
    if 0 < len(turned) < len(layouts):
        raise WrongBus(
            f'only the drives of leg {", ".join(turned)} count the other way round '
            '(607Eh, bit 7): their legs would go in while the others go out'
        )


def check_states(name: str, wanted: int, statuses: Sequence[AlStatus]) -> None:
    """Raise `NotOperational` if a drive has not reached a state."""
    missing = [
        f'leg {leg}: {item}' for leg, item in enumerate(statuses, 1) if item.state != wanted
    ]
    if missing:
        raise NotOperational(name, missing)


def _operate(
    wire: Wire,
    layouts: Sequence[PdoLayout],
    kind: DriveType,
    options: EthercatOptions,
    phase: PhaseLock,
) -> None:
    """Cycle, ask for OP and keep cycling: the drives wait for outputs and for the first SYNC0.

    In SAFEOP frames may still pass anywhere in the drives' cycle, in OP not: so they are brought
    to their place first.
    """
    cycle = options.cycle_time
    limit = wire.now() + options.start_timeout
    wire.exchange([layout.outputs.pack(OFF, 0, 0) for layout in layouts])
    op = Resumption(wire, kind, phase)
    for frame in pace(wire, cycle, limit, phase):
        if _idle(wire, layouts) > 0:
            phase.update(wire.clock)
        if op.reached(frame):
            return
    op.check()


def _idle(wire: Wire, layouts: Sequence[PdoLayout]) -> int:
    """Exchange a frame without voltage, targets where drives stand; return its counter."""
    return wire.exchange(
        [
            layout.outputs.pack(OFF, layout.inputs.unpack(data).position, 0)
            for layout, data in zip(layouts, wire.inputs(), strict=True)
        ]
    )


def leave_op(wire: Wire, cycle: float, phase: PhaseLock, exchange: Callable[[], object]) -> None:
    """Go down to SAFEOP amid frames: until it is there a drive counts those that it misses."""
    wire.request(SAFEOP)
    for frame in pace(wire, cycle, wire.now() + DOWN_PATIENCE, phase):
        exchange()
        look = frame % CYCLES_BETWEEN_LOOKS == 0
        if look and all(item.state != OP for item in wire.statuses()):
            return


def pace(wire: Wire, cycle: float, limit: float, phase: PhaseLock) -> Iterator[int]:
    """Keep the cycle outside of the loop, until `limit` [s]; yield numbers of frames, from 1."""
    deadline, frame = wire.now(), 0
    while deadline < limit:
        frame += 1
        yield frame
        deadline = max(deadline + cycle + phase.shift, wire.now() - cycle)
        wire.sleep(max(deadline - wire.now(), 0.0))
