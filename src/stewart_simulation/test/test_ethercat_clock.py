# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributed clocks: port times, delays, offsets, drift, SYNC0 (ETG.1000.4)."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

import pytest
from stewart_simulation.ethercat.frames import Command, Datagram

Build = Callable[..., Any]

HOP = 640


def latch(bench: Any) -> list[tuple[int, int]]:
    bench.send(Datagram(Command.BWR, 0, 0x0900, bytes(4)))
    return [(bench.read(n, 0x0900, 4), bench.read(n, 0x0904, 4)) for n in bench.numbers]


def synchronise(bench: Any) -> None:
    """Do what a master does once: offsets to the first clock, delays from the port times."""
    times = latch(bench)
    trips = [back - out if back else 0 for out, back in times]
    units = [bench.read(n, 0x0918, 8) for n in bench.numbers]
    for number, (trip, unit) in enumerate(zip(trips, units, strict=True), start=1):
        delay = (trips[0] - trip) // 2
        offset = (units[0] - unit + delay) & (1 << 64) - 1
        bench.write(number, 0x0920, struct.pack('<Q', offset))
        bench.write(number, 0x0928, struct.pack('<I', delay))


def differences(bench: Any) -> list[int]:
    """Read 092Ch as signed numbers."""
    words = [bench.read(n, 0x092C, 4) for n in bench.numbers]
    return [-(word & 0x7FFFFFFF) if word >> 31 else word for word in words]


def distribute(bench: Any, count: int) -> None:
    for _ in range(count):
        bench.now[0] += 980_000
        bench.send(Datagram(Command.FRMW, 0x1001, 0x0910, bytes(8)))


def test_the_port_times_measure_the_cable(build: Build) -> None:
    """Clocks within 20 ppm: the trip from a slave to the end of the cable and back."""
    bench = build(4)
    bench.address()
    times = latch(bench)

    trips = [(back - out) & 0xFFFFFFFF for out, back in times[:-1]]
    assert trips == pytest.approx([6 * HOP, 4 * HOP, 2 * HOP], abs=1)
    assert times[-1][1] == 0


def test_clocks_start_at_different_times_and_speeds(build: Build) -> None:
    bench = build(3)
    bench.address()
    synchronise(bench)
    bench.wait(1.0)
    bench.send(Datagram(Command.FRMW, 0x1001, 0x0910, bytes(8)))

    assert differences(bench)[1:] == pytest.approx([12_000, -18_000], abs=200)


def test_distributing_the_time_pulls_every_clock_to_the_reference(build: Build) -> None:
    bench = build(6)
    bench.address()
    synchronise(bench)
    bench.wait(0.5)
    distribute(bench, 600)

    assert differences(bench)[0] == 0
    assert max(map(abs, differences(bench))) <= 20


def test_a_drift_that_changes_is_followed(build: Build) -> None:
    bench = build(2)
    bench.address()
    synchronise(bench)
    distribute(bench, 300)
    bench.segment.slaves[1].clock.drift = 300e-6
    distribute(bench, 3)
    assert abs(differences(bench)[1]) > 200
    distribute(bench, 600)
    assert abs(differences(bench)[1]) <= 20


def test_a_large_offset_is_not_stepped_but_slewed(build: Build) -> None:
    """Not faster than 763 ppm: 10 ms need more than ten seconds."""
    bench = build(2)
    bench.address()
    synchronise(bench)
    offset = bench.read(2, 0x0920, 8) + 10_000_000
    bench.write(2, 0x0920, struct.pack('<Q', offset))
    distribute(bench, 1000)

    assert 9_000_000 < differences(bench)[1] < 9_400_000


def test_writing_the_speed_counter_forgets_the_correction(build: Build) -> None:
    bench = build(2)
    bench.address()
    synchronise(bench)
    distribute(bench, 300)
    bench.send(Datagram(Command.BWR, 0, 0x0930, b'\x00\x10'))
    assert differences(bench) == [0, 0]
    bench.wait(1.0)
    bench.send(Datagram(Command.FRMW, 0x1001, 0x0910, bytes(8)))

    assert differences(bench)[1] == pytest.approx(12_000, abs=200)


def test_the_system_time_is_local_time_plus_offset(build: Build) -> None:
    bench = build(1)
    bench.address()
    bench.write(1, 0x0920, struct.pack('<Q', 10**18))

    before, after = bench.read(1, 0x0910, 8), bench.read(1, 0x0910, 8)

    assert before > 10**18
    assert after - before == 20_000


@pytest.mark.parametrize('activation', [0x03, 0x07])
def test_sync0_runs_from_its_start_time_on(build: Build, activation: int) -> None:
    bench = build(1)
    bench.address()
    bench.start_sync0(1, ahead=5_000_000)
    bench.write(1, 0x0981, bytes([activation]))
    clock = bench.segment.slaves[0].clock

    assert clock.sync0_active
    assert not clock.sync0_running
    bench.wait(0.01)
    assert clock.sync0_running
    bench.write(1, 0x0981, b'\x00')
    assert not clock.sync0_running


def test_times_of_32_bits_begin_anew_and_sync0_goes_on(build: Build) -> None:
    bench = build(1, clock_bits=32)
    bench.address()
    assert bench.read(1, 0x0008, 2) == 0x0004
    clock = bench.segment.slaves[0].clock
    # 3 ms before they begin anew; what a master writes above 32 bits is not there.
    latch(bench)
    offset = (2**32 - 3_000_000 - bench.read(1, 0x0918, 8)) % 2**32 | 7 << 32
    bench.write(1, 0x0920, struct.pack('<Q', offset))
    bench.start_sync0(1, ahead=5_000_000)
    bench.write(1, 0x0981, b'\x03')

    assert 2**32 - 3_000_000 < bench.read(1, 0x0910, 8) < 2**32
    assert clock.sync0_active
    assert not clock.sync0_running
    bench.wait(0.01)
    assert 0 < bench.read(1, 0x0910, 8) < 10_000_000
    assert clock.sync0_running
