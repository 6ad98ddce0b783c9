# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write reference.md, the tables of all nodes and verbs, from the code itself.

``python docs/reference.py`` writes it; ``--check`` fails if it is not what the code says.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import entry_points
import inspect
from itertools import takewhile
from pathlib import Path
import sys
import tempfile
import time
from typing import Any

from domain_coordinator import domain_id
import rclpy
from rclpy.action import ActionServer, get_action_server_names_and_types_by_node
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from stewart_bags.writing import BagWriter
from stewart_bringup.nodes.wave_operator import WaveOperator
from stewart_driver.backend import installed_backends
from stewart_node_support.stop_signals import StopSignals

REFERENCE = Path(__file__).with_name('reference.md')
INTRODUCTION = """\
# Reference

Written by `python docs/reference.py` from the code; a test holds it against the code.
Names of topics and services are relative, so a namespace moves them. Values of parameters are
those of a node started without any file.
"""
# What rclpy gives every node.
DIAGNOSTICS = '/diagnostics'
EVERY_NODES = ('/parameter_events', '/rosout', DIAGNOSTICS)
EVERY_NODES_SERVICES = ('lifecycle_msgs/', 'rcl_interfaces/', 'type_description_interfaces/')
EVERY_NODES_PARAMETERS = {'start_type_description_service', 'use_sim_time'}
# `driver` declares the options of the back end it is given; here all of them have their table.
OF_A_BACKEND = tuple(f'{name}.' for name in installed_backends())

# What a player publishes is in the bag, not in its code.
PLAYED = '/note'
# What these are given, to start here and now, is not what they have by themselves.
GIVEN = {'player': 'bag', 'recorder': 'output', 'virtual_rig': 'directory', 'web_viewer': 'port'}


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a Markdown table, or nothing if it has no rows."""
    lines = ['| ' + ' | '.join(cell.replace('|', '\\|') for cell in row) + ' |' for row in rows]
    if not lines:
        return []
    heads = list(heads)
    return ['', '| ' + ' | '.join(heads) + ' |', '|' + '---|' * len(heads), *lines]


def code(value: object) -> str:
    """Return a value as code; nothing for an empty one."""
    text = '' if value is None else f'{value}'
    return f'`{text}`' if text else ''


def first_sentence(item: Any) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(item) or '').partition('\n')[0].replace('``', '`')


def told(item: Any) -> list[str]:
    """Return the paragraphs of a docstring, a line each, down to its first list."""
    paragraphs = (inspect.getdoc(item) or '').replace('``', '`').split('\n\n')
    text = takewhile(
        lambda paragraph: not paragraph.startswith(('Args:', 'Attributes:')), paragraphs
    )
    return [' '.join(paragraph.split()) for paragraph in text]


def type_name(kind: Any) -> str:
    """Return ``package/Type`` of a message, service or action."""
    return f'{kind.__module__.partition(".")[0]}/{kind.__name__}'


def node_section(name: str, node: Node) -> Iterator[str]:
    """Describe one node."""
    kind = 'Lifecycle node' if isinstance(node, LifecycleNode) else 'Node'
    package = type(node).__module__.partition('.')[0]
    silent = not any(item.topic == DIAGNOSTICS for item in node.publishers)
    quiet = f' It publishes no `{DIAGNOSTICS}`.' if silent else ''
    first, *more = told(type(node))
    yield from ['', f'### {name}', '', f'{kind} of `{package}`. {first}{quiet}']
    for paragraph in more:
        yield from ['', paragraph]
    yield from table(['', 'name', 'type'], endpoints(node))
    yield from table(['parameter', 'value', 'meaning'], parameters(node))


def endpoints(node: Node) -> Iterator[tuple[str, str, str]]:
    """List what a node publishes, subscribes to and offers."""
    for item in node.publishers:
        if item.topic == PLAYED:
            yield 'publishes', 'the topics of the bag', 'as recorded'
        elif item.topic not in EVERY_NODES:
            yield 'publishes', code(item.topic), type_name(item.msg_type)
    for item in node.subscriptions:
        if item.topic not in EVERY_NODES and not item.topic.endswith('/transition_event'):
            yield 'subscribes to', code(item.topic), type_name(item.msg_type)
    for item in node.services:
        if not type_name(item.srv_type).startswith(EVERY_NODES_SERVICES):
            yield 'serves', code(item.srv_name), type_name(item.srv_type)
    for action, kinds in actions(node):
        yield 'serves', code(action.removeprefix('/')), kinds[0].replace('/action/', '/')


def actions(node: Node) -> list[tuple[str, list[str]]]:
    """Return name and types of a node's actions, once the graph knows of all of them."""
    count = sum(isinstance(item, ActionServer) for item in node.waitables)
    own = (node, node.get_name(), node.get_namespace())
    while len(found := get_action_server_names_and_types_by_node(*own)) < count:
        time.sleep(0.01)
    return found


def parameters(node: Node) -> Iterator[tuple[str, str, str]]:
    """List a node's own parameters with units and limits."""
    names = sorted(set(node._parameters) - EVERY_NODES_PARAMETERS)
    for item in node.describe_parameters(names):
        if item.name.startswith(OF_A_BACKEND):
            continue
        if item.name == GIVEN.get(node.get_name()):
            value = default_of(node, item.name)
        else:
            held = node.get_parameter_or(item.name)
            value = parameter_value_to_python(held.get_parameter_value())
        limits = item.additional_constraints
        change = '' if item.read_only else '; can be set before it is configured'
        yield code(item.name), shown(value), f'{item.description}; {limits}{change}'


def default_of(node: Node, name: str) -> object:
    """Return what a parameter is where nothing is given."""
    kinds = filter(is_dataclass, vars(sys.modules[type(node).__module__]).values())
    (found,) = {item.default for kind in kinds for item in fields(kind) if item.name == name}
    return found


def shown(value: Any) -> str:
    """Return a value without digits that no one wrote."""
    if isinstance(value, float):
        return code(f'{value:.9g}')
    if isinstance(value, (tuple, list)):
        return code(
            ', '.join(f'{item:.9g}' if isinstance(item, float) else f'{item}' for item in value)
        )
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(value)


def backend_section(name: str, point: Any) -> Iterator[str]:
    """Describe the options of one back end of the driver."""
    backend = point.load()
    yield from ['', f'### Back end {name}', '', first_sentence(backend)]
    options = fields(backend.options_type)
    yield from table(
        ['parameter of `driver`', 'value', 'meaning'],
        [
            (code(f'{name}.{item.name}'), shown(item.default), item.metadata['description'])
            for item in options
        ],
    )


def verb_section(name: str, module: Any) -> Iterator[str]:
    """Describe one verb."""
    parser = argparse.ArgumentParser(
        prog=f'stewart {name}',
        description=module.HELP,
        epilog=getattr(module, 'DETAILS', None),
    )
    module.add_arguments(parser)
    yield from ['', f'### stewart {name}', '', module.HELP]
    yield from option_tables(parser)
    _, mark, examples = (parser.epilog or '').partition('examples:\n')
    if mark:
        # Sentences may follow them.
        lines = [line[2:] for line in examples.splitlines() if line.startswith('  ')]
        yield from ['', '```sh', *lines, '```']


def option_tables(parser: argparse.ArgumentParser) -> Iterator[str]:
    """List arguments and options, those of sub-commands below their names."""
    rows, kinds = [], {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {item.dest: item.help for item in action._choices_actions}
            kinds = {key: (value, helps.get(key)) for key, value in action.choices.items()}
        elif not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS:
            formatter = parser._get_formatter()
            value = formatter._format_args(action, action.dest.upper())
            names = f'{", ".join(action.option_strings)} {value}'.strip()
            meaning = formatter._expand_help(action) if action.help else ''
            rows.append((code(names), ' '.join(meaning.split())))
    yield from table(['option', 'meaning'], rows)
    for key, (kind, meaning) in kinds.items():
        yield from ['', f'**{parser.prog.partition(" ")[2]} {key}** – {meaning}']
        yield from option_tables(kind)


def nodes(folder: Path) -> Iterator[tuple[str, Node]]:
    """Make one node after the other; the player is given a bag to play."""
    with BagWriter(folder / 'bag') as writer:
        writer.write(PLAYED, 0, writer.typestore.types['std_msgs/msg/String']('a note'))
    given: dict[str, object] = {
        'player': str(folder / 'bag'),
        'recorder': str(folder / 'new'),
        'virtual_rig': str(folder / 'rig'),
        'web_viewer': 0,
    }
    for point in sorted(entry_points(group='stewart.nodes'), key=lambda item: item.name):
        overrides = []
        if point.name in given:
            overrides.append(rclpy.Parameter(GIVEN[point.name], value=given[point.name]))
        node = point.load()(parameter_overrides=overrides)
        try:
            yield point.name, node
        finally:
            node.destroy_node()
    # No part of a rig: it plays one wave and ends.
    operator = WaveOperator(StopSignals())
    try:
        yield operator.get_name(), operator
    finally:
        operator.destroy_node()


def reference() -> str:
    """Return the whole page."""
    lines = [INTRODUCTION, '## Nodes', '']
    lines.append(f'Unless it says otherwise a node also publishes `{DIAGNOSTICS}` once a second.')
    # By itself: the recorder would have the topics of other nodes on this machine.
    with domain_id() as alone:
        rclpy.init(args=[], domain_id=alone)
        try:
            with tempfile.TemporaryDirectory() as folder:
                for name, node in nodes(Path(folder)):
                    lines += node_section(name, node)
        finally:
            rclpy.try_shutdown()
    lines += ['', '## Back ends of the driver']
    for name, point in sorted(installed_backends().items()):
        lines += backend_section(name, point)
    lines += ['', '## Verbs', '', '`stewart VERB --help` says the same in a terminal.']
    for point in sorted(entry_points(group='stewart.verbs'), key=lambda item: item.name):
        lines += verb_section(point.name, import_module(point.value))
    return '\n'.join(lines) + '\n'


def main() -> int:
    """Write the page or compare it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('--check', action='store_true', help='compare, and write nothing')
    text = reference()
    if not parser.parse_args().check:
        REFERENCE.write_text(text)
        return 0
    if REFERENCE.read_text() == text:
        return 0
    print(f'{REFERENCE.name} is not what the code says: python docs/reference.py', file=sys.stderr)
    return 1


if __name__ == '__main__':
    sys.exit(main())
