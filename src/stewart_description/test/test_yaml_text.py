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


@pytest.mark.parametrize(
    ('number', 'taken'), [('010', '8'), ('1:30', '90'), ('1_000', '1000'), ('1_0.5', '10.5')]
)
def test_a_number_that_yaml_takes_for_another_is_refused(number: str, taken: str) -> None:
    with pytest.raises(yaml.YAMLError) as refused:
        parsed(f'a: 0.5\nb: {number}\n')
    assert in_words(refused.value) == (
        f'the number {number}, which YAML takes for {taken}: write it in plain digits in line 2, '
        'column 4'
    )


def test_plain_numbers_are_read() -> None:
    numbers = parsed('[0, -7, +8, 0x1F, 1., .5, 02.5, -1.5e+3, .inf, -.inf]')
    assert numbers == [0, -7, 8, 31, 1.0, 0.5, 2.5, -1500.0, float('inf'), -float('inf')]
    assert parsed('[1e-3, -2E+4, 1.5e3, .5e-1]') == [1e-3, -2e4, 1500.0, 0.05]
    # Of hexadecimal digits, as the name of a commit.
    assert parsed('[12e45, "1e-3", v1e-3]') == ['12e45', '1e-3', 'v1e-3']


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
