# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mappings out of YAML files, field by field; errors name key, value and expectation."""

from __future__ import annotations

from dataclasses import dataclass
import datetime
import inspect
import os
from pathlib import Path
import sys
from typing import Annotated, Any, get_args, get_origin, get_type_hints, TypeVar

from stewart_description.suggestion import similar, unknown_name
from stewart_driver.errors import ConfigurationError
import yaml

T = TypeVar('T')

MISSING = 'nothing'


@dataclass(frozen=True)
class Check:
    """What `Fields.model` looks at besides the type, as ``Annotated[type, Check(…)]``.

    Attributes:
        least, most: Bounds of a number; an integer needs both.
        nonzero: Whether a number may not be 0.
        count: Elements of a tuple.
        or_none: Whether a tuple may have no elements, where its key is missing.
        choices: The only texts that there are.
    """

    least: float | None = None
    most: float | None = None
    nonzero: bool = False
    count: int | None = None
    or_none: bool = False
    choices: tuple[str, ...] = ()


ANYTHING = Check()
INT32 = Check(-(1 << 31), (1 << 31) - 1)


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
        value: str = self._instance(key, str, 'a text')
        if not value.strip():
            raise ConfigurationError(self.name(key), value, 'a text')
        return value

    def flag(self, key: str) -> bool:
        """Return true or false."""
        return bool(self._instance(key, bool, 'true or false'))

    def date(self, key: str) -> datetime.date:
        """Return a date."""
        value: datetime.date = self._instance(key, datetime.date, 'a date such as 2026-11-21')
        return value.date() if isinstance(value, datetime.datetime) else value

    def _instance(self, key: str, kind: type, expected: str) -> Any:
        value = self.take(key, expected)
        if not isinstance(value, kind):
            raise ConfigurationError(self.name(key), value, expected)
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

    def model(self, cls: type[T]) -> T:
        """Return an instance of a dataclass or NamedTuple that has these fields, and no others.

        Fields are texts, flags, dates, integers, numbers, such classes, and tuples of one of them
        with any number of elements. One with a default may be missing, and so may one that may be
        None.
        """
        values: dict[str, Any] = {}
        hints = get_type_hints(cls, include_extras=True)
        for key, parameter in inspect.signature(cls).parameters.items():
            hint = hints[key]
            optional = type(None) in get_args(hint)
            if self.has(key):
                values[key] = self._typed(key, get_args(hint)[0] if optional else hint)
            elif optional:
                values[key] = None
            elif _checked(hint)[1].or_none:
                values[key] = ()
            elif parameter.default is parameter.empty:
                self._typed(key, hint)  # says what is missing
        self.finish()
        return cls(**values)

    def _typed(self, key: str, hint: Any) -> Any:
        """Return a field of a type."""
        kind, check = _checked(hint)
        if get_origin(kind) is tuple:
            return self._tuple(key, *_checked(get_args(kind)[0]), check.count)
        if kind is bool:
            return self.flag(key)
        if kind is datetime.date:
            return self.date(key)
        if kind is str:
            text = self.text(key)
            if check.choices and text not in check.choices:
                raise ConfigurationError(self.name(key), text, ' or '.join(check.choices))
            return text
        if kind is float:
            return self.number(key, check.least, nonzero=check.nonzero)
        if kind is int:
            return self.integer(key, *_bounds(check))
        return self.section(key).model(kind)

    def _tuple(self, key: str, kind: Any, check: Check, count: int | None) -> tuple[Any, ...]:
        if kind is float:
            items = self._items(key, 'numbers', count)
            return tuple(_number(*item, check.least, nonzero=check.nonzero) for item in items)
        if kind is int:
            return tuple(self.integers(key, *_bounds(check), count))
        return tuple(item.model(kind) for item in self.sections(key, count))

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
    """Read the top level of a YAML file.

    Raises:
        ConfigurationError: If it cannot be read, is no YAML or no mapping.
    """
    try:
        content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    except OSError as error:
        raise ConfigurationError(
            'file', str(path), f'a readable file ({error.strerror})'
        ) from None
    # A date that does not exist is a ValueError of PyYAML, nesting without end a RecursionError.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = ' '.join(str(error).split())
        raise ConfigurationError('file', str(path), f'a YAML file ({why})') from None
    return Fields(content)


def plain(value: Any) -> Any:
    """Return what `Fields.model` reads, as YAML writes it; what is None or empty is left out."""
    if names := getattr(value, '_fields', None) or getattr(value, '__dataclass_fields__', None):
        items = {name: getattr(value, name) for name in names}
        return {name: plain(item) for name, item in items.items() if item not in (None, '', ())}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def _checked(hint: Any) -> tuple[Any, Check]:
    """Return a type and its check."""
    if get_origin(hint) is Annotated:
        kind, check = get_args(hint)
        return kind, check
    return hint, ANYTHING


def _bounds(check: Check) -> tuple[int, int]:
    assert check.least is not None
    assert check.most is not None
    return int(check.least), int(check.most)


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
