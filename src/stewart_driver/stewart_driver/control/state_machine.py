# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver may do when: states, events, and the table between them."""

from __future__ import annotations

from enum import auto, Enum, IntEnum

from stewart_driver.errors import TransitionRefused


class State(IntEnum):
    """State of the six drives as one; the values are those of stewart_interfaces/DriverState."""

    DISABLED = 0
    ENABLING = 1
    ENABLED = 2
    STOPPING = 3
    FAULT = 4


# Nothing moves that drives could stop.
AT_REST = (State.DISABLED, State.FAULT)


class Event(Enum):
    """What can happen to the driver."""

    ENABLE = auto()
    DRIVES_ON = auto()
    STOP = auto()
    DISABLE = auto()
    QUICK_STOP = auto()
    TRIP = auto()
    AT_REST = auto()
    FAIL = auto()
    RESET_FAULT = auto()
    REVIVE = auto()


# (state, event) -> (state, where STOPPING ends once the legs are at rest)
# STOP is silence while moving: the drives stay on. TRIP is a limit or a drive fault: all six legs
# come to rest together, and in FAULT every healthy drive holds. FAIL leaves no way to command a
# stop. DISABLE and QUICK_STOP in FAULT take the voltage. REVIVE is a reset while drives hold.
TRANSITIONS: dict[tuple[State, Event], tuple[State, State | None]] = {
    (State.DISABLED, Event.ENABLE): (State.ENABLING, None),
    (State.DISABLED, Event.DISABLE): (State.DISABLED, None),
    (State.DISABLED, Event.QUICK_STOP): (State.DISABLED, None),
    (State.DISABLED, Event.TRIP): (State.FAULT, None),
    (State.DISABLED, Event.FAIL): (State.FAULT, None),
    (State.ENABLING, Event.DRIVES_ON): (State.ENABLED, None),
    (State.ENABLING, Event.DISABLE): (State.DISABLED, None),
    (State.ENABLING, Event.QUICK_STOP): (State.DISABLED, None),
    (State.ENABLING, Event.TRIP): (State.FAULT, None),
    (State.ENABLING, Event.FAIL): (State.FAULT, None),
    (State.ENABLED, Event.STOP): (State.STOPPING, State.ENABLED),
    (State.ENABLED, Event.DISABLE): (State.STOPPING, State.DISABLED),
    (State.ENABLED, Event.QUICK_STOP): (State.STOPPING, State.DISABLED),
    (State.ENABLED, Event.TRIP): (State.STOPPING, State.FAULT),
    (State.ENABLED, Event.FAIL): (State.FAULT, None),
    (State.STOPPING, Event.DISABLE): (State.STOPPING, State.DISABLED),
    (State.STOPPING, Event.QUICK_STOP): (State.STOPPING, State.DISABLED),
    (State.STOPPING, Event.TRIP): (State.STOPPING, State.FAULT),
    (State.STOPPING, Event.FAIL): (State.FAULT, None),
    (State.FAULT, Event.DISABLE): (State.FAULT, None),
    (State.FAULT, Event.QUICK_STOP): (State.FAULT, None),
    (State.FAULT, Event.TRIP): (State.FAULT, None),
    (State.FAULT, Event.FAIL): (State.FAULT, None),
    (State.FAULT, Event.RESET_FAULT): (State.DISABLED, None),
    (State.FAULT, Event.REVIVE): (State.ENABLING, None),
}

_SEVERITY = {State.ENABLED: 0, State.DISABLED: 1, State.FAULT: 2}


class StateMachine:
    """The driver's state, moved by events along `TRANSITIONS`.

    Attributes:
        reason: Why the last change happened, one sentence.
        after_stop: State that follows once the legs are at rest; None when not stopping.
    """

    def __init__(self) -> None:
        self.state = State.DISABLED
        self.reason = 'started'
        self.after_stop: State | None = None

    def allows(self, event: Event) -> bool:
        """Tell whether the event has a transition from the present state."""
        if event is Event.AT_REST:
            return self.state is State.STOPPING
        return (self.state, event) in TRANSITIONS

    def handle(self, event: Event, reason: str) -> State:
        """Take one event for a reason, which is kept if anything changes; return the new state.

        While stopping, a later event never leads to a milder end: a fault stays a fault although
        the operator disables meanwhile.

        Raises:
            TransitionRefused: If the table has no transition; the message names state and event.
        """
        if not self.allows(event):
            raise TransitionRefused(
                f'{event.name.lower()} is not possible while the driver is {self.state.name}'
                f' ({self.reason})'
            )
        if event is Event.AT_REST:
            assert self.after_stop is not None
            self.state, self.after_stop = self.after_stop, None
            return self.state
        state, after_stop = TRANSITIONS[self.state, event]
        if self.after_stop is not None and after_stop is not None:
            after_stop = max(after_stop, self.after_stop, key=_SEVERITY.__getitem__)
        if (state, after_stop) != (self.state, self.after_stop):
            self.reason = reason
        self.state, self.after_stop = state, after_stop
        return state


class Request(IntEnum):
    """A request; the last two have a value."""

    ENABLE = 1
    DISABLE = 2
    HOME = 3
    RESET_FAULT = 4
    OVERRIDE = 5
    """1: legs may be outside their strokes; 0: no more."""
    SPEED_SCALING = 6
    """Speed at which paths are played, 0.01 to 1."""
