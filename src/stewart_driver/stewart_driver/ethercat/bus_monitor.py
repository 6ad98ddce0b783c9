# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who is missing, who is in a fault or does not do what it is told, and what they say of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from stewart_driver.control.cycle_statistics import WireStatistics
from stewart_driver.errors import DriveFault, LegFault
from stewart_driver.ethercat.cia402.error_codes import error_text
from stewart_driver.ethercat.cia402.states import Mode, Status
from stewart_driver.ethercat.drive_group import DriveGroup
from stewart_driver.ethercat.errors import (
    AL_ERROR,
    AL_STATE,
    AlStatus,
    Emergency,
    fault_text,
    OP,
    SAFEOP,
)
from stewart_driver.ethercat.op_requests import OpRequests
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.process_data import Inputs
from stewart_driver.ethercat.wires import Wire
from stewart_driver.legs import LEGS

# A frame that some slaves have not answered may be a flicker; two are not.
INCOMPLETE = 2
# What a drive that takes outputs and gives inputs adds to the working counter of a frame.
COUNTS_PER_DRIVE = 3
# Any state in which a slave answers and gives no inputs, as INIT.
RESTARTED = 1
# A look at states or at one mailbox costs a frame.
LOOK_PERIOD = 0.05
# In a fault the others hold meanwhile: beside a leg that gives way they have to let go soon.
URGENT_PERIOD = 0.01
# It comes with the fault or a little later, and the frame that fetches it may get lost.
LOOKS_FOR_EMERGENCY = 3
# So many of a drive are kept: warnings may have come for days before the fault that they explain.
LATEST_EMERGENCIES = 3
# A statusword may be a frame or two behind, and one lost frame repeats it.
FRAMES = 3
# Torque reaches its limit for a moment in any hard stop [s].
LIMITED_FOR = 0.1
# Plain numbers, for six words are looked at in every cycle.
REMOTE, FOLLOWED = int(Status.REMOTE), int(Status.TARGET_FOLLOWED)
LIMITED = int(Status.INTERNAL_LIMIT)
MODE = int(Mode.CYCLIC_SYNCHRONOUS_POSITION)


class DriveMonitor:
    """What statuswords say of drives that follow, beside their states.

    Not every drive has every bit: a bit counts once a drive has shown it, and that it follows if
    its type tells that.
    """

    def __init__(self, cycle_time: float, *, tells_following: bool = True) -> None:
        self._has_to_stay = REMOTE | (FOLLOWED if tells_following else 0)
        self._limited_frames = max(round(LIMITED_FOR / cycle_time), FRAMES)
        self._shown = [0] * LEGS
        self._counts: list[dict[str, int]] = [{} for _ in range(LEGS)]

    def look(self, inputs: Sequence[Inputs], group: DriveGroup) -> LegFault | None:
        """Return the first drive of one frame that follows and does not do what it is told."""
        for axis, item in enumerate(inputs):
            counts = self._counts[axis]
            if not group.follows(axis) or axis == group.homing:
                self._shown[axis] = 0
                counts.clear()
                continue
            word = item.statusword
            self._shown[axis] |= word
            gone = self._shown[axis] & ~word & self._has_to_stay
            wrong_mode = item.mode is not None and item.mode != MODE
            if not (gone or word & LIMITED or wrong_mode):
                counts.clear()
                continue
            for text, wrong, allowed in (
                ('takes no controlword any more (bit 9)', gone & REMOTE, FRAMES),
                ('ignores its target (bit 12)', gone & FOLLOWED, FRAMES),
                (
                    'is held by a limit of its own: software limit, torque or end switch (bit 11)',
                    word & LIMITED,
                    self._limited_frames,
                ),
                (f'is in mode {item.mode} instead of {MODE} (6061h)', wrong_mode, FRAMES),
            ):
                counts[text] = counts.get(text, 0) + 1 if wrong else 0
                if counts[text] >= allowed:
                    return LegFault(axis + 1, f'its drive {text}')
        return None


class BusMonitor:
    """Supervision of the bus and its drives.

    Args:
        tells_following: As `DriveType` has it.

    Attributes:
        missing: Legs that have left the bus since the last `forget`.
        mute: Those of them that do not answer, or have left OP for PREOP or INIT by themselves.
        restarted: Those that answer, and do not even tell what they measure, as in SAFEOP.
        codes: Of faults, where drives were asked for them; 0 as soon as one is in none.
    """

    def __init__(
        self,
        wire: Wire,
        interface: str,
        options: EthercatOptions,
        statistics: WireStatistics,
        *,
        tells_following: bool = True,
    ) -> None:
        self._wire, self._interface, self._options = wire, interface, options
        self._statistics = statistics
        self._emergencies = [deque[Emergency](maxlen=LATEST_EMERGENCIES) for _ in range(LEGS)]
        self._incomplete, self._silent = 0, False
        self._counter, self._counted_at = 0, 0.0
        self._complete_at = 0.0
        self._looked_at, self._looks = 0.0, 0
        self._drives = DriveMonitor(options.cycle_time, tells_following=tells_following)
        self.codes = [0] * LEGS
        self._begin()

    def _begin(self) -> None:
        self._fault: LegFault | None = None
        self.missing, self.mute, self.restarted = set[int](), set[int](), set[int]()
        # States at the last look, and whether one was new there that has to be seen again.
        self._states, self._doubtful = [OP] * LEGS, False
        self._requests = OpRequests(self._wire)
        self._heard_at: float | None = None

    def answers(self, leg: int) -> bool:
        """Tell whether a leg still tells what it measures, as far as is known."""
        return leg not in self.mute | self.restarted

    def hears(self, leg: int) -> bool:
        """Tell whether a leg takes what it is told, as it does in OP only."""
        return leg not in self.missing or self._states[leg - 1] == OP

    def forget(self) -> None:
        """Forget fault and emergencies, after a reset."""
        self._begin()
        for leg in range(1, LEGS + 1):
            self._wire.emergencies(leg)
            self._emergencies[leg - 1].clear()

    def count(self, counter: int, round_trip: float, now: float) -> None:
        """Take note of a frame: its working counter, -1 if it is lost, and its round trip [s]."""
        self._silent = counter < 0
        if self._heard_at is None:
            self._heard_at = self._complete_at = now
        if counter == self._wire.expected:
            self._incomplete, self._complete_at = 0, now
        elif not self._silent:
            self._statistics.bad_working_counters += 1
            self._incomplete += 1
        self._counter, self._counted_at = counter, now
        if not self._silent:
            self._statistics.count(round_trip)
            self._heard_at = now
        else:
            self._statistics.lost_frames += 1

    @property
    def short(self) -> bool:
        """Whether a drive has missed the newest frame, and none is known to be lost."""
        return 0 <= self._counter < self._wire.expected and not self.missing

    def flickers(self) -> bool:
        """Tell whether the newest frame is short although all take part; may cost a frame.

        Which of them missed it the counter does not say. Once that is a fault the others go on.
        """
        if not self.short or self._fault is not None:
            return False
        statuses = self._wire.statuses()
        if any(item.state for item in statuses):
            self._note(statuses)
        return all(item.state == OP for item in statuses)

    def look(self, now: float, inputs: Sequence[Inputs], group: DriveGroup) -> LegFault | None:
        """Return the first fault since the last `forget`, with all that was known of it then."""
        if any(self.codes):
            faulty = set(group.faulty)
            self.codes = [code * (leg in faulty) for leg, code in enumerate(self.codes, 1)]
        period = LOOK_PERIOD if self._fault is None else URGENT_PERIOD
        due = not self._silent and now - self._looked_at >= period
        if self._fault is not None:
            if due:
                self._looked_at = now
                self._bring_back()
            elif self._doubtful and not self._silent:
                self._look_at_states()
            return self._fault
        if self._silence > self._options.patience:
            # Frames go on: the drives may hold their legs until they are heard again.
            said = f'no frame has come back on {self._interface}'
            self._fault = LegFault(0, f'{said} for {1e3 * self._silence:.0f} ms')
        elif self._incomplete >= INCOMPLETE:
            self._fault = self._lost(sure=bool(group.left)) or self._incomplete_for_long()
        elif group.faulty:
            self._fault = self.drive_fault(group.faulty[0], inputs)
        elif group.left:
            # It says itself that it is gone: what its state is has to be seen once only.
            self._fault = self._lost(sure=True) or self._left(group.left[0], inputs, group)
        elif fault := self._drives.look(inputs, group):
            self._fault = fault
        elif self._incomplete or self._silent:
            # The next frame tells more.
            pass
        elif self._doubtful:
            self._fault = self._lost()
        elif due:
            self._looked_at = now
            self._looks += 1
            if self._looks % 2:
                self._fault = self._lost()
            else:
                self._collect(self._looks // 2 % LEGS + 1)
        return self._fault

    def drive_fault(self, leg: int, inputs: Sequence[Inputs]) -> DriveFault:
        """Return the fault that a drive reports, with its emergencies and EtherCAT state."""
        emergencies = self._emergencies[leg - 1]
        for _ in range(LOOKS_FOR_EMERGENCY):
            self._collect(leg)
            if emergencies:
                break
        newest = emergencies[-1].code if emergencies else 0
        code = inputs[leg - 1].error_code or newest or self.codes[leg - 1]
        status = self._wire.statuses()[leg - 1]
        return DriveFault(leg, code, fault_text(code, emergencies, status))

    def explain(self, leg: int, code: int, inputs: Sequence[Inputs]) -> LegFault:
        """Say a fault anew, with the code for which its drive was asked; return it."""
        self.codes[leg - 1] = code
        self._fault = self.drive_fault(leg, inputs)
        return self._fault

    def _collect(self, leg: int) -> None:
        # Code 0 says that an error is over.
        arrived = [item for item in self._wire.emergencies(leg) if item.code]
        self._statistics.emergencies += len(arrived)
        self._emergencies[leg - 1].extend(arrived)

    def _left(self, leg: int, inputs: Sequence[Inputs], group: DriveGroup) -> LegFault:
        """Say as what a drive has left operation that reports no fault."""
        word = inputs[leg - 1].statusword
        said = f'its drive has left operation by itself, statusword 0x{word:04X}'
        if (state := group.states[leg - 1]) is not None:
            said += f' ({state.name})'
        if not word & Status.VOLTAGE_ENABLED:
            said += ': its motor is without voltage, by safe torque off or the supply'
        self._collect(leg)
        texts = [
            f'emergency 0x{item.code:04X}, {error_text(item.code)}'
            for item in self._emergencies[leg - 1]
        ]
        return LegFault(leg, '; '.join([said, *texts]))

    def _incomplete_for_long(self) -> LegFault | None:
        """Blame the bus if all drives say that they take part, and yet the counter is another.

        It may be a terminal beside them that has dropped out.
        """
        late = self._counted_at - self._complete_at > self._options.patience
        return self.incompleteness if late else None

    @property
    def complete(self) -> bool:
        """Whether every slave has taken part in the last frame."""
        return not self._incomplete

    @property
    def incompleteness(self) -> LegFault:
        """For how long not every slave has taken part."""
        since = self._counted_at - self._complete_at
        return LegFault(
            0,
            f'for {1e3 * since:.0f} ms not every slave on {self._interface} has taken part in a '
            f'frame: working counter {self._counter} instead of {self._wire.expected}',
        )

    @property
    def _silence(self) -> float:
        """For how long no frame has come back [s]."""
        return 0.0 if self._heard_at is None else self._counted_at - self._heard_at

    def _bring_back(self) -> None:
        """Ask drives that have left OP for it again: outside of it no voltage can be taken."""
        statuses = self._look_at_states()
        if any(item.state for item in statuses):
            # One that has restarted is told from one behind a pulled cable at the next look.
            for leg in self.mute:
                self._wire.readdress(leg)
        self._requests.ask(statuses)

    def _look_at_states(self) -> list[AlStatus]:
        """Read the states, and see who is gone."""
        statuses: list[AlStatus] = self._wire.statuses()
        if any(item.state for item in statuses):
            self._note_missing(self._note(statuses))
        return statuses

    def _note(self, statuses: Sequence[AlStatus], *, sure: bool = False) -> dict[int, set[int]]:
        """Return what each leg was in at the last look and at this one.

        A leg is gone if both say so: an answer may be that to another frame, which came late.

        Args:
            sure: Whether this look needs no other.
        """
        states = [_known_state(item) for item in statuses]
        before = states if sure else self._states
        seen = [set(pair) for pair in zip(before, states, strict=True)]
        self._states = states
        self._doubtful = any(
            len(pair) > 1 and state != OP for pair, state in zip(seen, states, strict=True)
        )
        return dict(enumerate(seen, 1))

    def _note_missing(self, seen: Mapping[int, set[int]]) -> None:
        self.mute = {leg for leg, states in seen.items() if states == {0}}
        self.restarted = {leg for leg, states in seen.items() if states == {RESTARTED}}
        self.missing |= self.mute | self.restarted

    def _lost(self, *, sure: bool = False) -> LegFault | None:
        """Blame the first leg that does not take part any more; `sure` as in `_note`."""
        statuses: list[AlStatus] = self._wire.statuses()
        # If not one answers, the frame that asked was lost: `count` waits for how long. A coupler
        # that is left alone answers the others.
        all_gone = 0 <= self._counter <= self._wire.expected - LEGS * COUNTS_PER_DRIVE
        deserted = all_gone and self._incomplete >= INCOMPLETE
        if not (deserted or any(item.state for item in statuses)):
            return None
        seen = self._note(statuses, sure=sure or deserted)
        missing = [leg for leg, states in seen.items() if OP not in states]
        if not missing:
            return None
        self.missing.update(missing)
        self._note_missing(seen)
        names = ', '.join(str(leg) for leg in missing)
        which = f'; legs {names} are lost' if len(missing) > 1 else ''
        first = missing[0]
        return LegFault(first, f'its drive is lost, EtherCAT: {statuses[first - 1]}{which}')


def _known_state(status: AlStatus) -> int:
    """Return a state that tells inputs, or 0 or `RESTARTED` where a slave gives none.

    Below SAFEOP with an error one has left OP by itself: as without the bus it may hold its leg.
    """
    if status.state & AL_STATE in {0, SAFEOP, OP}:
        return status.state
    return 0 if status.state & AL_ERROR else RESTARTED
