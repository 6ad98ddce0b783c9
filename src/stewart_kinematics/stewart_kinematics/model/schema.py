# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read a YAML file strictly: every wrong or unknown key is named with its value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from stewart_description.suggestion import expected_name, similar
from stewart_description.yaml_text import ERRORS, in_words, parsed
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_tables.errors import LARGEST

UNITS = 'm s speed repeat mps mps2 mps3 rad radps radps2 radps3 kg kgm2 number direction amplitude'
SCALES = {**dict.fromkeys(UNITS.split(), 1.0), 'deg': math.pi / 180.0}
"""Factor to SI and radians of every unit that a key may end in."""

TEXT_KEYS = 'a mapping with text keys'


def read_yaml(path: Path) -> Section:
    """Read a YAML file whose top level is a mapping.

    Raises:
        ConfigurationError: If the file is not YAML, gives a key twice or is no mapping.
        OSError: If the file cannot be read.
    """
    try:
        content = parsed(path.read_text(encoding='utf-8'))
    except ERRORS as error:
        raise ConfigurationError(str(path), in_words(error), 'valid YAML') from error
    if not isinstance(content, Mapping):
        raise ConfigurationError(str(path), content, 'a YAML file with keys and values')
    if not _has_text_keys(content):
        raise ConfigurationError(str(path), content, TEXT_KEYS)
    return Section(content, '')


def _has_text_keys(content: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(content, Mapping) and all(isinstance(key, str) for key in content)


class Section:
    """One mapping of a file, read key by key; `finish` refuses what nobody read.

    `path` is the dotted key path of the mapping, empty at the top. Every method raises
    ConfigurationError, naming the key path, the value and what was expected.
    """

    def __init__(self, content: object, path: str) -> None:
        if not _has_text_keys(content):
            raise ConfigurationError(path, content, TEXT_KEYS)
        self._content = content
        self._path = path
        self._read: set[str] = set()

    def path(self, key: str) -> str:
        """Return the dotted path of `key`."""
        return f'{self._path}.{key}' if self._path else key

    def has(self, key: str) -> bool:
        """Tell whether an optional key is there."""
        return key in self._content

    def names(self) -> list[str]:
        """Return the keys in the order of the file."""
        return list(self._content)

    def value(self, key: str, expected: str) -> Any:
        """Return the raw value of a key that must be there."""
        self._read.add(key)
        if key not in self._content:
            there = similar(key, set(self._content) - self._read)
            meant = f' (is {there} meant to be it?)' if there else ''
            expected = f'{expected}, but the key is missing{meant}'
            raise ConfigurationError(self.path(key), None, expected)
        return self._content[key]

    def section(self, key: str) -> Section:
        """Return a nested mapping."""
        return Section(self.value(key, 'a mapping'), self.path(key))

    def sections(self, key: str) -> list[Section]:
        """Return the mappings of a list."""
        value = self.value(key, 'a list of mappings')
        if not isinstance(value, list):
            raise ConfigurationError(self.path(key), value, 'a list of mappings')
        return [Section(item, f'{self.path(key)}[{i}]') for i, item in enumerate(value, 1)]

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        value = self.value(key, 'a text')
        if not isinstance(value, str) or not value.strip():
            raise ConfigurationError(self.path(key), value, 'a text that is not empty')
        return value

    def number(self, key: str, lower: float = -math.inf, upper: float = math.inf) -> float:
        """Return a finite number within bounds that hold in the unit of the file, in SI or rad."""
        expected = 'a finite number'
        if math.isfinite(upper):
            expected += f' from {lower:g} to {upper:g}'
        elif math.isfinite(lower):
            expected += f' of at least {lower:g}'
        value = _number(self.value(key, expected), self.path(key), expected)
        if not lower <= value <= upper:
            raise ConfigurationError(self.path(key), value, expected)
        return value * scale_of(key)

    def positive(self, key: str) -> float:
        """Return a finite number greater than zero, in SI or rad."""
        value = self.number(key)
        if value <= 0.0:
            raise ConfigurationError(self.path(key), self._content[key], 'a number above 0')
        return value

    def per_leg(self, key: str) -> Array:
        """Return a number above 0 in SI or rad for each leg, or one for all, shape (6,)."""
        if not isinstance(self._content.get(key), list):
            return read_only([self.positive(key)] * 6)
        values = self.vector(key, 6)
        if not np.all(values > 0.0):
            raise ConfigurationError(self.path(key), self._content[key], 'numbers above 0')
        return values

    def vector(self, key: str, size: int) -> Array:
        """Return `size` finite numbers in SI or rad, read-only."""
        return read_only(self._row(self.value(key, f'{size} numbers'), self.path(key), size, key))

    def rows(self, key: str, count: int, size: int) -> Array:
        """Return `count` rows of `size` finite numbers in SI or rad, shape (count, size)."""
        expected, path = f'{count} rows of {size} numbers', self.path(key)
        value = self.value(key, expected)
        if not isinstance(value, list):
            raise ConfigurationError(path, value, expected)
        if len(value) != count:
            raise ConfigurationError(path, value, f'{expected}, and there are {len(value)}')
        rows = enumerate(value, 1)
        return read_only([self._row(row, f'{path}[{i}]', size, key) for i, row in rows])

    def directions(self, key: str) -> Array:
        """Return six unit vectors (6, 3), given as one direction for all legs or one for each."""
        value = self.value(key, 'three numbers or six rows of three')
        if isinstance(value, list) and any(isinstance(row, list) for row in value):
            axes = self.rows(key, 6, 3)
        else:
            axes = np.tile(self.vector(key, 3), (6, 1))
        lengths = np.linalg.norm(axes, axis=1, keepdims=True)
        if not np.all(lengths > 0.0):
            raise ConfigurationError(self.path(key), value, 'directions, not (0, 0, 0)')
        return read_only(axes / lengths)

    def interval(self, key: str) -> Array:
        """Return a lower and a greater upper bound in SI or rad, shape (2,)."""
        value = self.vector(key, 2)
        if not value[0] < value[1]:
            raise ConfigurationError(self.path(key), self._content[key], 'lower below upper')
        return value

    def pose(self, key: str) -> Pose:
        """Return a pose given as ``position_m`` and ``rpy_deg``."""
        section = self.section(key)
        pose = section.as_pose()
        section.finish()
        return pose

    def as_pose(self) -> Pose:
        """Return the pose whose keys stand in this mapping."""
        turn = self.vector('rpy_deg', 3)
        return Pose.from_rpy(self.vector('position_m', 3), turn)

    def finish(self, optional: Iterable[str] = ()) -> None:
        """Refuse keys that were never read and are not among `optional`."""
        for key in self._content:
            if key not in self._read and key not in optional:
                expected = expected_name(key, {*self._read, *optional})
                raise ConfigurationError(self.path(key), self._content[key], expected)

    @staticmethod
    def _row(value: object, path: str, size: int, key: str) -> Array:
        expected = f'{size} finite numbers'
        if not isinstance(value, list) or len(value) != size:
            raise ConfigurationError(path, value, expected)
        numbers = [_number(item, path, expected) for item in value]
        return np.array(numbers) * scale_of(key)


def _number(value: object, path: str, expected: str) -> float:
    """Return a finite number; YAML's booleans and texts are none."""
    if isinstance(value, str):
        expected += ' (YAML reads 1e-3 as a text, 1.0e-3 as a number)'
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigurationError(path, value, expected)
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigurationError(path, value, expected)
    # A whole number may be too large for a float, and even for its own digits.
    if abs(value) > LARGEST:
        raise ConfigurationError(path, value, f'{expected}, at most {LARGEST:g}')
    return float(value)


def scale_of(key: str) -> float:
    """Return the factor to SI and radians of the unit that a key ends in."""
    return SCALES[key.rsplit('_', 1)[-1]]
