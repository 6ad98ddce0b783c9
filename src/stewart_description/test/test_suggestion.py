# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A misspelt name is answered with the one that is meant, or with what there is."""

from __future__ import annotations

from stewart_description.suggestion import expected_name, similar


def test_misspelt_name_is_answered_with_the_likeliest_one() -> None:
    known = ('limit_scale', 'speed_scale', 'platform')
    assert expected_name('limit_scal', known) == 'a key that exists (did you mean limit_scale?)'
    assert expected_name('drivr', ['driver', 'imu'], 'node') == (
        'a node that exists (did you mean driver?)'
    )


def test_name_like_nothing_is_answered_with_the_list() -> None:
    assert expected_name('zzz', ('b', 'a')) == 'a key that exists (a, b)'
    assert expected_name('zzz', ()) == 'a key that exists (none)'
    assert expected_name('zzz', [f'name_{i}' for i in range(40)]).endswith(', …)')
    assert similar('zzz', ('a', 'b')) == ''
