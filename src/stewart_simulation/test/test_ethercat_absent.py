# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives that lack an object of their profile."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

from stewart_simulation.ethercat.frames import Command, Datagram
from stewart_simulation.ethercat.object_dictionary import RECEIVE, TRANSMIT

Build = Callable[..., Any]


def test_a_drive_without_any_one_of_its_objects_answers(build: Build) -> None:
    """10F1h, 1C32h and 1C33h ended the rig, and so did every mapped object."""
    indices, escaped = sorted(build(1).segment.slaves[0].dictionary.objects), {}
    for index in indices:
        bench = build(1, absent=frozenset({index}), sync_error_limit=4)
        slave = bench.segment.slaves[0]
        try:
            bench.preop()
            outputs, inputs = (slave._process_data.layout(way).size for way in (RECEIVE, TRANSMIT))
            bench.sizes = outputs, inputs
            bench.program_process_data(1)
            bench.start_sync0(1)
            assert bench.request(1, 0x04) == (0x04, 0)
            bench.send(Datagram(Command.BWR, 0, 0x0120, b'\x08\x00'))
            for word in (0, 0x06, 0x07, 0x0F):
                for _ in range(20):
                    bench.exchange(struct.pack('<H', word).ljust(outputs, b'\0'))
            assert bench.al(1) == (0x08, 0)
            bench.wait(0.01)
        except Exception as error:
            escaped[f'{index:04X}'] = repr(error)

    assert len(indices) > 50
    assert escaped == {}


def test_a_drive_without_10f1_counts_as_its_type_does(build: Build) -> None:
    for limit, state in ((0, 0x08), (4, 0x14)):
        bench = build(1, sync_error_limit=limit, absent=frozenset({0x10F1})).op()
        bench.now[0] += 4_000_000
        bench.segment.tick()
        assert bench.al(1)[0] == state
