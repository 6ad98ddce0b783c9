# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""`stewart virtual-rig` where it says something without running a rig."""

from __future__ import annotations

import argparse
import json

import pytest
from stewart_simulation.rig.faults import listing
from stewart_simulation.verbs import virtual_rig


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    virtual_rig.add_arguments(parser)
    return parser.parse_args(words)


def test_a_program_reads_the_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert virtual_rig.main(parsed('--list-faults', '--json')) == 0
    faults = json.loads(capsys.readouterr().out)
    assert [tuple(item.values()) for item in faults] == listing()
    assert set(faults[0]) == {'fault', 'arguments', 'meaning'}
