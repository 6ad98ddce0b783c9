# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters as fields of frozen dataclasses; no ROS.

Nodes declare them (`parameters.declare`), and whoever runs the same cores without a graph fills
the same dataclasses from the same files (`filled`).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
import math
from typing import Any, get_args, get_origin, get_type_hints, TypeVar

from stewart_description.suggestion import meant
from stewart_node_support.errors import ParameterError

T = TypeVar('T')

WORDS = {bool: 'true or false', int: 'an integer', float: 'a decimal number', str: 'a text'}


def param(
    default: Any,
    description: str,
    *,
    min: float | None = None,
    max: float | None = None,
    choices: Sequence[str] = (),
    read_only: bool = True,
) -> Any:
    """Describe one parameter: a field for a frozen dataclass whose annotation gives the ROS type.

    Args:
        default: Value used when nothing overrides it. A tuple becomes an array.
        description: What it means and its unit, shown by ``ros2 param describe``.
        min, max: Inclusive limits in the unit of `default`; of every element, where that is a
            tuple.
        read_only: False lets a running node take a new value, which counts when the node next
            calls `read`.
    """
    return field(
        default=default,
        metadata={
            'description': description,
            'min': min,
            'max': max,
            'choices': tuple(choices),
            'read_only': read_only,
        },
    )


def filled(cls: type[T], values: Mapping[str, Any]) -> T:
    """Fill a dataclass of parameters from plain values, which replace the defaults.

    Raises:
        ParameterError: If there is no such parameter, or a value has the wrong type or lies
            outside its limits.
    """
    known = {rule.name: rule for rule in rules(cls)}
    for name, value in values.items():
        if name not in known:
            raise ParameterError(name, value, f'one of {", ".join(known)}{meant(name, known)}')
    return cls(**{name: known[name].check(value) for name, value in values.items()})


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
        if not self.is_array:
            if not self._fits(value):
                raise ParameterError(self.name, value, self.expected())
            return value
        if not isinstance(value, (list, tuple, array)):
            raise ParameterError(self.name, value, self.expected())
        if self.length not in {None, len(value)} or not all(map(self._fits, value)):
            raise ParameterError(self.name, list(value), self.expected())
        return tuple(value)

    def _fits(self, value: Any) -> bool:
        low, high, choices = (self.metadata[key] for key in ('min', 'max', 'choices'))
        return (
            type(value) is self.scalar
            and not (isinstance(value, float) and math.isnan(value))
            and (low is None or value >= low)
            and (high is None or value <= high)
            and (not choices or value in choices)
        )

    def expected(self) -> str:
        """Say what is allowed."""
        low, high, choices = (self.metadata[key] for key in ('min', 'max', 'choices'))
        said = WORDS[self.scalar]
        if self.is_array:
            said = f'a list of {"" if self.length is None else f"{self.length} times "}{said}'
        if choices:
            said += ' out of ' + ', '.join(choices)
        elif low is not None and high is not None:
            said += f' from {low:g} to {high:g}'
        elif low is not None:
            said += f' of at least {low:g}'
        elif high is not None:
            said += f' of at most {high:g}'
        return said


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
