# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that somebody has typed, refused with what was expected."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import math

from stewart_tables.errors import LARGEST


def is_plain(text: str) -> bool:
    """Tell whether a text has nothing that Python alone takes in numbers.

    That is ``_`` between digits, as in its own programs, and digits of any script.
    """
    return text.isascii() and '_' not in text


def positive(text: str) -> float:
    """Return a finite number above 0."""
    return _checked(text, lambda value: value > 0.0, 'a number above 0')


def not_zero(text: str) -> float:
    """Return a finite number other than 0."""
    return _checked(text, lambda value: value != 0.0, 'a number other than 0')


def not_negative(text: str) -> float:
    """Return a finite number not below 0."""
    return _checked(text, lambda value: value >= 0.0, 'a number not below 0')


def positive_up_to(most: float) -> Callable[[str], float]:
    """Return a type: a number above 0 and not above `most`."""
    expected = f'a number above 0, up to {most:g}'
    return lambda text: _checked(text, lambda value: 0.0 < value <= most, expected)


def number_from(least: float, most: float) -> Callable[[str], float]:
    """Return a type: a number not below `least` and not above `most`."""
    expected = f'a number from {least:g} to {most:g}'
    return lambda text: _checked(text, lambda value: least <= value <= most, expected)


def whole_from(least: int, most: float = math.inf) -> Callable[[str], int]:
    """Return a type: a whole number not below `least` and not above `most`."""
    bounds = f'of at least {least}' if math.isinf(most) else f'from {least} to {most:g}'

    def allowed(value: float) -> bool:
        return least <= value <= most and value.is_integer()

    return lambda text: int(_checked(text, allowed, f'a whole number {bounds}'))


def _checked(text: str, allowed: Callable[[float], bool], expected: str) -> float:
    try:
        value = float(text) if is_plain(text) else math.nan
    except ValueError:
        value = math.nan
    if abs(value) <= LARGEST and allowed(value):
        return value
    raise argparse.ArgumentTypeError(f'expected {expected}, got {text!r}')
