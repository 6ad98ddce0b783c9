# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that are called by name: what exists, with which arguments, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import inspect
from typing import Any

from stewart_simulation.ethercat.errors import FaultError


class FaultTable:
    """Every public method of a subclass is a fault or mends one, except those named here."""

    def __init__(self) -> None:
        """List the methods in the order of their definition."""
        self._faults: dict[str, Callable[..., None]] = {
            name: getattr(self, name)
            for name in vars(type(self))
            if not name.startswith('_') and name not in vars(FaultTable)
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that `apply` knows."""
        return tuple(self._faults)

    def apply(self, fault: str, **arguments: Any) -> None:
        """Call a fault by its name; raises `FaultError` where name or arguments do not fit."""
        self.check(fault, arguments)
        try:
            self._faults[fault](**arguments)
        except FaultError:
            raise
        except (TypeError, ValueError) as error:
            raise FaultError(fault, str(error)) from error

    def call(self, fault: str, **arguments: Any) -> Any:
        """Carry out a request: ``observe``, which returns what is seen, or a fault."""
        if fault == 'observe':
            return self.observe()
        self.apply(fault, **arguments)
        return None

    def check(self, fault: str, arguments: Mapping[str, Any]) -> None:
        """Raise `FaultError` where name or arguments do not fit, without breaking anything."""
        if fault not in self._faults:
            raise FaultError(fault, 'does not exist', self._faults)
        try:
            inspect.signature(self._faults[fault]).bind(**arguments)
        except TypeError as error:
            raise FaultError(fault, str(error)) from error

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

    def observe(self) -> dict[str, Any]:
        """Return what can be seen from outside, in plain types."""
        return {}
