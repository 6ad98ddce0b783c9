# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A real card, through comedilib and the kernel driver."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from stewart_driver.daq.card_type import CardType
from stewart_driver.errors import CardError


def load() -> ModuleType:
    """Import comedilib; raises `CardError` with what has to be installed."""
    try:
        # The package is a plain folder: `import comedi` alone gives an empty namespace.
        return import_module('comedi.comedi')
    except ImportError as error:
        raise CardError('comedi', f'{error}; install python3-comedilib') from error


CARD = CardType('comedi', simulated=False, load=load)
