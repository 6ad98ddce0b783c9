# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is said about a name that nobody knows, the same for every kind of file."""

from __future__ import annotations

from collections.abc import Iterable
import difflib

LONGEST_LIST = 12


def expected_name(name: object, known: Iterable[object], what: str = 'key') -> str:
    """Say what is expected in the place of a name that nobody knows.

    "a key that exists (did you mean x?)", where `what` is key, or with the list of those known.
    """
    names = sorted(map(str, known))
    listed = names[:LONGEST_LIST] + ['…'] * (len(names) > LONGEST_LIST)
    hint = meant(name, names) or f' ({", ".join(listed) or "none"})'
    return f'a {what} that exists{hint}'


def meant(name: object, known: Iterable[object]) -> str:
    """Return " (did you mean x?)" for a sentence, or nothing if no known name is like it."""
    close = similar(name, known)
    return f' (did you mean {close}?)' if close else ''


def similar(name: object, known: Iterable[object], likeness: float = 0.6) -> str:
    """Return the known name that is most like another one, empty if none is.

    `likeness` goes from 0, any name, to 1, only the name itself.
    """
    close = difflib.get_close_matches(str(name), map(str, known), n=1, cutoff=likeness)
    return close[0] if close else ''
