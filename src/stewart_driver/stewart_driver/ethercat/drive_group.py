# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives as one: enabled together or not at all, never re-enabled by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import auto, Enum

from stewart_driver.ethercat.cia402.states import (
    Control,
    decode_state,
    State,
    Status,
    StatuswordError,
)

LADDER = (
    State.SWITCH_ON_DISABLED,
    State.READY_TO_SWITCH_ON,
    State.SWITCHED_ON,
    State.OPERATION_ENABLED,
)
# What asks for the next rung, and brings those back to it that are beyond.
STEPS = (Control.SHUTDOWN, Control.SWITCH_ON, Control.ENABLE_OPERATION, Control.ENABLE_OPERATION)
# One that holds by its quick stop is asked for operation with those that are switched on, which it
# may refuse: the transition is optional.
RUNGS: dict[State | None, int] = {
    **{state: rung for rung, state in enumerate(LADDER)},
    State.QUICK_STOP_ACTIVE: LADDER.index(State.SWITCHED_ON),
}
STAYS = (
    ' and does not go on from there (transition 16): disable, which lets go, reset the fault, '
    'then enable'
)
FAULTS = frozenset({State.FAULT, State.FAULT_REACTION_ACTIVE})
# In these a motor may turn by its drive's will.
LIVE = frozenset({State.OPERATION_ENABLED, State.QUICK_STOP_ACTIVE, State.FAULT_REACTION_ACTIVE})
# From these the quick stop brings a motor to rest.
STOPPABLE = frozenset({State.OPERATION_ENABLED, State.QUICK_STOP_ACTIVE})
# A drive may act on a target four frames before it acts on the controlword beside it, or later.
FRAMES_TO_ACT = 5
# Between two edges of a reset, so that one lost frame or a slow drive [s] hides none.
FRAMES_OF_AN_EDGE, TIME_OF_AN_EDGE = 5, 0.01


class GroupCommand(Enum):
    """What the drives are asked for."""

    OFF = auto()
    ON = auto()
    RESET = auto()
    QUICK_STOP = auto()


class DriveGroup:
    """Controlwords for six drives out of their statuswords.

    Switching on goes in steps: no drive is asked for the next state before all that are to be
    switched on have reached the present one, so all get Operation Enabled in the same frame.
    Those that follow already hold meanwhile. A drive that leaves operation is told to take the
    voltage off and stays off until the next `enable`, but for one that holds its leg by its quick
    stop (605Ah from 5 on): it goes on to, as after the loss of the bus (6007h).

    Switching off goes in steps, too: first only the target changes, then the drive ramps down by
    its own option code and applies its brake, and then the voltage goes.

    Args:
        ramp_frames: A drive that has not ramped down after so many frames is switched off the hard
            way.
        brake_frames: A drive stays in Switched On for so many frames, until its brake holds.
        edge_frames: A fault reset is up, and then down, for so many frames.

    Attributes:
        all_on_for: For how many frames all drives have been in Operation Enabled.
        homing: Drive 0 to 5 that moves by itself (mode 6), and its bits beside Enable Operation.
        left: Legs, from 1, whose drives have left operation by themselves since the last `enable`
            or `reset`.
    """

    def __init__(
        self,
        count: int,
        ramp_frames: int,
        brake_frames: int,
        edge_frames: int = FRAMES_OF_AN_EDGE,
    ) -> None:
        self._command, self._frames = GroupCommand.OFF, FRAMES_TO_ACT
        self._ramp_frames, self._brake_frames = ramp_frames, brake_frames
        self._edge_frames = edge_frames
        # Drives by number, from 0; `_stopping` are told to, and not known to have heard it.
        self._all = frozenset(range(count))
        self._following, self._dropped, self._lost = set[int](), set[int](), set[int]()
        self._stopping, self._at_rest = set[int](), set[int]()
        self._braking = [0] * count
        self._release_after: int | None = None
        self.states: list[State | None] = [None] * count
        self.statuswords = [0] * count
        self.all_on_for = 0
        self.left: list[int] = []
        self.homing: int | None = None
        self.homing_bits = 0

    def enable(self) -> None:
        """Begin to switch on all drives that do not follow."""
        self._ask(GroupCommand.ON)
        self._dropped, self._lost = set(), set()

    def follow(self) -> None:
        """From now on all drives follow: they are in operation, and get targets."""
        self._following = set(self._all)

    def drop(self, axis: int) -> None:
        """Switch drive 0 to 5 off, until the next `enable`."""
        self._dropped.add(axis)
        self._following.discard(axis)

    def lose(self, axis: int) -> None:
        """Take drive 0 to 5 as gone: it is off, or holds its leg by its own quick stop."""
        self._lost.add(axis)
        self._following.discard(axis)

    def lacks(self, live: Iterable[bool]) -> bool:
        """Tell whether a drive that was switched off, or went off by itself, has no voltage."""
        gone = self._dropped | self._lost
        return any(axis in gone and not on for axis, on in enumerate(live))

    def disable(self) -> None:
        """Switch all drives off."""
        if self._command is not GroupCommand.OFF:
            self._ask(GroupCommand.OFF)
        self._following = set()

    def release(self, frames: int) -> None:
        """Let drives that are being switched off hold for so many frames, then all go at once."""
        self._release_after = frames

    def reset(self) -> None:
        """Acknowledge faults; drives that follow hold, and the others stay off."""
        self._ask(GroupCommand.RESET)

    def quick_stop(self) -> None:
        """Let all drives that are live ramp down by themselves; see `rest` and `has_target`."""
        self._ask(GroupCommand.QUICK_STOP)
        self._stopping, self._following, self._at_rest = self._following, set(), set()

    def withdraw(self) -> None:
        """Let no drive come on any more; those that follow hold, others by their quick stop."""
        self._ask(GroupCommand.QUICK_STOP)
        self._at_rest = set()
        self._lost |= self._all - self._following

    def rest(self, axis: int) -> None:
        """Take the voltage from drive 0 to 5, which the quick stop has brought to rest."""
        self._at_rest.add(axis)

    @property
    def off(self) -> bool:
        """Whether no drive has its motor under power."""
        harmless = {State.SWITCH_ON_DISABLED, State.FAULT, State.NOT_READY_TO_SWITCH_ON}
        return all(state in harmless for state in self.states)

    @property
    def leaving(self) -> bool:
        """Whether drives are being switched off in order."""
        return self._command is GroupCommand.OFF

    @property
    def complete(self) -> bool:
        """Whether all drives follow."""
        return self._following == self._all

    @property
    def live(self) -> list[bool]:
        """Whether the motor of each drive is under voltage."""
        return [state in LIVE for state in self.states]

    @property
    def faulty(self) -> list[int]:
        """Legs, from 1, whose drives report a fault."""
        return [leg for leg, state in enumerate(self.states, 1) if state in FAULTS]

    def why_not_on(self) -> str:
        """Name the legs, from 1, whose drives all others wait for, and what these say."""
        rungs = [RUNGS.get(state, -1) for state in self.states]
        lowest = min(rungs)
        if lowest == len(LADDER) - 1:
            return ''
        reasons = []
        for leg, (state, word) in enumerate(zip(self.states, self.statuswords, strict=True), 1):
            if rungs[leg - 1] == lowest:
                said = f'statusword 0x{word:04X}' if state is None else state.name
                # Bit 4 is the supply of the motor, which safe torque off may take away, too.
                supply = '' if word & Status.VOLTAGE_ENABLED else ' without voltage'
                remote = '' if word & Status.REMOTE else ' and not remote'
                stays = STAYS if state is State.QUICK_STOP_ACTIVE else ''
                reasons.append(f'leg {leg} is {said}{supply}{remote}{stays}')
        return ', '.join(reasons)

    def follows(self, axis: int) -> bool:
        """Tell whether drive 0 to 5 takes the targets."""
        return axis in self._following

    def has_target(self, axis: int) -> bool:
        """Tell whether drive 0 to 5 has the targets still: it follows, or may not have stopped.

        A drive that acts on 607Ah before it acts on 6040h would go back to where it was measured.
        """
        stopping = axis in self._stopping and self._frames <= FRAMES_TO_ACT
        return axis in self._following or stopping

    def take(self, statuswords: Sequence[int]) -> None:
        """Take what the drives report."""
        self.statuswords = list(statuswords)
        for axis, word in enumerate(statuswords):
            try:
                self.states[axis] = decode_state(word)
            except StatuswordError:
                self.states[axis] = None
            if self.states[axis] is not State.OPERATION_ENABLED:
                self._stopping.discard(axis)
                if axis in self._following:
                    self.lose(axis)
                    self.left.append(axis + 1)
        on = all(state is State.OPERATION_ENABLED for state in self.states)
        self.all_on_for = self.all_on_for + 1 if on and self._command is GroupCommand.ON else 0

    def words(self) -> list[int]:
        """Return the controlwords to send now."""
        self._frames += 1
        word = {
            GroupCommand.OFF: self._way_down,
            GroupCommand.RESET: self._reset_word,
            GroupCommand.QUICK_STOP: self._stop_word,
        }.get(self._command)
        words = (
            self._climb()
            if word is None
            else [
                int(Control.ENABLE_OPERATION if axis in self._following else word(axis, state))
                for axis, state in enumerate(self.states)
            ]
        )
        if self.homing is not None and self.homing in self._following:
            words[self.homing] |= self.homing_bits
        return words

    def _ask(self, command: GroupCommand) -> None:
        self._command, self._frames, self.all_on_for = command, 0, 0
        self._release_after = None
        self._stopping = set()
        self.left = []

    def _way_down(self, axis: int, state: State | None) -> Control:
        if axis in self._dropped:
            return Control.DISABLE_VOLTAGE
        if (frames := self._release_after) is not None:
            holds = state is State.OPERATION_ENABLED and self._frames <= frames
            return Control.ENABLE_OPERATION if holds else Control.DISABLE_VOLTAGE
        if state is State.OPERATION_ENABLED and self._frames <= self._ramp_frames:
            # The word that asks for Switched On from here disables the operation.
            ready = self._frames > FRAMES_TO_ACT
            return Control.SWITCH_ON if ready else Control.ENABLE_OPERATION
        if state is State.QUICK_STOP_ACTIVE and self._frames <= FRAMES_TO_ACT:
            # It lets go with those that are in operation.
            return Control.QUICK_STOP
        if state is not State.SWITCHED_ON:
            self._braking[axis] = 0
            return Control.DISABLE_VOLTAGE
        self._braking[axis] += 1
        return Control.SWITCH_ON if self._braking[axis] <= self._brake_frames else Control.SHUTDOWN

    def _gone_word(self, axis: int) -> Control:
        """Return what a drive that is gone is told: to stop, which may hold its leg, or off."""
        holds = axis in self._lost - self._dropped and self.states[axis] in STOPPABLE
        return Control.QUICK_STOP if holds else Control.DISABLE_VOLTAGE

    def _reset_word(self, axis: int, state: State | None) -> Control:
        # The rising edge of bit 7 counts, so the bit goes down between two tries.
        up = (self._frames - 1) // self._edge_frames % 2
        return Control.FAULT_RESET if state is State.FAULT and up else self._gone_word(axis)

    def _stop_word(self, axis: int, state: State | None) -> Control:
        stops = state in STOPPABLE and axis not in self._dropped | self._at_rest
        return Control.QUICK_STOP if stops else Control.DISABLE_VOLTAGE

    def _climb(self) -> list[int]:
        """Return words for who follows, who was dropped, and who is on the way up."""
        gone = self._dropped | self._lost
        climbing = [
            state
            for axis, state in enumerate(self.states)
            # Those that hold by their quick stop wait for the others, and go on from there.
            if axis not in self._following | gone and state is not State.QUICK_STOP_ACTIVE
        ]
        # One is in a fault or just starting: all wait for it.
        stays = any(state not in LADDER for state in climbing)
        step = STEPS[
            min((LADDER.index(state) for state in climbing if state in LADDER), default=0)
        ]
        on = step is Control.ENABLE_OPERATION or not climbing
        words = []
        for axis, state in enumerate(self.states):
            if axis in self._following:
                word = Control.ENABLE_OPERATION
            elif axis in gone:
                word = self._gone_word(axis)
            elif state is State.QUICK_STOP_ACTIVE:
                word = Control.ENABLE_OPERATION if on and not stays else Control.QUICK_STOP
            elif stays:
                word = Control.DISABLE_VOLTAGE
            elif state is State.OPERATION_ENABLED:
                word = Control.ENABLE_OPERATION
            else:
                word = step
            words.append(int(word))
        return words


def bits(legs: Iterable[bool]) -> int:
    """Return a mask with bit 0 for leg 1."""
    return sum(1 << axis for axis, true in enumerate(legs) if true)
