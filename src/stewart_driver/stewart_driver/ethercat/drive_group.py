# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives as one: on together or not at all, and none back on by itself."""

from __future__ import annotations

from collections.abc import Sequence
from enum import auto, Enum

from stewart_driver.ethercat.cia402 import (
    command_for,
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
FAULTS = frozenset({State.FAULT, State.FAULT_REACTION_ACTIVE})


class Wish(Enum):
    """What the drives are asked for."""

    OFF = auto()
    ON = auto()
    RESET = auto()


class DriveGroup:
    """
    Controlwords for six drives out of their statuswords.

    Switching on goes in steps: no drive is asked for the next state before all six have reached
    the present one, so all get Operation Enabled in the same frame. A drive that leaves operation
    is told to take the voltage off and stays off until the next `enable`.

    Attributes
    ----------
    states : list of State or None
        As the drives last reported them; None where a statusword named no state.
    operating : bool
        Whether all six are in Operation Enabled since they were switched on.

    """

    def __init__(self, count: int) -> None:
        """Ask for nothing."""
        self._wish = Wish.OFF
        self._dropped = [False] * count
        self._edge = False
        self.states: list[State | None] = [None] * count
        self._reported = [0] * count
        self.operating = False

    def enable(self) -> None:
        """Begin to switch all drives on."""
        self._wish = Wish.ON
        self._dropped = [False] * len(self._dropped)
        self.operating = False

    def drop(self, axis: int) -> None:
        """Switch drive 0 to 5 off, until the next `enable`."""
        self._dropped[axis] = True

    def disable(self) -> None:
        """Switch all drives off."""
        self._wish = Wish.OFF
        self.operating = False

    def reset(self) -> None:
        """Acknowledge faults; the drives stay off."""
        self._wish = Wish.RESET
        self._edge = False
        self.operating = False

    @property
    def off(self) -> bool:
        """Whether no drive has its motor under power."""
        harmless = {State.SWITCH_ON_DISABLED, State.FAULT, State.NOT_READY_TO_SWITCH_ON}
        return all(state in harmless for state in self.states)

    @property
    def complete(self) -> bool:
        """Whether all six are in operation and none has left it meanwhile."""
        return self.operating and not any(self._dropped)

    @property
    def faulty(self) -> list[int]:
        """Legs, from 1, whose drives report a fault."""
        return [leg for leg, state in enumerate(self.states, 1) if state in FAULTS]

    def why_not_on(self) -> str:
        """Name the legs, from 1, whose drives all others wait for, and what these say."""
        rungs = [LADDER.index(state) if state in LADDER else -1 for state in self.states]
        lowest = min(rungs)
        if lowest == len(LADDER) - 1:
            return ''
        reasons = []
        for leg, (state, word) in enumerate(zip(self.states, self._reported, strict=True), 1):
            if rungs[leg - 1] == lowest:
                said = f'statusword 0x{word:04X}' if state is None else state.name
                # Bit 4 is the supply of the motor, which safe torque off may take away, too.
                supply = '' if word & Status.VOLTAGE_ENABLED else ' without voltage'
                reasons.append(f'leg {leg} is {said}{supply}')
        return ', '.join(reasons)

    def follows(self, axis: int) -> bool:
        """Tell whether drive 0 to 5 takes the targets."""
        return self.operating and not self._dropped[axis]

    def holds(self, axis: int) -> bool:
        """Tell whether drive 0 to 5 holds its leg under power, at the last target it was given."""
        return self.states[axis] is State.OPERATION_ENABLED

    def take(self, statuswords: Sequence[int]) -> None:
        """Take what the drives report."""
        self._reported = list(statuswords)
        for axis, word in enumerate(statuswords):
            try:
                self.states[axis] = decode_state(word)
            except StatuswordError:
                self.states[axis] = None
        if self._wish is not Wish.ON:
            return
        on = [state is State.OPERATION_ENABLED for state in self.states]
        if self.operating:
            self._dropped = [
                dropped or not still for dropped, still in zip(self._dropped, on, strict=True)
            ]
        else:
            self.operating = all(on)

    def words(self) -> list[int]:
        """Return the controlwords to send now."""
        if self._wish is Wish.RESET:
            # The edge of bit 7 counts, so the bit goes down between two tries.
            self._edge = not self._edge
            return [
                int(Control.FAULT_RESET if state is State.FAULT and self._edge else 0)
                for state in self.states
            ]
        if self._wish is Wish.OFF:
            return [int(Control.DISABLE_VOLTAGE)] * len(self.states)
        if self.operating:
            return [
                int(Control.DISABLE_VOLTAGE if dropped else Control.ENABLE_OPERATION)
                for dropped in self._dropped
            ]
        return self._climb()

    def _climb(self) -> list[int]:
        known = [state for state in self.states if state in LADDER]
        if len(known) < len(self.states):
            # One is in a fault or just starting: nobody goes further.
            return [int(Control.DISABLE_VOLTAGE)] * len(self.states)
        lowest = min(LADDER.index(state) for state in known)
        goal = LADDER[min(lowest + 1, len(LADDER) - 1)]
        return [
            int(Control.ENABLE_OPERATION)
            if state is State.OPERATION_ENABLED
            else int(command_for(state, goal))
            for state in known
        ]
