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

    Whether a decimal number may be 0, and which texts are known, checks whoever has the field.
    """
    limits = {'min': min, 'max': max, 'choices': (), 'read_only': True}
    known = {'zero': zero, 'one_of': one_of}
    return field(default=default, metadata={'description': description, **limits, **known})


def require_positive(options: Any, may_be_zero: Collection[str] = ()) -> None:
    """Check the fields whose default is a decimal number; raises `ConfigurationError`.

    Args:
        may_be_zero: Names of those that may be 0, beside the fields that say so.
    """
    for item in fields(options):
        if not isinstance(item.default, float):
            continue
        value = getattr(options, item.name)
        zero_allowed = item.metadata.get('zero') or item.name in may_be_zero
        if not isfinite(value) or value < 0.0 or (value == 0.0 and not zero_allowed):
            raise ConfigurationError(
                item.name, value, 'a number >= 0' if zero_allowed else 'a positive number'
            )
