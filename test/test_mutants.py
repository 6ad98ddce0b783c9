# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mutants are one small mistake each, and what excuses a survivor is still in the source."""

from __future__ import annotations

from pathlib import Path
import runpy
import sys
from types import CodeType
from typing import Any

import pytest
import yaml

MUTATION = Path(__file__).parents[1] / 'mutation'
SOURCE = '''
from enum import Enum

class Kind(Enum):
    ONE = 1

def clipped(value: int | None, most: float = 2.0) -> float:
    """Clip."""
    assert value is not None
    if not value < most:
        raise ValueError(f'{value} + {most}')
    return min(value + 1, most)
'''


@pytest.fixture
def mutants(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, 'path', [str(MUTATION), *sys.path])
    return runpy.run_path(str(MUTATION / 'mutants.py'))['mutants']


def test_each_mutant_has_one_mistake(mutants) -> None:
    found = list(mutants(SOURCE, 'clipped.py'))
    assert len(found) == 8
    assert {item.text: called(item.code) for item in found} == {
        '2.0 → 3.0': 2,
        'not value < most → value < most': 'refused',
        'value < most → value <= most': 2,
        'value < most → value >= most': 'refused',
        "raise ValueError(f'{value} + {most}') → pass": 2,
        'min → max': 2.0,
        'value + 1 → value - 1': 0,
        '1 → 2': 2.0,
    }


def called(code: CodeType) -> object:
    names: dict[str, Any] = {}
    exec(code, names)
    try:
        return names['clipped'](1)
    except ValueError:
        return 'refused'


def test_what_excuses_a_survivor_is_in_the_source() -> None:
    for known in yaml.safe_load((MUTATION / 'reasons.yaml').read_text(encoding='utf-8')):
        parts = known['module'].replace('.', '/')
        (path,) = MUTATION.parent.glob(f'src/stewart_*/stewart_*/{parts}.py')
        lines = [line.strip() for line in path.read_text(encoding='utf-8').splitlines()]
        assert known['source'] in lines, f'{known["module"]}: {known["source"]}'
