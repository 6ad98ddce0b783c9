# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings as fields of frozen dataclasses, each with its meaning and its limits; no ROS.

Nodes declare them as parameters (`stewart_node_support.parameters.declare`), whoever runs the same
cores without a graph fills them from the same files (`filled`), and what makes them by hand looks
at their limits, too (`require`).
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
import math
from typing import Any, get_args, get_origin, get_type_hints, TypeVar

from stewart_description.suggestion import meant
from stewart_tables.errors import ConfigurationError, ParameterError
from stewart_tables.numbers import is_plain

T = TypeVar('T')

WORDS = {bool: 'true or false', int: 'an integer', float: 'a decimal number', str: 'a text'}


def param(
    default: Any,
    description: str,
    *,
    min: float | None = None,
    max: float | None = None,
    positive: bool = False,
    choices: Sequence[str] = (),
    read_only: bool = True,
) -> Any:
    """Describe one setting: a field for a frozen dataclass whose annotation gives the ROS type.

    Args:
        default: Value used when nothing overrides it. A tuple becomes an array.
        description: What it means and its unit, shown by ``ros2 param describe``.
        min, max: Inclusive limits in the unit of `default`; of every element, where that is a
            tuple.
        positive: Whether it must be above 0.
        read_only: False lets a node take a new value before it is configured, where it calls
            `read`.
    """
    limits = {'min': min, 'max': max, 'positive': positive, 'choices': tuple(choices)}
    metadata = {'description': description, **limits, 'read_only': read_only}
    return field(default=default, metadata=metadata)


def positive(default: Any, description: str, max: float | None = None) -> Any:
    """Describe a number above 0, as times, rates and gains are; see `param`."""
    return param(default, description, max=max, positive=True)


def filled(cls: type[T], values: Mapping[str, Any]) -> T:
    """Fill a dataclass of settings from plain values, which replace the defaults.

    Raises:
        ParameterError: If there is no such setting, or a value has the wrong type or lies outside
            its limits.
    """
    known = {rule.name: rule for rule in rules(cls)}
    for name, value in values.items():
        if name not in known:
            raise ParameterError(name, value, f'one of {", ".join(known)}{meant(name, known)}')
    return cls(**{name: known[name].check(value) for name, value in values.items()})


def part(settings: Any, cls: type[T]) -> T:
    """Return those of some settings, or of other values by name, that a dataclass has."""
    return cls(**{rule.name: getattr(settings, rule.name) for rule in rules(cls)})


def require(settings: Any) -> None:
    """Refuse settings made by hand that are outside their limits; raises `ConfigurationError`."""
    for rule in rules(type(settings)):
        value = getattr(settings, rule.name)
        if not rule.fits(value, strict=False):
            raise ConfigurationError(rule.name, value, rule.expected())


@dataclass(frozen=True)
class Rule:
    """What one field allows."""

    name: str
    default: Any
    scalar: type
    is_array: bool
    length: int | None
    metadata: Any

    def check(self, value: Any) -> Any:
        """Return `value` as the dataclass wants it, or refuse it."""
        if not self.fits(value):
            given = list(value) if isinstance(value, (tuple, array)) else value
            raise ParameterError(self.name, given, self.expected())
        return tuple(value) if self.is_array else value

    def typed(self, text: str) -> Any:
        """Return what was typed for an option of a verb, of one element if this is an array."""
        try:
            value = self.scalar(text) if self.scalar is str or is_plain(text) else None
        except ValueError:
            value = None
        if not self._allows(value, strict=True):
            raise argparse.ArgumentTypeError(f'expected {self.expected()}, got {text!r}')
        return value

    def fits(self, value: Any, *, strict: bool = True) -> bool:
        """Tell whether a value is allowed; strictly an integer is no decimal number, as in ROS."""
        if not self.is_array:
            return self._allows(value, strict=strict)
        return (
            isinstance(value, (list, tuple, array))
            and self.length in {None, len(value)}
            and all(self._allows(item, strict=strict) for item in value)
        )

    def _allows(self, value: Any, *, strict: bool) -> bool:
        low, high, choices = (self.metadata[key] for key in ('min', 'max', 'choices'))
        lenient = self.scalar is float and not strict and isinstance(value, (int, float))
        number: Any = float(value) if lenient else value
        kind = type(number)
        return (
            kind is self.scalar
            and not (isinstance(number, float) and not math.isfinite(number))
            and (low is None or number >= low)
            and (high is None or number <= high)
            and not (self.metadata['positive'] and number <= 0)
            and (not choices or number in choices)
        )

    def expected(self) -> str:
        """Say what is allowed."""
        low, high, choices = (self.metadata[key] for key in ('min', 'max', 'choices'))
        said = WORDS[self.scalar]
        if self.is_array:
            said = f'a list of {"" if self.length is None else f"{self.length} times "}{said}'
        if choices:
            return f'{said} out of {", ".join(choice or repr(choice) for choice in choices)}'
        if low is not None and high is not None:
            return f'{said} from {low:g} to {high:g}'
        bounds = [
            *(['above 0'] if self.metadata['positive'] else []),
            *([] if low is None else [f'of at least {low:g}']),
            *([] if high is None else [f'of at most {high:g}']),
        ]
        return f'{said} {" and ".join(bounds)}'.rstrip()


def rules(cls: type) -> list[Rule]:
    """Return what the fields of a dataclass allow, in their order."""
    hints, found = get_type_hints(cls), []
    for item in fields(cls):
        hint = hints[item.name]
        elements = get_args(hint) if get_origin(hint) is tuple else ()
        length = None if not elements or elements[-1] is Ellipsis else len(elements)
        scalar = elements[0] if elements else hint
        found.append(Rule(item.name, item.default, scalar, bool(elements), length, item.metadata))
    return found
