# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver node from configuring to cleaning up, and what keeps it from that."""

from __future__ import annotations

from collections.abc import Iterator
import os
import re
import signal
from typing import Any

import pytest

pytest.importorskip('rclpy')

from driver_graph import driver_graph, Graph, STATES
from loopback import LoopbackBackend, Trouble
from stewart_driver.control import cycle_client
from stewart_driver.control.cycle_link import StateChange
from stewart_driver.control.state_machine import Request
from stewart_driver.errors import CycleError, DriverError
from stewart_driver.nodes.drive_session import DriveSession
from stewart_interfaces.msg import DriverState
from stewart_node_support.diagnostics import Level
from stewart_node_support.lifecycle import bring_up, state_of

pytestmark = pytest.mark.ros


OTHERS: set[str] = set()
"""Children that tests before have left to Python itself, such as multiprocessing's tracker."""


@pytest.fixture(autouse=True)
def others() -> None:
    """Forget who was there before."""
    OTHERS.clear()
    OTHERS.update(children())


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    with driver_graph(monkeypatch) as make:
        yield make


@pytest.fixture
def beside_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    """Make a driver in real time: its control loop runs in a process of its own."""
    with driver_graph(monkeypatch, real=True) as make:
        yield make


def test_a_quick_stop_does_not_wait_for_a_reset_and_ends_it(beside_process: Graph) -> None:
    driver, operator = beside_process(
        loopback__trouble=Trouble.SLOW_RESET.value, loopback__trouble_after=1.0
    )
    operator.enable()
    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    assert operator.states[-1].holding
    reset = operator.ask('reset_fault')
    # Longer than a loop may stand still otherwise.
    operator.spin(1.4 * driver._chosen.stall_timeout)
    assert not reset.done()
    assert operator.names[-1] == 'FAULT'
    assert 'was killed' not in operator.states[-1].reason

    assert operator.call('quick_stop').success
    assert operator.wait(reset.done)
    assert (reset.result().success, reset.result().message) == (False, 'interrupted')
    assert operator.wait(lambda: not any(operator.states[-1].live))
    assert operator.names[-1] == 'FAULT'


@pytest.mark.slow
def test_who_waits_for_a_reset_is_told_when_the_driver_is_cleaned_up(
    beside_process: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As it is: the process is busy, and does not answer.
    monkeypatch.setattr(cycle_client, 'REPLY_TIMEOUT', 0.5)
    driver, operator = beside_process(
        loopback__trouble=Trouble.SLOW_RESET.value, loopback__trouble_after=0.5
    )
    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    reset = operator.ask('reset_fault')
    operator.spin(0.5)
    driver.trigger_deactivate()
    driver.trigger_cleanup()
    assert operator.wait(reset.done)
    assert not reset.result().success


def test_deactivating_while_moving_stops_first_and_ends_disabled(graph: Graph) -> None:
    driver, operator = graph()
    operator.enable()
    operator.ramp(1.0)
    driver.trigger_deactivate()
    operator.spin(0.1)

    assert state_of(driver) == 'inactive'
    # What was published while the transition held the executor has depth 1: the last one stays.
    assert operator.names[-1] == 'DISABLED'
    assert operator.states[-1].reason == 'disabling asked for'
    seen = len(operator.legs)
    operator.spin(0.1)
    assert len(operator.legs) == seen


def test_who_does_not_come_to_rest_stays_active_and_goes_on_telling(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, operator = graph()

    def stuck(_: Any) -> Iterator[Any]:
        raise CycleError('the drives are ENABLED after 5 s')

    with monkeypatch.context() as patch:
        patch.setattr(DriveSession, 'come_to_rest', stuck)
        driver.trigger_deactivate()
    assert state_of(driver) == 'active'
    seen = len(operator.legs)
    operator.spin(0.1)
    assert len(operator.legs) > seen
    operator.enable()


@pytest.mark.parametrize('kind', ['graph', 'beside_process'])
def test_the_node_can_be_cleaned_up_and_configured_again(
    request: pytest.FixtureRequest, kind: str
) -> None:
    driver, operator = request.getfixturevalue(kind)()
    for _ in range(2):
        operator.enable()
        assert len(children()) == (kind == 'beside_process')
        driver.trigger_deactivate()
        driver.trigger_cleanup()
        assert children() == set()
        bring_up(driver)


def test_an_unexpected_error_in_a_transition_ends_the_process(
    beside_process: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, operator = beside_process()
    operator.enable()
    assert len(children()) == 1

    def explode(_: Any) -> Iterator[Any]:
        raise RuntimeError('a defect')

    monkeypatch.setattr(DriveSession, 'come_to_rest', explode)
    driver.trigger_deactivate()

    assert state_of(driver) in {'unconfigured', 'finalized'}
    assert children() == set()


def test_legs_that_came_to_rest_while_the_node_stood_still_are_at_rest(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, operator = graph()
    operator.enable()
    operator.ramp(0.3)
    session = driver._session
    client, look, steady = session._client, session.states, session._client.steady

    def stand_still() -> list[DriverState]:
        changes = look()
        for _ in range(500):
            client.pause()
        patch.setattr(session, 'states', look)
        patch.setattr(client, 'steady', lambda: steady() + 60.0)
        return changes

    with monkeypatch.context() as patch:
        patch.setattr(session, 'states', stand_still)
        names = [STATES[state.state] for state in session.come_to_rest()]

    assert (names[0], names[-1]) == ('STOPPING', 'DISABLED')


def test_the_end_of_a_loop_is_told_after_all_that_came_before_it(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, _ = graph()
    session = driver._session
    client, told = session._client, session._client.state_changes

    def enable_and_die() -> list[StateChange]:
        changes = told()
        client.request(Request.ENABLE)
        for _ in range(50):
            client.pause()
        client.kill()
        patch.setattr(client, 'state_changes', told)
        return changes

    with monkeypatch.context() as patch:
        patch.setattr(client, 'state_changes', enable_and_die)
        names = [STATES[state.state] for _ in range(3) for state in session.states()]

    assert names[-2:] == ['ENABLED', 'FAULT']
    # What has ended takes nothing that would have to be waited for.
    driver.trigger_deactivate()
    assert state_of(driver) == 'inactive'


def test_a_killed_cyclic_process_is_a_fault(beside_process: Graph) -> None:
    driver, operator = beside_process()
    operator.enable()
    (child,) = children()
    os.kill(int(child), signal.SIGKILL)

    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    assert operator.states[-1].reason == 'the cyclic process was killed by signal 9'
    assert 'killed' in operator.call('reset_fault').message
    driver.trigger_deactivate()
    driver.trigger_cleanup()
    bring_up(driver)
    operator.enable()


def test_a_cyclic_process_that_hangs_is_told_and_killed_if_the_drives_are_on(
    beside_process: Graph,
) -> None:
    driver, operator = beside_process(stall_timeout=2.0)
    (child,) = children()
    os.kill(int(child), signal.SIGSTOP)
    operator.spin(1.5)
    assert operator.names == ['DISABLED']
    report = driver._report('cycle')
    report = driver._report('cycle')
    assert (report.level, report.message) == (Level.ERROR, 'no cycle has run in the last second')
    os.kill(int(child), signal.SIGCONT)
    operator.enable()
    os.kill(int(child), signal.SIGSTOP)

    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    assert re.match(
        r'no cycle has run for \d+\.\d+ s while ENABLED, allowed are 2 s: the cyclic process',
        operator.states[-1].reason,
    )
    assert operator.wait(lambda: children() == set())
    assert 'killed' in operator.call('reset_fault').message


def test_a_back_end_whose_legs_run_on_allows_a_shorter_stall(
    beside_process: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The parameter stall_timeout allows 2.5 s.
    monkeypatch.setattr(LoopbackBackend, 'stall_limit', 2.0, raising=False)
    _, operator = beside_process()
    operator.enable()
    (child,) = children()
    os.kill(int(child), signal.SIGSTOP)

    assert operator.wait(lambda: operator.names[-1] == 'FAULT')
    assert 'while ENABLED, allowed are 2 s' in operator.states[-1].reason


def test_a_back_end_that_does_not_open_keeps_the_node_unconfigured(graph: Graph) -> None:
    driver, _ = graph(up=False, loopback__trouble=Trouble.NOT_OPENED.value)
    driver.trigger_configure()

    assert state_of(driver) == 'unconfigured'
    assert 'no drives answer on loopback' in driver.refusal
    assert children() == set()


def test_an_unknown_back_end_is_never_replaced(graph: Graph) -> None:
    with pytest.raises(
        DriverError, match="no driver back end 'ethercta'; installed are: loopback"
    ):
        graph(backend='ethercta')


@pytest.mark.parametrize(
    ('overrides', 'words'),
    [
        ({'rate_limit': 0.7}, 'rate_limit'),
        ({'publish_rate': 1000.0}, 'publish_rate'),
        ({'quick_stop_strength': 0.3}, 'quick_stop_strength'),
    ],
)
def test_settings_that_cannot_be_used_refuse_to_configure(
    graph: Graph, overrides: dict[str, Any], words: str
) -> None:
    driver, _ = graph(up=False, **overrides)
    driver.trigger_configure()

    assert state_of(driver) == 'unconfigured'
    assert words in driver.refusal


def test_metal_follows_no_simulated_time(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopbackBackend, 'simulated', False)
    driver, _ = graph(up=False)
    driver.trigger_configure()

    assert state_of(driver) == 'unconfigured'
    assert driver.refusal == (
        'backend: expected a simulated back end, for metal follows no simulated time, '
        "got 'loopback'"
    )


def children() -> set[str]:
    with open(f'/proc/self/task/{os.getpid()}/children') as listing:
        return set(listing.read().split()) - OTHERS
