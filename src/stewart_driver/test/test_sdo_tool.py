# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The tool that asks slaves beside no driver, where their mailboxes take their time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import subprocess
from typing import Any

import pytest
from stewart_driver.errors import TransportError
from stewart_driver.ethercat import sdo_tool
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.rig_file import DriveIdentity
from stewart_driver.verbs import drives
from typed_words import typed

OPTIONS = EthercatOptions(interface='eth1')


def test_slaves_that_do_not_answer_in_time_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(command: list[str], *, timeout: float, **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(sdo_tool.subprocess, 'run', run)
    with pytest.raises(TransportError, match='have not answered within 60 s: a mailbox is dead'):
        sdo_tool.scan(OPTIONS)


class Mute:
    """A slave with nothing to say."""

    leg, name = 1, 'KW-1'

    def read(self, index: int, subindex: int) -> bytes:
        raise SdoRefused(self.leg, index, subindex, 'no answer')

    def write(self, index: int, subindex: int, data: bytes) -> None: ...

    def identity(self) -> DriveIdentity:
        return DriveIdentity(2, 1, 0, None)


class SixMute:
    """Six of them, on a wire that counts how many calls are made side by side."""

    def __init__(self) -> None:
        self.beside: list[int] = []

    def scan(self, count: int | None) -> list[Mute]:
        return [Mute()] * 6

    def each(self, ask: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        self.beside.append(len(arguments[0]))
        return [ask(*row) for row in zip(*arguments, strict=True)]


def test_all_slaves_are_scanned_side_by_side() -> None:
    """One dead mailbox takes 9 s."""
    wire: Any = SixMute()
    found = sdo_tool.ANSWERS['scan'](OPTIONS, wire)
    assert [(item['place'], item['state'], item['modes']) for item in found] == [
        (place, '', None) for place in range(1, 7)
    ]
    assert wire.beside == [6]


class Storing(Mute):
    """It stores by a signature, has an object that nobody can read, and one that stays."""

    def __init__(self) -> None:
        self.objects = {0x1010: b'\1\0\0\0', 0x6065: bytes(4), 0x605A: b'\2\0'}
        self.written: list[tuple[int, str]] = []

    def read(self, index: int, subindex: int) -> bytes:
        if index == 0x2FFF:
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06010001, write only')
        return self.objects[index]

    def write(self, index: int, subindex: int, data: bytes) -> None:
        self.written.append((index, data.hex()))
        if index == 0x6065:
            self.objects[index] = data


@pytest.mark.parametrize(
    ('words', 'code', 'said'),
    [
        ('write 1 1010:1 u32 0x65766173', 0, '0x65766173 is taken, and cannot be read back\n'),
        ('write 1 2FFF:0 u16 5', 0, '5 is taken, and cannot be read back\n'),
        ('write 1 6065:0 u32 7', 0, '0 -> 7\n'),
        ('write 1 605A:0 u16 6', 1, '2 -> 2\n'),
        ('read 1 6065:0 u32', 0, '0\n'),
    ],
)
def test_what_cannot_be_read_back_is_written_all_the_same(
    words: str,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A store by 1010h was called a failure, and a write-only object was not written at all."""
    slave = Storing()
    wire: Any = SixMute()
    monkeypatch.setattr(wire, 'scan', lambda _count: [slave])
    monkeypatch.setattr(
        sdo_tool, '_ask', lambda options, what, *rest: sdo_tool.ANSWERS[what](options, wire, *rest)
    )

    assert typed(drives, 'sdo', *words.split(), '--interface', 'eth1') == code
    assert capsys.readouterr().out == said
    assert len(slave.written) == words.startswith('write')
    with pytest.raises(TransportError, match='2FFFh:0 can only be written'):
        typed(drives, 'sdo', 'read', '1', '2FFF:0', 'u16', '--interface', 'eth1')


def test_a_subindex_is_hexadecimal_as_in_manuals() -> None:
    """Read as decimal, 1A00:10 was another object than the manual means, and 0A was refused."""
    assert sdo_tool.parse_address('1A00:0A') == (0x1A00, 10)
    assert sdo_tool.parse_address('1A00h:10h') == (0x1A00, 16)
    assert str(SdoRefused(1, 0x1A00, 16, 'no answer')).endswith('object 1A00h:10: no answer')
