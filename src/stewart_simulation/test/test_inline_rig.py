# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A card and its plant in this process, against the same card behind its socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import socket

from card_bench import teaching_rig
import numpy as np
import pytest
from stewart_driver.backend import Measurement
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.card_type import CardAccess
from stewart_driver.daq.options import DaqOptions
from stewart_driver.errors import CardError, ConfigurationError
from stewart_driver.path.motion import LegMotion
from stewart_driver.rig_file import save_rig
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.daq_card.wire import CardServer, Request, SocketWire
from stewart_simulation.loop import unix_connection
from stewart_simulation.rig.inline_rig import DAY, InlineRig
from stewart_simulation.rig.parts import Clocks
from stewart_simulation.rig.process import Wires
from stewart_simulation.rig.settings import RigSettings

pytestmark = pytest.mark.installed

PERIOD = 5_000_000
SETTINGS = teaching_rig(card_late_share=0.0)


class Clock:
    """Simulated time [ns]."""

    def __init__(self) -> None:
        self.now = 1_000_000_000

    def __call__(self) -> int:
        return self.now

    def seconds(self) -> float:
        return self.now / 1e9


class Client(SocketWire):
    """The socket of a card whose server runs in this thread, too."""

    def __init__(self, server: CardServer, path: str) -> None:
        self._server = server
        super().__init__(unix_connection(Path(path), socket.SOCK_SEQPACKET, 1.0))
        self._descriptor = server.accept()

    def ask(self, request: Request) -> None:
        super().ask(request)
        assert self._server.serve(self._descriptor)


@contextmanager
def inline(
    clock: Clock, settings: RigSettings = SETTINGS
) -> Iterator[tuple[InlineRig, DaqBackend]]:
    rig = InlineRig(settings, clock)
    try:
        yield rig, DaqBackend(options(rig.card, rig.rig_file))
    finally:
        rig.end()


@contextmanager
def behind_a_socket(clock: Clock, folder: Path) -> Iterator[DaqBackend]:
    clocks = Clocks(clock, clock.seconds)
    wires = Wires(SETTINGS, folder, clocks=clocks)
    try:
        path = folder / 'rig.yaml'
        save_rig(path, wires.sheet(DAY))
        assert wires.card is not None
        server = wires.card
        library = SimulatedComedi(lambda name: Client(server, name))
        access = CardAccess(library, clock.seconds, clock.seconds)
        yield DaqBackend(options(str(folder / 'card.sock'), path), access)
    finally:
        wires.close()


def options(device: str, rig_file: Path) -> DaqOptions:
    return DaqOptions(
        card='simulated',
        device=device,
        rig_file=str(rig_file),
        enable_channel=0,
        cycle_time=PERIOD / 1e9,
        lead=0.0333,
    )


def ride(backend: DaqBackend, clock: Clock, count: int = 200) -> list[Measurement]:
    """Enable, then let all legs swing by a few millimetres."""
    backend.open(clock.seconds())
    backend.enable()
    start = None
    measured = []
    for step in range(count):
        clock.now += PERIOD
        since = max(step - 40, 0) * PERIOD / 1e9
        rest = np.full(6, 0.08) if start is None else start
        swing = 5e-3 * np.sin(2.0 * since) ** 2
        rates = np.full(6, 1e-2 * np.sin(4.0 * since))
        measured.append(
            backend.exchange(LegMotion(0.0, rest + swing, rates, np.zeros(6)), clock.seconds())
        )
        start = measured[0].strokes
    backend.close()
    return measured


def test_the_card_behind_its_socket_gives_the_same_bits(tmp_path: Path) -> None:
    clock = Clock()
    with inline(clock) as (_, backend):
        found = ride(backend, clock)
    clock = Clock()
    with behind_a_socket(clock, tmp_path) as backend:
        expected = ride(backend, clock)

    assert found[-1].enabled
    for one, other in zip(found, expected, strict=True):
        assert one.stamp == other.stamp
        assert one.strokes.tobytes() == other.strokes.tobytes()


def test_the_plant_follows_and_two_runs_are_the_same_to_the_bit() -> None:
    runs = []
    for _ in range(2):
        clock = Clock()
        with inline(clock) as (rig, backend):
            runs.append(ride(backend, clock))
            true = rig.mechanics.drives.strokes.copy()
    first, second = runs

    assert [item.strokes.tobytes() for item in first] == [
        item.strokes.tobytes() for item in second
    ]
    assert first[-1].strokes == pytest.approx(true, abs=2e-5)
    assert np.ptp([item.strokes[0] for item in first]) > 3e-3


def test_a_slow_call_takes_simulated_time_and_no_other() -> None:
    clock = Clock()
    with inline(clock) as (rig, backend):
        backend.open(clock.seconds())
        rig.faults.apply('card.slow', seconds=0.2)
        clock.now += PERIOD
        targets = LegMotion(0.0, np.full(6, 0.08), np.zeros(6), np.zeros(6))
        with pytest.raises(CardError, match=r'took 200\.0 ms'):
            backend.exchange(targets, clock.seconds())


def test_a_card_that_was_taken_away_is_not_found() -> None:
    clock = Clock()
    with inline(clock) as (_, backend):
        pass
    with pytest.raises(CardError, match='cannot be opened: No such device'):
        backend.open(clock.seconds())


def test_what_needs_the_wall_clock_is_refused() -> None:
    settings = RigSettings.from_plain({**SETTINGS.plain(), 'script': 'faults.jsonl'})
    with pytest.raises(ConfigurationError, match='script'):
        InlineRig(settings, Clock())


def test_a_mistyped_setting_is_answered_with_the_one_that_is_meant() -> None:
    with pytest.raises(ConfigurationError, match=r'paylod_mass: .*did you mean payload_mass\?'):
        RigSettings.from_plain({'paylod_mass': 3.0})


def test_the_sensor_of_a_rig_is_on_an_inline_port() -> None:
    settings = RigSettings.from_plain({**SETTINGS.plain(), 'imu': True})
    clock = Clock()
    with inline(clock, settings) as (rig, _):
        assert rig.port is not None
        assert rig.sensor is not None
        assert 'imu.unplug' in rig.faults.names
        assert rig.ends['imu'].startswith('inline')
