# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Transitions of a drive, numbered as in the standard, and the controlwords that ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from stewart_driver.ethercat.cia402.states import State


class Control(IntEnum):
    """Controlwords 6040h that a master sends; a fault is reset by the rising edge of bit 7."""

    DISABLE_VOLTAGE = 0x0000
    QUICK_STOP = 0x0002
    SHUTDOWN = 0x0006
    SWITCH_ON = 0x0007
    ENABLE_OPERATION = 0x000F
    FAULT_RESET = 0x0080


HALT = 1 << 8


@dataclass(frozen=True)
class Transition:
    """One arrow of the state machine.

    Attributes:
        number: As in the standard, 0 to 16.
        source, target: Where the arrow begins and ends.
        patterns: Controlwords that ask for it; none where the drive decides by itself.
        edge: Whether only a rising edge of the bit counts.
    """

    number: int
    source: State
    target: State
    patterns: tuple[tuple[int, int], ...] = ()
    edge: bool = False

    def asked_by(self, controlword: int, previous: int) -> bool:
        """Tell whether a controlword asks for this transition; `previous` is the one before."""
        if self.edge and any(previous & mask == value for mask, value in self.patterns):
            return False
        return any(controlword & mask == value for mask, value in self.patterns)


_SHUTDOWN = (0x87, 0x06)
_SWITCH_ON = (0x87, 0x07)
_ENABLE_OPERATION = (0x8F, 0x0F)
_DISABLE_OPERATION = (0x8F, 0x07)
_DISABLE_VOLTAGE = (0x82, 0x00)
_QUICK_STOP = (0x86, 0x02)
_FAULT_RESET = (0x80, 0x80)

_NOT_READY = State.NOT_READY_TO_SWITCH_ON
_DISABLED = State.SWITCH_ON_DISABLED
_READY = State.READY_TO_SWITCH_ON
_ON = State.SWITCHED_ON
_OPERATION = State.OPERATION_ENABLED
_STOP = State.QUICK_STOP_ACTIVE
_REACTION = State.FAULT_REACTION_ACTIVE

# Number 0 is the start of the drive: it has no source and is where NOT_READY begins.
TRANSITIONS: tuple[Transition, ...] = (
    Transition(1, _NOT_READY, _DISABLED),
    Transition(2, _DISABLED, _READY, (_SHUTDOWN,)),
    Transition(3, _READY, _ON, (_SWITCH_ON,)),
    Transition(4, _ON, _OPERATION, (_ENABLE_OPERATION,)),
    Transition(5, _OPERATION, _ON, (_DISABLE_OPERATION,)),
    Transition(6, _ON, _READY, (_SHUTDOWN,)),
    Transition(7, _READY, _DISABLED, (_DISABLE_VOLTAGE, _QUICK_STOP)),
    Transition(8, _OPERATION, _READY, (_SHUTDOWN,)),
    Transition(9, _OPERATION, _DISABLED, (_DISABLE_VOLTAGE,)),
    Transition(10, _ON, _DISABLED, (_DISABLE_VOLTAGE, _QUICK_STOP)),
    Transition(11, _OPERATION, _STOP, (_QUICK_STOP,)),
    Transition(12, _STOP, _DISABLED, (_DISABLE_VOLTAGE,)),
    *(Transition(13, s, _REACTION) for s in State if s not in {_REACTION, State.FAULT}),
    Transition(14, _REACTION, State.FAULT),
    Transition(15, State.FAULT, _DISABLED, (_FAULT_RESET,), edge=True),
    Transition(16, _STOP, _OPERATION, (_ENABLE_OPERATION,)),
)

_FROM: dict[State, tuple[Transition, ...]] = {
    state: tuple(arrow for arrow in TRANSITIONS if arrow.source is state and arrow.patterns)
    for state in State
}


def next_transition(state: State, controlword: int, previous: int = 0) -> Transition | None:
    """Find the transition that a drive makes on a controlword.

    Args:
        state: Where the drive is.
        controlword, previous: Object 6040h as received now and before that.

    Returns:
        None where the word asks for nothing that this state allows.
    """
    for arrow in _FROM[state]:
        if arrow.asked_by(controlword, previous):
            return arrow
    return None


class GoalError(ValueError):
    """No controlword leads to this state."""

    def __init__(self, goal: State) -> None:
        """Name the goal and what can be asked for."""
        names = ', '.join(state.name for state in _WAY)
        super().__init__(f'no controlword leads to {goal.name}; a goal is one of {names}')
        self.goal = goal


# Next word on the shortest way to each goal, by the state it is sent in. A state that is missing
# cannot be left by a word; disabling the voltage is what is harmless there.
_UP_TO_READY = {_DISABLED: Control.SHUTDOWN, _READY: Control.SHUTDOWN, _ON: Control.SHUTDOWN}
_UP_TO_ON = {
    _DISABLED: Control.SHUTDOWN,
    _READY: Control.SWITCH_ON,
    _ON: Control.SWITCH_ON,
    _OPERATION: Control.SWITCH_ON,
}
_WAY: dict[State, dict[State, Control]] = {
    _DISABLED: {},
    _READY: {**_UP_TO_READY, _OPERATION: Control.SHUTDOWN},
    _ON: _UP_TO_ON,
    _OPERATION: {
        **_UP_TO_ON,
        _ON: Control.ENABLE_OPERATION,
        _OPERATION: Control.ENABLE_OPERATION,
    },
    _STOP: {_OPERATION: Control.QUICK_STOP, _STOP: Control.QUICK_STOP},
}


def command_for(state: State, goal: State) -> Control:
    """Return the controlword to send now on the way from a state to a goal.

    One word is one step: decode the next statusword and ask again. From a fault, `FAULT_RESET` is
    returned as long as the fault lasts; as it acts by its rising edge, whoever wants to try again
    sends something else in between. A drive in QUICK_STOP_ACTIVE is let go first: none is brought
    back into operation from there (transition 16), since not every drive can.

    Args:
        state: Where the drive is.
        goal: Where it shall be: SWITCH_ON_DISABLED, READY_TO_SWITCH_ON, SWITCHED_ON,
            OPERATION_ENABLED or QUICK_STOP_ACTIVE.

    Returns:
        Controlword 6040h.

    Raises:
        GoalError: If nothing that can be sent leads to the goal.

    Examples:
        >>> command_for(State.SWITCHED_ON, State.OPERATION_ENABLED).name
        'ENABLE_OPERATION'
    """
    if goal not in _WAY:
        raise GoalError(goal)
    if state is State.FAULT:
        return Control.FAULT_RESET
    return _WAY[goal].get(state, Control.DISABLE_VOLTAGE)
