# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""`stewart virtual-rig` where it says something without running a rig."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stewart_driver.errors import ConfigurationError
from stewart_simulation.control import FaultTable, Script
from stewart_simulation.errors import FaultError
from stewart_simulation.rig.faults import listing
from stewart_simulation.verbs import virtual_rig
from typed_words import typed


def test_a_program_reads_the_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(virtual_rig, '--list-faults', '--json') == 0
    faults = json.loads(capsys.readouterr().out)
    assert [tuple(item.values()) for item in faults] == listing()
    assert set(faults[0]) == {'fault', 'arguments', 'meaning'}


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (('--inject', 'ethercat.cut', '{bad'), r'--inject: .* one JSON object, got .*\{bad'),
        (('--inject', 'ethercat.cut', '[1]'), r'--inject: .* one JSON object, got .*\[1\]'),
        (('--directory', __file__), r'--directory: expected a folder.*, got .*virtual_rig_verb'),
    ],
)
def test_what_cannot_be_used_is_named(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        typed(virtual_rig, *words)


def test_a_script_of_something_else_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / 'wave.csv'
    path.write_text('time_s,x_m\n')
    with pytest.raises(FaultError, match=r'wave\.csv, line 1.*"at": seconds.*got .time_s,x_m'):
        Script(path, FaultTable())
