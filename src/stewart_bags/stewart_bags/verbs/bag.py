# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart bag``: what a recording holds, and the rescue of a damaged one."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
import json
import shutil
import sys
from typing import Any

import numpy as np
from stewart_bags.csv_rows import KINDS, rows
from stewart_bags.errors import BagError, MissingJoints, UndecodableMessage, UnknownType
from stewart_bags.findings import examine_stamps, Finding, Kind
from stewart_bags.overlaps import CUT
from stewart_bags.reading import Bag
from stewart_bags.salvage import salvage
from stewart_bags.series import (
    DriverStateSeries,
    JointSeries,
    read_joints,
    read_series,
    Series,
    TrackingErrorSeries,
)
from stewart_bags.topics import Topic
from stewart_bags.writing import Storage
from stewart_tables.errors import counted
from stewart_tables.numbers import whole_from
from stewart_tables.progress import LiveLine, tell

HELP = 'show what a recording holds, write it as CSV, rescue a damaged one'

DETAILS = """
CSV goes to standard output, with the columns of docs/conventions.md; time_s counts from the
beginning of the bag, for all topics alike. Where all stamps of a topic are zero it is the time of
receipt; where another clock made them, of a simulation or of a sensor that counts from its start,
it begins when the first message was received. A sentence says so.

examples:
  stewart bag run_1 --check
  stewart bag run_1 --check --json
  stewart bag run_1 --csv actuator_states | stewart fk -o measured_poses.csv
  stewart bag run_1 --csv setpoint > motion.csv
  stewart bag run_1 --rescue run_1_rescued
  stewart bag run_1 --rescue before --part 1
"""

_KINDS: list[type[Series]] = [*KINDS, TrackingErrorSeries]
_BY_TYPE = {kind.MSGTYPE: kind for kind in _KINDS}
# What is odd elsewhere and is how these types are used; /tf, /rosout and /parameter_events, which
# have no header of their own, are not examined at all.
_USUAL = {
    # Every node publishes its own at times of its own: they share stamps, in simulated time above
    # all, and one may overtake another.
    'diagnostic_msgs/msg/DiagnosticArray': {Kind.DUPLICATE, Kind.BACKWARDS},
    # Two changes of one cycle have one stamp.
    DriverStateSeries.MSGTYPE: {Kind.DUPLICATE},
}


class NothingRecovered(BagError):
    """Not one message of a damaged bag can be read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument('bag', help='directory, .mcap or .db3 file, also compressed')
    add = parser.add_mutually_exclusive_group().add_argument
    add('--check', action='store_true', help='read every message and list what is odd')
    written = 'write a topic: setpoint, platform/pose, actuator_states, imu/data, ...'
    add('--csv', metavar='TOPIC', help=written)
    saved = 'save what is readable into a new bag; the old one stays'
    add('--rescue', metavar='NEW', help=saved)
    add, storages = parser.add_argument, [item.value for item in Storage]
    add('--json', action='store_true', help='print topics and, with --check, findings as JSON')
    once = 'rescue only this part, from 1, of a bag that goes over the same time twice'
    add('--part', type=whole_from(1), metavar='N', help=once)
    on_disk = 'storage of the rescued bag (default: %(default)s)'
    add('--storage', choices=storages, default=Storage.MCAP.value, help=on_disk)


def main(arguments: argparse.Namespace) -> int:
    """Show a bag, write a topic of it, or rescue it."""
    if arguments.json and (arguments.csv is not None or arguments.rescue is not None):
        raise BagError('--json goes with --check or alone, not with --csv or --rescue')
    if arguments.part is not None and arguments.rescue is None:
        raise BagError('--part goes with --rescue')
    if arguments.rescue is not None:
        progress = LiveLine(sys.stderr)
        report = salvage(
            arguments.bag,
            arguments.rescue,
            storage=Storage(arguments.storage),
            part=arguments.part,
            progress=lambda count: progress.show(f'{count} messages recovered'),
        )
        progress.end()
        if not report.count:
            shutil.rmtree(arguments.rescue)  # a bag without a message helps nobody
            raise NothingRecovered(f'{arguments.bag}: {report}')
        tell(report)
        return 0
    with Bag(arguments.bag) as bag:
        if arguments.csv is not None:
            names, values = rows(bag, arguments.csv, tell)
            # Adding 0 turns -0 into 0.
            header = ','.join(names)
            np.savetxt(sys.stdout, values + 0.0, '%.15g', ',', header=header, comments='')
            return 0
        if not arguments.json:
            _print_topics(bag)
        found = None
        if arguments.check:
            progress = LiveLine(sys.stderr)
            found = list(findings(bag, lambda topic: progress.show(f'reading {topic}')))
            progress.end()
        if arguments.json:
            print(json.dumps(_as_json(bag, found), indent=2))
        else:
            if arguments.check and bag.overlap:
                print(f'{bag.path}: {Kind.OVERLAP.value} ({bag.overlap:.6g} s); {CUT}')
            for name, finding in found or ():
                print(f'{name}: {finding}')
    return 0


def _print_topics(bag: Bag) -> None:
    print(f'{bag.path}: {bag.duration:.3f} s, {counted(bag.count, "message")}')
    width = max(map(len, bag.topics), default=0)
    for topic in sorted(bag.topics.values(), key=lambda item: item.name):
        rate = f'{topic.count / bag.duration:8.1f} Hz' if bag.duration else ''
        print(f'  {topic.name:{width}}  {topic.count:8d} {rate}  {topic.msgtype}')


def _as_json(bag: Bag, found: Sequence[tuple[str, Finding]] | None) -> dict[str, Any]:
    """Return what is printed as plain data; the findings are None where nobody looked."""
    return {
        'path': str(bag.path),
        'duration_s': bag.duration,
        'messages': bag.count,
        'topics': [
            {'name': topic.name, 'type': topic.msgtype, 'messages': topic.count}
            for topic in sorted(bag.topics.values(), key=lambda item: item.name)
        ],
        'overlap_s': None if found is None else bag.overlap,
        'findings': None if found is None else [_finding_as_json(*item) for item in found],
    }


def _finding_as_json(topic: str, finding: Finding) -> dict[str, Any]:
    return {
        'topic': topic,
        'kind': finding.kind.name.lower(),
        'samples': int(finding.count),
        'first': int(finding.first),
        'detail': finding.detail,
    }


def findings(
    bag: Bag, progress: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[str, Finding]]:
    """Read every message of a bag; yield topics with what is odd about them.

    For types that have no series, and joints without names, only their stamps are examined; of
    topics that cannot be decoded that is the finding.
    """
    for topic in bag.topics.values():
        progress(topic.name)
        try:
            found = _examined(bag, topic)
        except (UndecodableMessage, UnknownType) as error:
            found = [Finding(Kind.UNEXAMINED, topic.count, 0, error.reason)]
        for finding in found:
            yield topic.name, finding


def _examined(bag: Bag, topic: Topic) -> Sequence[Finding]:
    if topic.msgtype == JointSeries.MSGTYPE:
        names = _joints(bag, topic.name)
        with suppress(MissingJoints):  # there are names, and no values
            if names:
                return read_joints(bag, topic.name, names).findings
    elif topic.msgtype in _BY_TYPE:
        return read_series(bag, topic.name, _BY_TYPE[topic.msgtype]).findings
    return _stamps_only(bag, topic)


def _joints(bag: Bag, topic: str) -> tuple[str, ...]:
    """Return the names in the first message that has some."""
    named = (tuple(item.message.name) for item in bag.messages([topic]))
    return next(filter(None, named), ())


def _stamps_only(bag: Bag, topic: Topic) -> list[Finding]:
    pairs = ((item.stamp_ns, item.time_ns) for item in bag.messages([topic.name]))
    known = np.array([pair for pair in pairs if pair[0] is not None], np.int64).reshape(-1, 2)
    # A topic that is published on change has no period, and hence no gaps.
    usual = {Kind.GAP, *_USUAL.get(topic.msgtype, ())}
    return [finding for finding in examine_stamps(*known.T) if finding.kind not in usual]
