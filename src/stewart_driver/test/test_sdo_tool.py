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

    def each(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        self.beside.append(len(calls))
        return [call() for call in calls]


def test_all_slaves_are_scanned_side_by_side() -> None:
    """One dead mailbox takes 9 s."""
    wire: Any = SixMute()
    found = sdo_tool.ANSWERS['scan'](OPTIONS, wire)
    assert [(item['place'], item['state'], item['modes']) for item in found] == [
        (place, '', None) for place in range(1, 7)
    ]
    assert wire.beside == [6]
