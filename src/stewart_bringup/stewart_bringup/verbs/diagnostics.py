# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart diagnostics``: what every node says of itself, now or in a recording."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import json
from typing import Any

from stewart_bags.reading import Bag
from stewart_bags.topics import NS
from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.statuses import changes, in_words, Status, statuses
from stewart_bringup.verbs.graph import on_the_graph

HELP = 'show what every node of a running rig, or of a recording, says of itself'

DETAILS = """
Of a running rig it shows the newest report of every task, the worst first; that takes 3 s. Of a
bag with /diagnostics it shows the first report of every task, and each with another level than the
one before, with the time since the beginning of the bag [s]. Levels are OK, WARN, ERROR and STALE;
the exit code does not depend on them.

examples:
  stewart diagnostics
  stewart diagnostics --values
  stewart diagnostics --namespace hexapod --json
  stewart diagnostics imu_bag
"""

TYPE = 'diagnostic_msgs/msg/DiagnosticArray'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add = parser.add_argument
    add('bag', nargs='?', help='a recording; without it the running rig is listened to')
    add('--values', action='store_true', help='show the numbers behind each sentence, too')
    add('--json', action='store_true', help='print everything as JSON')
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Listen or read, and print."""
    found: list[tuple[float | None, Status]]
    if arguments.bag is None:
        operator = 'listening_operator:ListeningOperator'
        heard = on_the_graph(operator, lambda it: it.listen(), arguments.namespace)
        found = [(None, status) for status in heard]
    else:
        found = list(changes(_recorded(arguments.bag, arguments.namespace)))
    if arguments.json:
        print(json.dumps([_as_json(*item) for item in found], indent=2))
        return 0
    for time, status in found:
        when = '' if time is None else f'{time:9.3f} s  '
        print(when + in_words(status, values=arguments.values))
    return 0


def _recorded(path: str, namespace: str) -> Iterator[tuple[float, Status]]:
    with Bag(path) as bag:
        topic = bag.topic('diagnostics', TYPE)
        for item in bag.messages([topic.name]):
            time = (item.time_ns - bag.start_ns) / NS
            for status in statuses(item.message, namespace):
                yield time, status


def _as_json(time: float | None, status: Status) -> dict[str, Any]:
    return ({} if time is None else {'time_s': time}) | status._asdict()
