# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers on the command line, refused with what was expected."""

from __future__ import annotations

import argparse
import math


def positive(text: str) -> float:
    """Return a finite number above 0."""
    return _checked(text, 'a number above 0', lowest=0.0, included=False)


def not_negative(text: str) -> float:
    """Return a finite number not below 0."""
    return _checked(text, 'a number not below 0', lowest=0.0, included=True)


def _checked(text: str, expected: str, *, lowest: float, included: bool) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and (value > lowest or (included and value == lowest)):
        return value
    raise argparse.ArgumentTypeError(f'expected {expected}, got {text!r}')
