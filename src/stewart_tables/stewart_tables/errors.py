# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every error of the suite is, and the one that names a value that cannot be used."""

from __future__ import annotations

from typing import Any

LONGEST = 160  # of a value that is shown, no more characters are

LARGEST = 1e100
"""What is larger is a slip of the keyboard, and its square is none that a computer has."""


class StewartError(Exception):
    """Root of all errors that the suite raises on purpose."""


class ConfigurationError(StewartError, ValueError):
    """A configuration value cannot be used."""

    def __init__(self, key: str, value: Any, expected: str, file: str = '') -> None:
        where = f'{file}: ' if file else ''
        super().__init__(f'{where}{key}: expected {expected}, got {_shown(value)}')
        self.key = key
        self.value = value
        self.expected = expected


def _shown(value: Any) -> str:
    """Return a value as a person may have typed it, cut off where it fills the screen."""
    try:
        text = 'nothing' if value is None else repr(value)
    except ValueError:
        text = 'a number of more digits than Python writes'
    return text if len(text) <= LONGEST else f'{text[:LONGEST]} ...'
