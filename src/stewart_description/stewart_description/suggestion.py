# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is said about a name that nobody knows, the same for every kind of file."""

from __future__ import annotations

from collections.abc import Iterable
import difflib

LONGEST_LIST = 12


def expected_name(name: object, known: Iterable[object], what: str = 'key') -> str:
    """Say what is expected in the place of a name that nobody knows.

    Args:
        name: What stands in the file.
        known: The names that there are.
        what: What they name.

    Returns:
        "a key that exists (did you mean x?)", or with the list of the names that there are.
    """
    names = sorted(map(str, known))
    listed = names[:LONGEST_LIST] + ['…'] * (len(names) > LONGEST_LIST)
    hint = meant(name, names) or f' ({", ".join(listed) or "none"})'
    return f'a {what} that exists{hint}'


def meant(name: object, known: Iterable[object]) -> str:
    """Return what is added in a sentence to the names that are known.

    Args:
        name: What somebody has written.
        known: The names that there are.

    Returns:
        " (did you mean x?)", or nothing if no name is like it.
    """
    close = similar(name, known)
    return f' (did you mean {close}?)' if close else ''


def similar(name: object, known: Iterable[object], likeness: float = 0.6) -> str:
    """Return the name that is most like another one.

    Args:
        name: What to compare with.
        known: The names to choose from.
        likeness: From 0, any name, to 1, only the name itself.

    Returns:
        One of them; empty if none is like it.
    """
    close = difflib.get_close_matches(str(name), map(str, known), n=1, cutoff=likeness)
    return close[0] if close else ''
