# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mappings out of YAML files, field by field; errors name key, value and expectation."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
import sys
from typing import Any

from stewart_description.suggestion import similar, unknown_name
from stewart_driver.errors import ConfigurationError
import yaml

MISSING = 'nothing'


class Fields:
    """One mapping of a file.

    Args:
        content: What YAML made of it; it must be a mapping.
        where: Dotted key of the mapping in its file, empty at the top.

    Raises:
        ConfigurationError: If it is no mapping; and every method, if its field is not what it
            shall be.
    """

    def __init__(self, content: Any, where: str = '') -> None:
        self._where = where
        if not isinstance(content, dict):
            raise ConfigurationError(where or 'file', content, 'a mapping of keys to values')
        self._content = content
        self._taken: set[Any] = set()

    def has(self, key: str) -> bool:
        """Tell whether the field is there and not empty."""
        self._taken.add(key)
        return self._content.get(key) is not None

    def name(self, key: str) -> str:
        """Return the dotted key."""
        return f'{self._where}.{key}' if self._where else key

    def take(self, key: str, expected: str) -> Any:
        """Return a field as it is; it must be there."""
        if not self.has(key):
            there = similar(key, set(map(str, self._content)) - set(map(str, self._taken)))
            meant = f'; is {there} meant to be it?' if there else ''
            value = self._content.get(key, MISSING)
            raise ConfigurationError(self.name(key), value, expected + meant)
        return self._content[key]

    def section(self, key: str) -> Fields:
        """Return a nested mapping."""
        return Fields(self.take(key, 'a mapping of keys to values'), self.name(key))

    def sections(self, key: str, count: int | None = None) -> list[Fields]:
        """Return a list of mappings."""
        return [Fields(item, where) for item, where in self._items(key, 'mappings', count)]

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        value = self.take(key, 'a text')
        if not isinstance(value, str) or not value.strip():
            raise ConfigurationError(self.name(key), value, 'a text')
        return value

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self.take(key, 'true or false')
        if not isinstance(value, bool):
            raise ConfigurationError(self.name(key), value, 'true or false')
        return value

    def date(self, key: str) -> datetime.date:
        """Return a date."""
        value = self.take(key, 'a date such as 2026-11-21')
        if isinstance(value, datetime.datetime):
            return value.date()
        if not isinstance(value, datetime.date):
            raise ConfigurationError(self.name(key), value, 'a date such as 2026-11-21')
        return value

    def number(
        self,
        key: str,
        least: float | None = None,
        *,
        positive: bool = False,
        nonzero: bool = False,
    ) -> float:
        """Return a finite number."""
        return _number(
            self.take(key, 'a number'), self.name(key), least, positive=positive, nonzero=nonzero
        )

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """Return so many finite numbers."""
        return tuple(_number(*item) for item in self._items(key, 'numbers', count))

    def integer(self, key: str, least: int, most: int) -> int:
        """Return an integer within bounds."""
        bounds = f'an integer from {least} to {most}'
        return _integer(self.take(key, bounds), self.name(key), least, most)

    def integers(self, key: str, least: int, most: int, count: int | None = None) -> list[int]:
        """Return integers within bounds, so many if a count is given."""
        return [_integer(*item, least, most) for item in self._items(key, 'integers', count)]

    def finish(self) -> None:
        """Refuse keys that nobody asked for."""
        for key, value in self._content.items():
            if key not in self._taken:
                raise ConfigurationError(
                    self.name(str(key)), value, unknown_name(key, self._taken)
                )

    def _items(self, key: str, what: str, count: int | None) -> list[tuple[Any, str]]:
        expected = f'a list of {what}' if count is None else f'a list of {count} {what}'
        value = self.take(key, expected)
        if not isinstance(value, list) or (count is not None and len(value) != count):
            raise ConfigurationError(self.name(key), value, expected)
        return [(item, f'{self.name(key)}[{n}]') for n, item in enumerate(value, 1)]


def read_fields(path: str | os.PathLike[str]) -> Fields:
    """Read a YAML file that is a mapping.

    Args:
        path: The file.

    Returns:
        Its top level.

    Raises:
        ConfigurationError: If it cannot be read, is no YAML or no mapping.
    """
    try:
        content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    except OSError as error:
        raise ConfigurationError(
            'file', str(path), f'a readable file ({error.strerror})'
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        why = ' '.join(str(error).split())
        raise ConfigurationError('file', str(path), f'a YAML file ({why})') from None
    return Fields(content)


def _number(
    value: Any,
    name: str,
    least: float | None = None,
    *,
    positive: bool = False,
    nonzero: bool = False,
) -> float:
    expected = 'a finite number'
    if least is not None:
        expected += f' >= {least:g}'
    expected += ' above 0' if positive else ' other than 0' if nonzero else ''
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if (
        not good
        or not abs(value) <= sys.float_info.max
        or (least is not None and value < least)
        or (positive and value <= 0.0)
        or (nonzero and value == 0.0)
    ):
        raise ConfigurationError(name, value, expected)
    return float(value)


def _integer(value: Any, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigurationError(name, value, f'an integer from {least} to {most}')
    return value
