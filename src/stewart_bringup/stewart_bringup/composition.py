# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig in one process: the nodes that the launch files start, from the same YAML files.

One thread runs them all. Lifecycle nodes whose parameter ``autostart`` is true are configured and
activated in the order of `RIG`; at the end, or on SIGINT or SIGTERM, all are taken down in the
reverse order, so that setpoints end before the driver does and the recorder hears everything.

An executor builds its wait set anew for every wait, at some microseconds per entity, and a rig has
some 200 of them, most of which nobody uses. Events about incompatible QoS are dropped
always: both ends of a topic of ours take their profile from `stewart_node_support.qos`, and what
strangers may publish is subscribed so that every publisher is heard. A *lean* rig also goes
without the services for parameters, lifecycle and type descriptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
import sys
import time
from typing import Any

from rclpy.event_handler import QoSSubscriptionEventType
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter import Parameter
from stewart_bringup.errors import BringupError
from stewart_bringup.nodes.wave_operator import operator_of
from stewart_bringup.rigs import (
    nodes_of,
    RECORDER,
    require_known_nodes,
    RIG,
    ros_arguments,
    sections,
    setting,
    VIRTUAL_RIG,
)
from stewart_description.suggestion import expected_name
from stewart_interfaces.msg import DriverState
from stewart_node_support.executable import node_class
from stewart_node_support.only_here import not_alone, only_here
from stewart_node_support.parameters import flattened, known_to, require_known
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import STATE_QOS
from stewart_node_support.running import middleware, Pace, spin
from stewart_node_support.stop_signals import StopSignals
from stewart_simulation.nodes.simulation_clock import SimulatedPace
from stewart_tables.errors import ParameterError

LOST = QoSSubscriptionEventType.RCL_SUBSCRIPTION_MESSAGE_LOST
MATCHING_TIME = 5.0
CLOCK = 'simulation_clock'
# How long a thread may keep the interpreter lock while another one wants it [s]. With Python's
# 5 ms the bag's writer could hold up every hop of a 5 ms period.
SWITCH_INTERVAL = 5e-4

# The recorder of a composed rig has met its topics before the first message; each further look
# takes more than a millisecond from all nodes [s].
POLL_PERIOD = 1.0


def make_node(
    name: str,
    files: Sequence[Path],
    *,
    namespace: str = '',
    overrides: Mapping[str, Any] | None = None,
    lean: bool = False,
    simulated: bool = False,
) -> Node:
    """Make one node, not yet configured, with the parameters of the files for its full name.

    Args:
        name: Name of the node and of its executable.
        files: ROS parameter files; a later one wins.
        overrides: Parameters that win over every file.
        lean: Leave out the services that every node has.
        simulated: Time will be simulated, in lock-step: a virtual rig lives in this process.

    Raises:
        ParameterError: If a parameter cannot be used.
    """
    cls = node_class(name)
    chosen: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if lean:
        options |= {'start_parameter_services': False, 'enable_rosout': False}
        chosen['start_type_description_service'] = False
        if issubclass(cls, LifecycleNode):
            options['enable_communication_interface'] = False
    if simulated and name == VIRTUAL_RIG:
        options['inline'] = True
    chosen |= overrides or {}
    node: Node = cls(
        namespace=namespace,
        cli_args=ros_arguments(files),
        use_global_arguments=False,
        parameter_overrides=[Parameter(key, value=value) for key, value in chosen.items()],
        **options,
    )
    try:
        require_known(node, files)
    except ParameterError:
        node.destroy_node()
        raise
    return node


def compose(
    files: Sequence[Path],
    *,
    names: Sequence[str] = RIG,
    namespace: str = '',
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
    record: Path | None = None,
    lean: bool = False,
    simulated: bool = False,
) -> list[Node]:
    """Make the nodes of a rig, and a recorder in front of them that misses nothing.

    Where a virtual rig is one of them, driver and sensors are told the ends of its wires.

    Args:
        files, namespace, lean, simulated: As of `make_node`, for all nodes.
        names: Nodes in the order in which they are brought up; those of `rigs.OPTIONAL` only where
            a file has a section for them.
        overrides: Parameters that win over every file, by node.
        record: Bag to record every counted topic into; it must not exist.

    Returns:
        Not yet spinning, lifecycle nodes unconfigured.

    Raises:
        ParameterError: If a parameter cannot be used.
        ConfigurationError: If a file has a section for a node that does not exist.
        BringupError: If a publisher does not find the recorder.
    """
    require_known_nodes(files)
    chosen = overrides or {}
    nodes: list[Node] = []
    make = partial(make_node, files=files, namespace=namespace, lean=lean, simulated=simulated)
    try:
        wiring: Mapping[str, Mapping[str, Any]] = {}
        for name in nodes_of(files, names):
            told = {**wiring.get(name, {}), **chosen.get(name, {})}
            nodes.append(make(name, overrides=told))
            if hasattr(nodes[-1], 'wiring'):
                wiring = nodes[-1].wiring()
        _require_meaning(files, nodes)
        if record is not None:
            taken = {
                'poll_period': POLL_PERIOD,
                # The rig goes on without a bag.
                'exit_on_failure': False,
                **chosen.get(RECORDER, {}),
                'output': str(record),
                'topics': sorted(Ledger(nodes).counts()),
            }
            nodes.insert(0, make(RECORDER, overrides=taken))
            _introduce(nodes[0], nodes[1:])
    except Exception:
        for node in reversed(nodes):
            node.destroy_node()
        raise
    for node in nodes:
        _drop_qos_events(node)
    sys.setswitchinterval(SWITCH_INTERVAL)
    return nodes


class Ledger:
    """What the publishers of a rig count; it can still be read when the nodes are gone."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._publishers: list[CountedPublisher] = [
            item for node in nodes for item in getattr(node, 'published', {}).values()
        ]

    def counts(self) -> dict[str, int]:
        """Return how many messages were published so far, by topic."""
        counts: Counter[str] = Counter()
        for item in self._publishers:
            counts[item.topic] += item.count
        return counts

    def unheard(self) -> list[str]:
        """Return the topics with a publisher that no subscription has found."""
        return sorted({item.topic for item in self._publishers if item.subscribers == 0})


def run_rig(
    files: Sequence[Path],
    *,
    namespace: str = '',
    record: Path | None = None,
    stop: StopSignals | None = None,
    speed: float | None = None,
    play: float | None = None,
    log_level: str = 'info',
) -> None:
    """Run a rig until SIGINT or SIGTERM.

    Args:
        files, namespace, record: As of `compose`.
        speed: Simulated seconds per second, 0 for as fast as possible; real time if not given.
        play: Switch on, play for so long what the section ``wave_operator`` of the files names,
            switch off and end [s]; in simulated time only.
        log_level: What is logged: debug, info, warn, error or fatal.

    Raises:
        StartUpError: If another rig runs in the namespace, or a lifecycle node that shall start by
            itself does not, as one with a device of this machine in simulated time.
        ConfigurationError: If time shall be simulated and a virtual rig has a wire that follows
            none.
        RequestRefused: If a service of the rig refuses what is to be played.
    """
    if stop is not None and stop.requested:
        return
    with middleware(['--ros-args', '--log-level', log_level]), only_here(namespace):
        nodes = compose_alone(
            files, namespace=namespace, record=record, simulated=speed is not None
        )
        pace = None if speed is None else simulated_pace(nodes, speed, stop)
        if play is None:
            spin(nodes, stop=stop, pace=pace, ready=next_steps(files, namespace))
            return
        operator = operator_of(files, play, stop or StopSignals(), namespace)
        # The operator heeds the request to stop: it brings the platform to rest.
        spin([*nodes, operator], task=operator.play, stop=StopSignals(), pace=pace)


def compose_alone(files: Sequence[Path], *, namespace: str = '', **chosen: Any) -> list[Node]:
    """Compose a rig unless another one, whose driver is heard meanwhile, has the namespace.

    What an operator asks of one would reach both, and one of them may be of metal. The state of a
    driver is latched, and the own one publishes none before it is configured. A driver that was
    killed says nothing, though the graph lists it for some seconds more.

    Args:
        files, namespace, chosen: As of `compose`.

    Raises:
        StartUpError: If another rig runs there; nothing of this one stays.
    """
    listener = Node('neighbour', namespace=namespace, use_global_arguments=False)
    try:
        states = listener.create_subscription(
            DriverState, 'driver/state', lambda _: None, STATE_QOS
        )
        nodes = compose(files, namespace=namespace, **chosen)
        with states.handle:
            another = states.handle.take_message(DriverState, False)
    finally:
        listener.destroy_node()
    if another is not None:
        for node in nodes:
            node.destroy_node()
        raise not_alone(namespace)
    return nodes


def next_steps(files: Sequence[Path], namespace: str) -> str:
    """Say what a person does next with a rig that is up."""
    services = setting(files, 'wave_operator', 'services') or 'ocean'
    wave = 'stewart wave start' + (f' --of {services}' if services != 'ocean' else '')
    more = f' (each with --namespace {namespace})' if namespace else ''
    return (
        f'ready; next, in another terminal: stewart view, stewart drive enable, then {wave} or '
        f'stewart move, teleop, sequence{more}'
    )


def simulated_pace(nodes: list[Node], speed: float, stop: StopSignals | None = None) -> Pace:
    """Let simulated time pass at a speed, 0 for the fastest; its clock is added to the nodes.

    A request to stop ends a pause of that clock.
    """
    namespace = nodes[0].get_namespace()
    clock: Any = make_node(CLOCK, [], namespace=namespace, overrides={'speed': float(speed)})
    nodes.append(clock)
    return SimulatedPace(clock, stop)


def _require_meaning(files: Sequence[Path], nodes: Sequence[Node]) -> None:
    """Refuse a parameter for every node that none of them has."""
    known = {name for node in nodes for name in known_to(node)}
    for path in files:
        for name, values in sections(path):
            for key, value in flattened(values) if not name else ():
                if key not in known:
                    expected = expected_name(key, known, 'parameter of any node')
                    raise ParameterError(f'{key} in {path}', value, expected)


def _drop_qos_events(node: Node) -> None:
    """Keep of rclpy's events only what tells of lost messages."""
    for endpoint in (*node.publishers, *node.subscriptions):
        for handler in list(endpoint.event_handlers):
            # Event types of publishers and subscriptions compare equal by number.
            kind = handler.event_type
            if not (isinstance(kind, QoSSubscriptionEventType) and kind == LOST):
                node.remove_waitable(handler)
                endpoint.event_handlers.remove(handler)


def _introduce(recorder: Any, nodes: Sequence[Node]) -> None:
    """Wait until every counted publisher has found the recorder."""
    end = time.monotonic() + MATCHING_TIME
    ledger = Ledger(nodes)
    while unheard := ledger.unheard():
        recorder.discover()
        if time.monotonic() > end:
            raise BringupError(
                f'the recorder did not find {", ".join(unheard)} within {MATCHING_TIME} s'
            )
        time.sleep(0.01)
