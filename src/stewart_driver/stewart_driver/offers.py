# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is in this process, by the names under which it is opened.

A driver knows a card or a port by its file name alone. Names that begin with `PREFIX` are no
files: a simulation in this process offers its devices under them.
"""

from __future__ import annotations

from itertools import count
from typing import Generic, TypeVar

from stewart_driver.errors import ConfigurationError

T = TypeVar('T')

PREFIX = 'inline:'


def not_stepped(key: str, name: str) -> ConfigurationError:
    """Return the refusal of a device (option `key`) that follows no simulated time."""
    expected = 'one of a virtual rig in this process, for others follow no simulated time'
    return ConfigurationError(key, name, expected)


class Offers(Generic[T]):
    """Devices of one kind."""

    def __init__(self) -> None:
        self._offered: dict[str, T] = {}

    def offer(self, device: T) -> str:
        """Offer a device; return its name, the first that is free: the same on every run."""
        name = next(
            name for number in count(1) if (name := f'{PREFIX}{number}') not in self._offered
        )
        self._offered[name] = device
        return name

    def withdraw(self, name: str) -> None:
        """Offer it no more; who has opened it keeps it."""
        self._offered.pop(name, None)

    def find(self, name: str) -> T | None:
        """Return the device of a name; None if none is offered under it."""
        return self._offered.get(name)

    def require(self, key: str, name: str) -> T:
        """Return the device of a name; raises `ConfigurationError`: others have their own time."""
        found = self.find(name)
        if found is None:
            raise not_stepped(key, name)
        return found
