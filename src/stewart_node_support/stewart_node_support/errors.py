# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between a node and ROS.

Exception
├── ParameterError   a parameter cannot be used (also a ValueError)
├── MessageError     a message does not carry what its type promises (also a ValueError)
└── StartUpError     a node could not be brought up
"""

from __future__ import annotations

from typing import Any

from stewart_node_support.missing_modules import how_to_install


class ParameterError(ValueError):
    """A parameter cannot be used."""

    def __init__(self, name: str, value: Any, expected: str) -> None:
        super().__init__(f'parameter {name}: expected {expected}, got {value!r}')
        self.name = name
        self.value = value


class MessageError(ValueError):
    """A message does not carry what its type promises."""


class StartUpError(Exception):
    """A node could not be brought up."""


def is_deliberate(error: BaseException) -> bool:
    """Tell an error that says what the user can change from a bug.

    The packages of the suite define exception classes, or derive from their own, only for what
    they raise on purpose, the operating system's errors name their file or device, and a package
    that is not installed can be installed. Everything else keeps its traceback. The rule looks at
    names only, so no package is imported to apply it.
    """
    return (
        isinstance(error, OSError)
        or any(cls.__module__.startswith('stewart_') for cls in type(error).__mro__)
        or how_to_install(error) is not None
    )


def sentence_of(error: BaseException) -> str:
    """Return the message of a deliberate error on one line, never empty."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f'{error.filename}: {error.strerror}'
    return how_to_install(error) or ' '.join(str(error).split()) or type(error).__name__
