# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import pytest
from stewart_description.yaml_text import DEEPEST, ERRORS, in_words, MOST_MERGED, parsed
import yaml

SOURCES = Path(__file__).parents[2]


def test_every_file_of_the_suite_is_what_pyyaml_makes_of_it() -> None:
    files = sorted(SOURCES.glob('*/*/**/*.yaml'))
    assert {'vigo', 'rig_vigo', 'omron_1s'} <= {file.stem for file in files}
    for file in files:
        text = file.read_text(encoding='utf-8')
        assert repr(parsed(text)) == repr(yaml.safe_load(text))


def test_a_key_given_twice_is_refused_where_it_comes_again() -> None:
    with pytest.raises(yaml.YAMLError) as refused:
        parsed('a: {b: 1, c: 2}\nd:\n  e: 1\n  e: 2\n')
    assert in_words(refused.value) == 'the key e more than once, again in line 4, column 3'


def test_a_merged_mapping_may_be_overridden() -> None:
    assert parsed('x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n')['y'] == {'a': 1, 'b': 3}


def test_merging_that_grows_with_every_level_is_refused() -> None:
    levels = [f'a{n}: &a{n}\n  <<: [{", ".join([f"*a{n - 1}"] * 10)}]' for n in range(1, 11)]
    with pytest.raises(yaml.YAMLError, match=f'more than {MOST_MERGED} merged keys'):
        parsed('\n'.join(['a0: &a0 {b: 1}', *levels]))
    assert parsed('\n'.join(['a0: &a0 {b: 1}', *levels[:3]]))['a3'] == {'b': 1}


@pytest.mark.parametrize('text', ['[' * 100_000, '- ' * 100_000, '{a: ' * 100_000])
def test_endless_nesting_is_refused_by_its_depth(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match=f'more than {DEEPEST} levels'):
        parsed(text)


@pytest.mark.parametrize(
    'text',
    ['a: !!int ""', 'a: 2026-13-45', '"\ud800"', '{[1]: 2}', '\0', '&a [*b]'],
)
def test_what_it_cannot_be_ends_in_an_error_that_readers_know(text: str) -> None:
    with pytest.raises(ERRORS) as refused:
        parsed(text)
    assert in_words(refused.value)
