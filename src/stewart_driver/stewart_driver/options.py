# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of options: plain values that a node may take as parameters, with what they mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, fields
from math import isfinite
from typing import Any

from stewart_driver.errors import ConfigurationError


def option(
    default: Any,
    description: str,
    *,
    min: float | None = None,
    max: float | None = None,
    zero: bool = False,
    one_of: Collection[str] = (),
) -> Any:
    """Return a field with what its parameter gets: default, meaning with unit, limits.

    Whether a decimal number may be 0, and which texts are known, checks `require_positive`.
    """
    limits = {'min': min, 'max': max, 'choices': (), 'read_only': True}
    known = {'zero': zero, 'one_of': one_of}
    return field(default=default, metadata={'description': description, **limits, **known})


def require_positive(options: Any) -> None:
    """Check the fields of a dataclass as they say: texts, and fields with a decimal default.

    Raises:
        ConfigurationError: If a text is unknown, or a number is not finite, above its limit,
            negative, or 0 where that makes no sense.
    """
    for item in fields(options):
        value, rules = getattr(options, item.name), item.metadata
        if rules.get('one_of') and value not in rules['one_of']:
            raise ConfigurationError(item.name, value, ' or '.join(rules['one_of']))
        if not isinstance(item.default, float):
            continue
        zero, most = rules.get('zero'), rules.get('max')
        if not isfinite(value) or value < 0.0 or (value == 0.0 and not zero):
            expected = 'a number >= 0' if zero else 'a positive number'
            raise ConfigurationError(item.name, value, expected)
        if most is not None and value > most:
            raise ConfigurationError(item.name, value, f'at most {most:g}')
