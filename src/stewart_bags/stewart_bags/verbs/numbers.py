# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers on the command line, refused with what was expected."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import math


def positive(text: str) -> float:
    """Return a finite number above 0."""
    return _checked(text, lambda value: value > 0.0, 'a number above 0')


def not_negative(text: str) -> float:
    """Return a finite number not below 0."""
    return _checked(text, lambda value: value >= 0.0, 'a number not below 0')


def positive_up_to(most: float) -> Callable[[str], float]:
    """Return a type: a number above 0 and not above `most`."""
    expected = f'a number above 0, up to {most:g}'
    return lambda text: _checked(text, lambda value: 0.0 < value <= most, expected)


def whole(text: str, most: float = math.inf) -> int:
    """Return a whole number not below 0 and not above `most`."""
    until = '' if math.isinf(most) else f', up to {most:g}'
    expected = f'a whole number not below 0{until}'
    return int(_checked(text, lambda value: 0.0 <= value <= most and value.is_integer(), expected))


def _checked(text: str, allowed: Callable[[float], bool], expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and allowed(value):
        return value
    raise argparse.ArgumentTypeError(f'expected {expected}, got {text!r}')
