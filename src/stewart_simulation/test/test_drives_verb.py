# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart drives`` on the drives of a virtual rig: real frames, in a network of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
from typing import Any

import pytest

pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

from ethercat_rig import SegmentRig
from stewart_driver.errors import ConfigurationError, TransportError
from stewart_driver.verbs import drives
from typed_words import typed


@pytest.fixture(scope='module')
def rig() -> Iterator[Any]:
    segment = SegmentRig()
    yield segment
    segment.close()


@pytest.fixture
def enter(rig: Any, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Enter a command; return its exit code and what it prints."""

    def run(words: str) -> tuple[int, str]:
        wire = ['--rig-file', rig.file, '--namespace', rig.namespace]
        code = typed(drives, *words.split(), *wire)
        return code, capsys.readouterr().out

    return run


def test_a_scan_has_a_line_for_every_drive(enter: Callable[..., tuple[int, str]]) -> None:
    code, said = enter('scan')
    lines = said.splitlines()
    assert (code, len(lines)) == (0, 6)
    assert lines[2].startswith('3: R88D-1SN04H-ECT; vendor 0x83, product 0xB0')
    assert 'SWITCH_ON_DISABLED' in lines[2]

    found = json.loads(enter('scan --json')[1])
    assert [item['place'] for item in found] == [1, 2, 3, 4, 5, 6]


def test_an_object_is_read_written_and_read_back(enter: Callable[..., tuple[int, str]]) -> None:
    assert enter('sdo read 6 1008:0 text') == (0, 'R88D-1SN04H-ECT\n')
    before = enter('sdo read 5 607D:2 i32')[1].strip()
    assert enter('sdo write 5 607D:2 i32 0x1234') == (0, f'{before} -> 4660\n')
    assert enter('sdo read 5 607D:2 i32') == (0, '4660\n')


def test_what_cannot_be_done_is_one_sentence(enter: Callable[..., tuple[int, str]]) -> None:
    with pytest.raises(TransportError, match=r'place 1 .* refuses object 5FFF'):
        enter('sdo read 1 5FFF:0 u8')
    with pytest.raises(ConfigurationError, match='such as 607D:2'):
        enter('sdo read 1 60x u8')
    with pytest.raises(
        ConfigurationError, match=r'\(--interface\), or a .* \(--rig-file\) .* there are .*lo'
    ):
        typed(drives, 'scan')
