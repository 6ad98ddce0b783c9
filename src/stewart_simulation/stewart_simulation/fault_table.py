# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that are called by name: what exists, with which arguments, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import inspect
from math import inf, isfinite
from typing import Any

from stewart_simulation.errors import FaultError


class FaultTable:
    """Every public method of a subclass is a fault or mends one, except those named here."""

    @classmethod
    def describe(cls) -> dict[str, tuple[str, str]]:
        """Return arguments and meaning of every fault, without anything that could break."""
        described = {}
        for name, method in vars(cls).items():
            if name.startswith('_') or name in vars(FaultTable):
                continue
            _, *parameters = inspect.signature(method).parameters.values()
            arguments = ', '.join(
                item.name if item.default is item.empty else f'{item.name}={item.default!r}'
                for item in parameters
            )
            described[name] = arguments, (inspect.getdoc(method) or '').partition('\n')[0]
        return described

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that `apply` knows."""
        return tuple(self.describe())

    def find(self, fault: str) -> Callable[..., None]:
        """Return what causes a fault; raises `FaultError` if there is none of this name."""
        if fault not in self.names:
            raise FaultError(fault, 'does not exist', self.names)
        cause: Callable[..., None] = getattr(self, fault)
        return cause

    def check(self, fault: str, arguments: Mapping[str, Any]) -> None:
        """Raise `FaultError` where name or arguments do not fit, without breaking anything."""
        try:
            inspect.signature(self.find(fault)).bind(**arguments)
        except TypeError as error:
            raise FaultError(fault, str(error)) from error

    def apply(self, fault: str, **arguments: Any) -> None:
        """Cause a fault by its name; raises `FaultError` where name or arguments do not fit."""
        cause = self.find(fault)
        self.check(fault, arguments)
        try:
            cause(**arguments)
        except (TypeError, ValueError) as error:
            raise FaultError(fault, str(error)) from error

    def call(self, fault: str, **arguments: Any) -> Any:
        """Carry out a request: ``observe``, which returns what is seen, or a fault."""
        if fault == 'observe':
            return self.observe()
        self.apply(fault, **arguments)
        return None

    def observe(self) -> dict[str, Any]:
        """Return what can be seen from outside, in plain types."""
        return {}


def within(name: str, value: Any, lower: float, upper: float = inf) -> float:
    """Return a number; raises ValueError if it is none, not finite or outside its bounds."""
    if isinstance(value, int | float) and isfinite(value) and lower <= value <= upper:
        return value
    bounds = f'{lower:g} to {upper:g}' if upper < inf else f'at least {lower:g}'
    raise ValueError(f'{name} must be {bounds}, not {value!r}')


def whole(name: str, value: Any, lower: int, upper: float = inf) -> int:
    """Return a whole number; raises ValueError like `within`, or if it has a fraction."""
    if within(name, value, lower, upper) != int(value):
        raise ValueError(f'{name} must be a whole number, not {value!r}')
    return int(value)
