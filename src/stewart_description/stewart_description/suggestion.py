# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is said about a name that nobody knows, the same for every kind of file."""

from __future__ import annotations

from collections.abc import Iterable
import difflib

LONGEST_LIST = 12


def unknown_name(name: object, known: Iterable[object], what: str = 'key') -> str:
    """Say that there is no such name, and which one may be meant.

    Args:
        name: What stands in the file.
        known: The names that there are.
        what: What they name.

    Returns:
        "no such key; did you mean x?", or the list of the names that there are.
    """
    names = sorted(map(str, known))
    close = similar(name, names)
    if close:
        return f'no such {what}; did you mean {close}?'
    listed = names[:LONGEST_LIST] + ['…'] * (len(names) > LONGEST_LIST)
    return f'no such {what}; known are {", ".join(listed) or "none"}'


def similar(name: object, known: Iterable[object]) -> str:
    """Return the name that is most like another one.

    Args:
        name: What to compare with.
        known: The names to choose from.

    Returns:
        One of them; empty if none is like it.
    """
    close = difflib.get_close_matches(str(name), map(str, known), n=1)
    return close[0] if close else ''
