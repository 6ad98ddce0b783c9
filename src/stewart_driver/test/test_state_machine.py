# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every transition of the driver, and every refusal."""

from __future__ import annotations

import itertools

import pytest
from stewart_driver.control.state_machine import Event, State, StateMachine, TRANSITIONS
from stewart_driver.errors import TransitionRefused

PATHS = {
    (State.DISABLED, None): [],
    (State.ENABLING, None): [Event.ENABLE],
    (State.ENABLED, None): [Event.ENABLE, Event.DRIVES_ON],
    (State.STOPPING, State.ENABLED): [Event.ENABLE, Event.DRIVES_ON, Event.STOP],
    (State.STOPPING, State.DISABLED): [Event.ENABLE, Event.DRIVES_ON, Event.DISABLE],
    (State.STOPPING, State.FAULT): [Event.ENABLE, Event.DRIVES_ON, Event.TRIP],
    (State.FAULT, None): [Event.FAIL],
}

# What the contract of the driver says, written down a second time and by hand.
EXPECTED = {
    ('DISABLED', 'ENABLE'): 'ENABLING',
    ('DISABLED', 'DISABLE'): 'DISABLED',
    ('DISABLED', 'QUICK_STOP'): 'DISABLED',
    ('DISABLED', 'TRIP'): 'FAULT',
    ('DISABLED', 'FAIL'): 'FAULT',
    ('ENABLING', 'DRIVES_ON'): 'ENABLED',
    ('ENABLING', 'DISABLE'): 'DISABLED',
    ('ENABLING', 'QUICK_STOP'): 'DISABLED',
    ('ENABLING', 'TRIP'): 'FAULT',
    ('ENABLING', 'FAIL'): 'FAULT',
    ('ENABLED', 'STOP'): 'STOPPING',
    ('ENABLED', 'DISABLE'): 'STOPPING',
    ('ENABLED', 'QUICK_STOP'): 'STOPPING',
    ('ENABLED', 'TRIP'): 'STOPPING',
    ('ENABLED', 'FAIL'): 'FAULT',
    ('STOPPING', 'DISABLE'): 'STOPPING',
    ('STOPPING', 'QUICK_STOP'): 'STOPPING',
    ('STOPPING', 'TRIP'): 'STOPPING',
    ('STOPPING', 'FAIL'): 'FAULT',
    ('FAULT', 'DISABLE'): 'FAULT',
    ('FAULT', 'QUICK_STOP'): 'FAULT',
    ('FAULT', 'TRIP'): 'FAULT',
    ('FAULT', 'FAIL'): 'FAULT',
    ('FAULT', 'RESET_FAULT'): 'DISABLED',
    ('FAULT', 'REVIVE'): 'ENABLING',
}


def machine_in(state: State, after_stop: State | None = None) -> StateMachine:
    machine = StateMachine()
    for event in PATHS[state, after_stop]:
        machine.handle(event, f'led to {state.name}')
    assert (machine.state, machine.after_stop) == (state, after_stop)
    return machine


@pytest.mark.parametrize(
    ('state', 'event'),
    [pair for pair in itertools.product(State, Event) if pair[1] is not Event.AT_REST],
    ids=lambda item: item.name,
)
def test_every_pair_is_a_known_transition_or_refused(state: State, event: Event) -> None:
    after = State.ENABLED if state is State.STOPPING else None
    machine = machine_in(state, after)
    expected = EXPECTED.get((state.name, event.name))

    if expected is None:
        assert not machine.allows(event)
        with pytest.raises(TransitionRefused, match=state.name):
            machine.handle(event, 'because')
        assert machine.state is state
    else:
        assert machine.handle(event, 'because') is State[expected]


def test_the_table_holds_no_other_transition() -> None:
    assert {(state.name, event.name) for state, event in TRANSITIONS} == set(EXPECTED)


@pytest.mark.parametrize('after', [State.ENABLED, State.DISABLED, State.FAULT])
def test_stopping_ends_where_its_cause_says(after: State) -> None:
    machine = machine_in(State.STOPPING, after)

    assert machine.handle(Event.AT_REST, 'at rest') is after
    assert machine.after_stop is None


@pytest.mark.parametrize('state', [s for s in State if s is not State.STOPPING])
def test_coming_to_rest_means_nothing_elsewhere(state: State) -> None:
    with pytest.raises(TransitionRefused, match='at_rest'):
        machine_in(state).handle(Event.AT_REST, 'at rest')


@pytest.mark.parametrize(
    ('first', 'second', 'after'),
    [
        (Event.TRIP, Event.DISABLE, State.FAULT),
        (Event.TRIP, Event.QUICK_STOP, State.FAULT),
        (Event.QUICK_STOP, Event.DISABLE, State.DISABLED),
        (Event.STOP, Event.QUICK_STOP, State.DISABLED),
        (Event.DISABLE, Event.TRIP, State.FAULT),
    ],
)
def test_a_later_event_never_makes_the_end_milder(
    first: Event, second: Event, after: State
) -> None:
    machine = machine_in(State.ENABLED)
    machine.handle(first, 'first')

    machine.handle(second, 'second')

    assert machine.handle(Event.AT_REST, 'at rest') is after


def test_the_reason_is_that_of_the_last_change() -> None:
    machine = machine_in(State.ENABLED)
    machine.handle(Event.TRIP, 'leg 3 is 21 mm behind')
    machine.handle(Event.AT_REST, 'at rest')
    machine.handle(Event.QUICK_STOP, 'asked for')

    assert machine.state is State.FAULT
    assert machine.reason == 'leg 3 is 21 mm behind'


def test_a_refusal_names_event_state_and_reason() -> None:
    machine = machine_in(State.FAULT)

    with pytest.raises(TransitionRefused, match=r'enable is not possible.*FAULT \(led to FAULT\)'):
        machine.handle(Event.ENABLE, 'asked for')
