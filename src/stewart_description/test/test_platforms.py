# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every number of a stored platform says where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
import re
from typing import Any

import pytest
from stewart_description import platform_names, platform_path
import yaml

PAPER = re.compile(
    r'Machines 20\d\d, \d+, \d+|Nichifor and Stroe|Miletovic et al\. 2017'
    r'|lccasagrande/Automatic-StewartPlatform, |aitorplaza/lib_3d_mec_ginac, '
)


def load(name: str) -> dict[str, Any]:
    """Return the content of a stored file."""
    content = yaml.safe_load(platform_path(name).read_text())
    assert isinstance(content, dict)
    return content


def number_paths(value: object, path: str = '') -> Iterator[str]:
    """Yield the key path of every number, lists of numbers counting once."""
    if isinstance(value, dict):
        for key, item in value.items():
            if (path, key) != ('', 'sources'):
                yield from number_paths(item, f'{path}.{key}' if path else key)
    elif not isinstance(value, str):
        yield path


def covers(key: str, path: str) -> bool:
    """Tell whether a source speaks of the number at a path."""
    return path == key or path.startswith(f'{key}.')


def test_the_platforms_are_there() -> None:
    known = ['ex800', 'hexaglide_3d_mec', 'ps6tl_1500', 'sg90_rotary', 'srs', 'vigo']
    assert platform_names() == known


@pytest.mark.parametrize('name', platform_names())
def test_every_number_has_a_source(name: str) -> None:
    content = load(name)
    bare = [
        path
        for path in number_paths(content)
        if not any(covers(key, path) for key in content['sources'])
    ]

    assert not bare


@pytest.mark.parametrize('name', platform_names())
def test_every_source_speaks_of_a_number(name: str) -> None:
    content = load(name)
    paths = list(number_paths(content))
    idle = [key for key in content['sources'] if not any(covers(key, path) for path in paths)]

    assert not idle


@pytest.mark.parametrize('name', platform_names())
def test_source_is_a_paper_a_standard_a_reason_or_an_assumption(name: str) -> None:
    """What is invented says so at its beginning, so that a search finds all of it."""
    for key, source in load(name)['sources'].items():
        known = source.startswith(('assumption: ', 'standard ', 'without effect: ', 'leg i joins'))
        assert known != bool(PAPER.match(source)), f'{name}: {key}: {source}'


@pytest.mark.parametrize('name', platform_names())
def test_unit_of_every_number_is_in_its_key(name: str) -> None:
    """Exempt are the pairing and the condition number, which have none."""
    units = (
        '_m',
        '_mps',
        '_mps2',
        '_mps3',
        '_deg',
        '_radps',
        '_radps2',
        '_radps3',
        '_kg',
        '_direction',
    )
    for path in number_paths(load(name)):
        if path not in {'pairing', 'limits.condition_number'}:
            assert path.endswith((*units, '_kgm2')), path
