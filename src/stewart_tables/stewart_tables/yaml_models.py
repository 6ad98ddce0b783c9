# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""YAML files as frozen dataclasses; every error names the path of the key, value and bounds."""

from __future__ import annotations

from dataclasses import dataclass
import datetime
import inspect
import os
from pathlib import Path
import sys
from typing import Annotated, Any, get_args, get_origin, get_type_hints, TypeAlias, TypeVar

from stewart_description.suggestion import expected_name, similar
from stewart_description.yaml_text import ERRORS, in_words, parsed
from stewart_tables.errors import ConfigurationError, listed

T = TypeVar('T')

MISSING = 'nothing'
MAPPING = 'a mapping of keys to values'
WORDS = {bool: 'true or false', str: 'a text', datetime.date: 'a date such as 2026-11-21'}
ITEMS = {float: 'numbers', int: 'integers', str: 'texts'}


@dataclass(frozen=True)
class Check:
    """What `read_model` looks at besides the type, as ``Annotated[type, Check(…)]``.

    Attributes:
        key: In the file, where that is not the name of the field: with the unit, for example.
        least, most: Bounds of a number; an integer needs both.
        positive, nonzero: Whether a number must be above 0, or may not be 0.
        count: Elements of a tuple.
        or_none: Whether a tuple may have no elements, where its key is missing.
        choices: The only texts that there are; of a dict, its only keys.
    """

    key: str = ''
    least: float | None = None
    most: float | None = None
    positive: bool = False
    nonzero: bool = False
    count: int | None = None
    or_none: bool = False
    choices: tuple[str, ...] = ()


INT32 = Check(least=-(1 << 31), most=(1 << 31) - 1)
Positive: TypeAlias = Annotated[float, Check(positive=True)]


def read_model(path: str | os.PathLike[str], cls: type[T], beside: T | None = None) -> T:
    """Read a YAML file into a dataclass or NamedTuple that has its keys, and no others.

    Fields are texts, flags, dates, integers, numbers, such classes, tuples of one of them, and
    dicts of texts to one of them. A field with a default, or that may be None, may be missing, and
    where there is a model `beside` any field that has a value there.

    Raises:
        ConfigurationError: If the file cannot be read, a key is missing or unknown, or a value is
            of another type or out of bounds.
    """
    content = read_content(path)
    if beside is not None and isinstance(content, dict):
        given = {key: value for key, value in content.items() if value is not None}
        content = plain(beside) | given
    try:
        model: T = _model(cls, content, '')
    except ConfigurationError as error:
        key = f'{path}: {error.key}' if error.key else f'{path}'
        raise ConfigurationError(key, error.value, error.expected) from None
    return model


def read_content(path: str | os.PathLike[str]) -> Any:
    """Return what YAML makes of a file; raises `ConfigurationError` if it cannot."""
    try:
        return parsed(Path(path).read_text(encoding='utf-8'))
    except OSError as error:
        expected = f'a readable file ({error.strerror})'
        raise ConfigurationError('file', str(Path(path).absolute()), expected) from None
    except ERRORS as error:
        expected = f'a YAML file ({in_words(error)})'
        raise ConfigurationError('file', str(path), expected) from None


def plain(value: Any) -> Any:
    """Return what `read_model` reads, as YAML writes it; what is None or empty is left out."""
    if names := getattr(value, '_fields', None) or getattr(value, '__dataclass_fields__', None):
        items = {name: getattr(value, name) for name in names}
        return {name: plain(item) for name, item in items.items() if item not in (None, '', ())}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def _model(cls: Any, content: Any, where: str) -> Any:
    if not isinstance(content, dict):
        raise ConfigurationError(where, content, MAPPING)
    hints, values = get_type_hints(cls, include_extras=True), {}
    fields = {
        name: (parameter, *_unwrapped(hints[name]))
        for name, parameter in inspect.signature(cls).parameters.items()
    }
    keys = {name: check.key or name for name, (_, _, check, _) in fields.items()}
    prefix = f'{where}.' if where else ''
    for name, (parameter, kind, check, optional) in fields.items():
        key = keys[name]
        if (value := content.get(key)) is not None:
            values[name] = _value(kind, check, value, prefix + key)
        elif optional or check.or_none:
            values[name] = None if optional else ()
        elif parameter.default is parameter.empty:
            there = similar(key, {*map(str, content)} - {*keys.values()})
            meant = f' (is {there} meant to be it?)' if there else ''
            if not (where or there):
                meant = f' (its keys are {listed([*content])})'
            found = content.get(key, MISSING)
            raise ConfigurationError(prefix + key, found, _expected(kind, check) + meant)
    _refuse_unknown(content, keys.values(), prefix)
    return cls(**values)


def _refuse_unknown(content: dict[Any, Any], known: Any, prefix: str) -> None:
    for key, value in content.items():
        if key not in known:
            raise ConfigurationError(f'{prefix}{key}', value, expected_name(key, known))


def _unwrapped(hint: Any, check: Check = Check()) -> tuple[Any, Check, bool]:
    """Return a type, its check, and whether it may be None."""
    if get_origin(hint) is Annotated:
        return _unwrapped(*get_args(hint))
    if type(None) in get_args(hint):
        kind, inner, _ = _unwrapped(get_args(hint)[0], check)
        return kind, inner, True
    return hint, check, False


def _value(kind: Any, check: Check, value: Any, name: str) -> Any:
    """Return a value of a type, or refuse it."""
    origin = get_origin(kind)
    if origin is tuple:
        if not isinstance(value, list) or check.count not in {None, len(value)}:
            raise ConfigurationError(name, value, _expected(kind, check))
        inner, checked, _ = _unwrapped(get_args(kind)[0])
        return tuple(
            _value(inner, checked, item, f'{name}[{number}]')
            for number, item in enumerate(value, 1)
        )
    if origin is dict:
        if not isinstance(value, dict):
            raise ConfigurationError(name, value, MAPPING)
        if check.choices:
            _refuse_unknown(value, check.choices, f'{name}.')
        inner, checked, _ = _unwrapped(get_args(kind)[1])
        return {
            str(key): _value(inner, checked, item, f'{name}.{key}') for key, item in value.items()
        }
    if kind not in {bool, str, int, float, datetime.date}:
        return _model(kind, value, name)
    if not _fits(kind, check, value):
        raise ConfigurationError(name, value, _expected(kind, check))
    if isinstance(value, datetime.datetime):
        return value.date()
    return float(value) if kind is float else value


def _fits(kind: type, check: Check, value: Any) -> bool:
    if kind in {bool, datetime.date}:
        return isinstance(value, kind)
    if kind is str:
        return isinstance(value, str) and bool(value.strip()) and value in (check.choices or value)
    return (
        isinstance(value, (int, float) if kind is float else int)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
        and (check.least is None or value >= check.least)
        and (check.most is None or value <= check.most)
        and not (check.positive and value <= 0)
        and not (check.nonzero and value == 0)
    )


def _expected(kind: Any, check: Check) -> str:
    """Say what a value of a type is, with its bounds."""
    if get_origin(kind) is tuple:
        many = '' if check.count is None else f'{check.count} '
        return f'a list of {many}{ITEMS.get(_unwrapped(get_args(kind)[0])[0], "mappings")}'
    beside = ' above 0' if check.positive else ' other than 0' if check.nonzero else ''
    if kind is int:
        return f'an integer from {check.least} to {check.most}{beside}'
    if kind is float:
        least = '' if check.least is None else f' >= {check.least:g}'
        return f'a finite number{least}{beside}'
    if check.choices and kind is str:
        return ' or '.join(check.choices)
    return WORDS.get(kind, MAPPING)
