# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every error of the suite is, and the one that names a value that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import Repr
from typing import Any

# Values come from files: with anchors a short YAML file describes an endless list.
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxtuple, _SHORT.maxlist, _SHORT.maxdict = 3, 12, 12, 12
_SHORT.maxstring = _SHORT.maxother = 160

MOST_LISTED = 12
"""So many names of a file, which may have any number of them, stand in a sentence."""

LARGEST = 1e100
"""What is larger is a slip of the keyboard, and its square is none that a computer has."""


class StewartError(Exception):
    """Root of all errors that the suite raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how another process makes it anew: of its sentence, not as it was raised."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class ConfigurationError(StewartError, ValueError):
    """A configuration value cannot be used."""

    def __init__(self, key: str, value: Any, expected: str, file: str = '') -> None:
        where = f'{file}: ' if file else ''
        super().__init__(f'{where}{key}: expected {expected}, got {shown(value)}')
        self.key = key
        self.value = value
        self.expected = expected


class ParameterError(ConfigurationError):
    """A parameter cannot be used."""

    def __init__(self, name: str, value: Any, expected: str) -> None:
        super().__init__(f'parameter {name}', value, expected)
        self.name = name


def listed(items: Sequence[object], between: str = ', ') -> str:
    """Return items in a row, and of more than `MOST_LISTED` how many more; "none" of none."""
    more = len(items) - MOST_LISTED
    row = between.join(map(str, items[:MOST_LISTED])) or 'none'
    return f'{row} and {more} more' if more > 0 else row


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which has an ``s`` unless it is one."""
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def shown(value: Any) -> str:
    """Return a value as a person may have typed it, shortened where it is very long."""
    try:
        return 'nothing' if value is None else _SHORT.repr(value)
    except ValueError:
        return 'a number of more digits than Python writes'
