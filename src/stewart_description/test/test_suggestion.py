# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A misspelt name is answered with the one that is meant, or with what there is."""

from __future__ import annotations

from stewart_description.suggestion import similar, unknown_name


def test_misspelt_name_is_answered_with_the_likeliest_one() -> None:
    known = ('limit_scale', 'speed_scale', 'platform')
    assert unknown_name('limit_scal', known) == 'no such key; did you mean limit_scale?'
    assert unknown_name('drivr', ['driver', 'imu'], 'node') == 'no such node; did you mean driver?'


def test_name_like_nothing_is_answered_with_the_list() -> None:
    assert unknown_name('zzz', ('b', 'a')) == 'no such key; known are a, b'
    assert unknown_name('zzz', ()) == 'no such key; known are none'
    assert unknown_name('zzz', [f'name_{i}' for i in range(40)]).endswith(', …')
    assert similar('zzz', ('a', 'b')) == ''
