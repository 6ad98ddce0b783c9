# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The operator notices what the rig does and says, on a graph with a rig of straw."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_srvs.srv import Trigger
from stewart_bringup.errors import RequestRefused, StopRequested
from stewart_bringup.nodes.operator import Operator
from stewart_bringup.nodes.wave_operator import SETTLED, WaveOperator
from stewart_bringup.verbs import wave
from stewart_bringup.verbs.drive import _act, _in_words
from stewart_interfaces.msg import DriverState
from stewart_kinematics.nodes.start_pose import NotYet
from stewart_node_support.qos import STATE_QOS
from stewart_node_support.running import spin
from stewart_node_support.stop_signals import StopSignals
from straw_rig import Stepped, Straw

pytestmark = pytest.mark.ros


@pytest.fixture
def straw(context: None) -> Straw:
    return Straw()


def play(straw: Straw, stop: StopSignals, how: str = 'play', **settings: Any) -> bool:
    overrides = [Parameter(name, value=value) for name, value in settings.items()]
    operator = WaveOperator(stop, parameter_overrides=overrides)
    task = getattr(operator, how)
    finished: bool = spin([straw, operator], task=task, stop=StopSignals(), pace=Stepped())
    return finished


@pytest.mark.parametrize('action', ['disable', 'quick-stop'])
@pytest.mark.parametrize(('live_for', 'said'), [(0.3, 'nothing is live'), (9.0, 'still live')])
def test_who_switches_off_is_told_what_is_live_afterwards(
    straw: Straw, action: str, live_for: float, said: str
) -> None:
    """The driver is DISABLED a moment before its drives say that they are without voltage."""
    straw.live_for = live_for
    straw.tell(DriverState.ENABLED, 'on', live=True)
    operator = Operator(StopSignals())
    task = partial(_act, operator, action=action, value=0.0, in_form=_in_words)
    told = spin([straw, operator], task=task, stop=StopSignals(), pace=Stepped())
    assert told.startswith('DISABLED, ')
    assert f', {said}' in told


@pytest.mark.parametrize('late', [0.0, 0.01, 0.3])
def test_drives_that_come_on_go_off_again_where_that_is_stopped(straw: Straw, late: float) -> None:
    """Also where the request has only just been sent, or its answer has only just come."""
    straw.enabling_for = 1.0
    stop, states = StopSignals(), []
    operator = Operator(stop)
    heard = operator.on_state

    def on_state(message: DriverState) -> None:
        states.append(message.state)
        heard(message)

    operator.create_subscription(DriverState, 'driver/state', on_state, STATE_QOS)
    asked: list[float] = []

    def ask_to_stop() -> None:
        if 'driver/enable' in straw.asked:
            asked.append(straw.now)
            if straw.now - asked[0] >= late:
                stop.request()

    straw.create_timer(0.005, ask_to_stop)
    task = partial(_act, operator, action='enable', value=0.0, in_form=_in_words)
    with pytest.raises(StopRequested, match='while the drives came on; they are off again'):
        spin([straw, operator], task=task, stop=StopSignals(), pace=Stepped())
    assert straw.asked == ['driver/enable', 'driver/disable']
    assert states[-1] == DriverState.DISABLED
    assert DriverState.ENABLED not in states


def test_drives_are_not_asked_where_it_was_stopped_before(straw: Straw) -> None:
    straw.tell(DriverState.ENABLED, 'on', live=True)
    stop = StopSignals()
    operator = Operator(stop)
    straw.create_timer(0.005, lambda: stop.request() if operator.heard_driver else None)

    async def enable() -> str:
        await operator.until(lambda: stop.requested, 'a stop', heedless=True)
        return await _act(operator, action='enable', value=0.0, in_form=_in_words)

    with pytest.raises(StopRequested, match='a stop was requested'):
        spin([straw, operator], task=enable, stop=StopSignals(), pace=Stepped())
    assert straw.asked == []


def test_wave_is_played_from_power_on_to_power_off(straw: Straw) -> None:
    assert play(straw, StopSignals(), duration=0.2) is True
    assert straw.asked == ['driver/enable', 'ocean/start', 'ocean/stop', 'driver/disable']


def test_request_to_stop_switches_off_at_once(straw: Straw) -> None:
    stop = StopSignals()
    straw.create_timer(0.05, lambda: stop.request() if 'ocean/start' in straw.asked else None)

    assert play(straw, stop, duration=30.0) is False
    assert straw.asked == ['driver/enable', 'ocean/start', 'driver/disable']


def test_request_before_anything_was_switched_on_asks_for_nothing(straw: Straw) -> None:
    stop = StopSignals()
    stop.request()

    assert play(straw, stop) is False
    assert straw.asked == []


def test_refusal_is_told_with_its_reason(straw: Straw) -> None:
    straw.refuses = 'ocean/start'

    with pytest.raises(RequestRefused, match='ocean/start: no wave today'):
        play(straw, StopSignals(), 'wait_and_play')
    # Asking again would change nothing.
    assert straw.asked.count('ocean/start') == 1


def test_a_node_that_has_not_heard_of_the_rig_yet_is_asked_again(straw: Straw) -> None:
    straw.refuses, straw.reason = 'ocean/start', str(NotYet('no driver/state'))

    assert play(straw, StopSignals(), duration=0.2) is True
    assert straw.asked.count('ocean/start') == 2


def test_nothing_is_asked_for_before_the_nodes_of_the_rig_are_up(straw: Straw) -> None:
    assert play(straw, StopSignals(), 'wait_and_play', duration=0.2, nodes=['straw']) is True

    straw.asked.clear()
    with pytest.raises(RequestRefused, match='hay, straw: no rig runs'):
        play(straw, StopSignals(), 'wait_and_play', patience=0.5, nodes=['straw', 'hay'])
    assert straw.asked == []


def test_nothing_is_asked_for_while_nodes_come_up(straw: Straw) -> None:
    # As of a rig whose processes are started one after the other.
    late: list[tuple[Node, float]] = []

    def come() -> None:
        if len(late) < 2:
            late.append((Node(f'late_{len(late)}'), straw.now))

    straw.create_timer(0.8 * SETTLED, come)
    assert play(straw, StopSignals(), 'wait_and_play', duration=0.2) is True
    assert SETTLED <= straw.when['driver/enable'] - late[1][1] < SETTLED + 0.1


def test_a_node_that_never_hears_of_the_rig_is_not_asked_for_ever(straw: Straw) -> None:
    straw.refuses, straw.refusals = 'ocean/start', 1000
    straw.reason = str(NotYet('no driver/state'))

    with pytest.raises(RequestRefused, match='ocean/start: not yet: no driver/state'):
        play(straw, StopSignals(), patience=1.5)


@pytest.mark.parametrize(
    'states',
    [
        [(DriverState.FAULT, 'leg 3 is stuck')],
        [(DriverState.STOPPING, 'silence'), (DriverState.ENABLED, 'leg 3 is stuck')],
    ],
)
def test_driver_that_was_away_ends_the_wave(straw: Straw, states: list[tuple[int, str]]) -> None:
    straw.after_start = states

    with pytest.raises(RequestRefused, match=r'leg 3 is stuck|silence'):
        play(straw, StopSignals(), duration=5.0)
    assert 'ocean/stop' not in straw.asked


def test_rig_that_is_not_there_is_waited_for_so_long_and_no_longer(
    straw: Straw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('stewart_bringup.nodes.operator.DISCOVERY_LIMIT', 0.1)
    straw.destroy_node()
    rclpy.try_shutdown()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)

    operator = WaveOperator(StopSignals(), parameter_overrides=[Parameter('patience', value=0.3)])
    with pytest.raises(RequestRefused, match=r'driver/enable: no rig runs: .* for 0\.3 s'):
        spin([operator], task=operator.play, stop=StopSignals(), pace=Stepped())


def test_service_whose_node_has_died_is_given_up(
    straw: Straw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that dies is still listed for a while, and its service never answers."""
    monkeypatch.setattr('stewart_bringup.nodes.operator.ANSWER_LIMIT', 0.3)
    monkeypatch.setattr(Client, 'call_async', lambda *_: Future())

    with pytest.raises(RequestRefused, match=r'driver/enable: no answer within 0\.3 s'):
        play(straw, StopSignals())


@pytest.mark.parametrize(
    ('service', 'limit'), [('driver/enable', '0.1'), ('driver/reset_fault', '0.4')]
)
def test_a_reset_that_starts_the_bus_anew_is_waited_for(
    straw: Straw, monkeypatch: pytest.MonkeyPatch, service: str, limit: str
) -> None:
    """Behind mailboxes of 50 ms it takes 18 s; it was told as no answer, and succeeded later."""
    monkeypatch.setattr('stewart_bringup.nodes.operator.ANSWER_LIMIT', 0.1)
    monkeypatch.setattr('stewart_bringup.nodes.operator.SLOW_LIMIT', 0.4)
    monkeypatch.setattr(Client, 'call_async', lambda *_: Future())

    operator = WaveOperator(StopSignals())
    task = partial(operator.request, service)
    with pytest.raises(RequestRefused, match=f'{service}: no answer within {limit} s'):
        spin([straw, operator], task=task, stop=StopSignals(), pace=Stepped())


def test_request_to_stop_is_obeyed_while_a_service_does_not_answer(
    straw: Straw, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = StopSignals()
    asked = []

    def call_async(client: Any, _: Any) -> Future:
        asked.append(client.srv_name)
        stop.request()
        return Future()

    monkeypatch.setattr(Client, 'call_async', call_async)
    # The drives were never switched on, so there is nothing to bring to rest.
    assert play(straw, stop) is False
    assert [name.strip('/') for name in asked] == ['driver/enable']


@pytest.mark.usefixtures('context')
def test_without_a_rig_the_wait_is_told_and_the_refusal_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr('stewart_bringup.nodes.operator.DISCOVERY_LIMIT', 0.1)
    lines: list[str] = []
    operator = Operator(
        StopSignals(),
        namespace='nobody',
        parameter_overrides=[Parameter('patience', value=0.5)],
    )
    operator.show = lines.append
    task = partial(operator.request, 'ocean/start')
    with pytest.raises(RequestRefused, match='no rig runs in the namespace /nobody'):
        spin([operator], task=task, stop=StopSignals(), pace=Stepped())
    assert lines == ['ocean/start: waiting, 0.5 s at most', '']


@pytest.mark.parametrize(
    ('namespace', 'reason'),
    [
        ('', r'no rig runs in the namespace /, but in /b: name its --namespace'),
        ('b', r'cueing/start: no node of this rig offers it'),
    ],
)
def test_a_rig_elsewhere_and_a_rig_without_the_node_are_told(
    context: None, namespace: str, reason: str
) -> None:
    rig = Node('driver', namespace='b')
    rig.create_publisher(DriverState, 'driver/state', STATE_QOS)
    patience = [Parameter('patience', value=0.5)]
    operator = Operator(StopSignals(), namespace=namespace, parameter_overrides=patience)
    task = partial(operator.request, 'cueing/start')
    with pytest.raises(RequestRefused, match=reason):
        spin([rig, operator], task=task, stop=StopSignals(), pace=Stepped())


class Slow(Node):
    """Answer the start of a wave after a time [s], with yes or with no.

    In place of the client, too: a service that waits would keep simulated time from going on.
    """

    def __init__(self, takes: float, *, starts: bool = True) -> None:
        super().__init__('ocean_trajectory')
        self._takes, self._starts = takes, starts
        self.asked: list[str] = []
        self._states = self.create_publisher(DriverState, 'driver/state', STATE_QOS)

    def client(self, _: Any, service: str) -> Any:
        return SimpleNamespace(
            service_is_ready=lambda: True, call_async=partial(self._call, service)
        )

    def _call(self, service: str, _: Any) -> Future:
        self.asked.append(service)
        late = service == 'ocean/start'
        answer = Future()
        response = Trigger.Response(success=self._starts or not late)
        self.create_timer(self._takes if late else 0.01, lambda: answer.set_result(response))
        return answer


def start_wave(slow: Slow, stop: StopSignals, monkeypatch: pytest.MonkeyPatch) -> None:
    def on_the_graph(_: str, work: Any, namespace: str) -> Any:
        operator: Any = Operator(stop, namespace=namespace)
        operator.create_client, operator.destroy_client = slow.client, lambda _: None
        task = partial(work, operator)
        return spin([slow, operator], task=task, stop=StopSignals(), pace=Stepped())

    monkeypatch.setattr('stewart_bringup.verbs.wave.on_the_graph', on_the_graph)
    wave.main(Namespace(action='start', of='ocean', no_wait=False, namespace=''))


@pytest.mark.parametrize(
    ('starts', 'asked'), [(True, ['ocean/start', 'ocean/stop']), (False, ['ocean/start'])]
)
def test_a_start_that_is_interrupted_is_taken_back(
    context: None, starts: bool, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, stop = Slow(0.5, starts=starts), StopSignals()
    slow.create_timer(0.05, lambda: stop.request() if slow.asked else None)
    with pytest.raises(StopRequested):
        start_wave(slow, stop, monkeypatch)
    assert slow.asked == asked


def test_a_wave_that_starts_after_its_command_has_failed_is_ended(
    context: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(12.0)
    with pytest.raises(RequestRefused, match=r'no answer within 10 s$'):
        start_wave(slow, StopSignals(), monkeypatch)
    assert slow.asked == ['ocean/start', 'ocean/stop']


def test_a_start_that_is_not_answered_at_all_may_still_come(
    context: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RequestRefused, match='may still begin, `ocean/stop` ends it'):
        start_wave(Slow(60.0), StopSignals(), monkeypatch)
