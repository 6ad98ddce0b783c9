# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What nodes say of themselves on /diagnostics, live or in a bag, in lines for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

LEVELS = ('OK', 'WARN', 'ERROR', 'STALE')
UNKNOWN = '?'
BEFORE_TASK = ': '


class Status(NamedTuple):
    """One status: how bad it is, who says it of what, one sentence, and numbers behind it."""

    level: str
    name: str
    hardware_id: str
    message: str
    values: dict[str, str]


def statuses(message: Any, namespace: str = '') -> Iterator[Status]:
    """Yield what a DiagnosticArray says, of rclpy or of a bag.

    Args:
        namespace: Of the nodes that are listened to; empty for all of them.
    """
    within = namespace.strip('/')
    for item in message.status:
        node = item.name.partition(BEFORE_TASK)[0]
        if within and node.rpartition('/')[0] != within:
            continue
        # A byte is bytes in rclpy.
        number = item.level[0] if isinstance(item.level, bytes) else int(item.level)
        level = LEVELS[number] if number < len(LEVELS) else UNKNOWN
        values = {pair.key: pair.value for pair in item.values}
        yield Status(level, item.name, item.hardware_id, item.message, values)


def worst_first(found: Iterable[Status]) -> list[Status]:
    """Order by level, then by name."""
    order = (UNKNOWN, *reversed(LEVELS))
    return sorted(found, key=lambda item: (order.index(item.level), item.name))


def changes(said: Iterable[tuple[float, Status]]) -> Iterator[tuple[float, Status]]:
    """Yield the first status of each name, and each whose level is another than before."""
    levels: dict[str, str] = {}
    for time, status in said:
        if levels.get(status.name) != status.level:
            levels[status.name] = status.level
            yield time, status


def in_words(status: Status, *, values: bool = False) -> str:
    """Return a line, and one for each number where they are wanted."""
    lines = [f'{status.level:5}  {status.name}: {status.message}']
    if values:
        lines += [f'         {key}: {value}' for key, value in status.values.items()]
    return '\n'.join(lines)
