# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated card behind its socket: reached, left by the dead, and too late."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import select
import socket
import threading

import numpy as np
import pytest
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.options import DaqOptions, SensorOptions
from stewart_driver.errors import CardError
from stewart_simulation.daq_card import library as comedi
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.daq_card.wire import Answer, CardServer
from stewart_simulation.daq_card.wire import InlineWire as Wire

QUIET = CardSettings(noise_codes=0.0)
VOLTS = np.array([-9.5, -4.0, -0.1, 0.3, 5.0, 9.9])


class Served:
    """A card that a thread serves; each read finds one volt more at every input than the last.

    Attributes:
        path: Its socket.
        advanced: How often the world was brought up to now.
        free: While it is cleared, the card answers nobody.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.advanced, self.free = path, 0, threading.Event()
        self.free.set()
        self._card = Card(QUIET)
        self._server = CardServer(path, self._card, self._advance)
        self._end, self._ended = socket.socketpair()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _advance(self) -> None:
        assert self.free.wait(60.0)
        self.advanced += 1
        self._card.inputs(np.full(6, float(self.advanced)))

    def _serve(self) -> None:
        server = self._server
        while True:
            waiting = [server.listener, self._ended, *server.clients]
            readable, _, _ = select.select(waiting, [], [])
            if self._ended in readable:
                return
            for item in readable:
                if item is server.listener:
                    server.accept()
                else:
                    server.serve(item)

    def close(self) -> None:
        self._end.close()
        self._thread.join(60.0)
        assert not self._thread.is_alive()
        self._server.close()
        self._ended.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    card = Served(tmp_path / 'card.sock')
    yield card
    card.close()
    assert not card.path.exists()


def opened(device: Path, *, drives: bool = False) -> AnalogCard:
    return AnalogCard(
        SimulatedComedi(),
        DaqOptions(device=str(device), longest_call=1.0),
        drives=drives,
        clock=lambda: 0.0,
    )


def test_card_is_reached_over_its_socket_and_gone_when_nobody_listens(
    served: Served, tmp_path: Path
) -> None:
    reader = opened(served.path)
    before = served.advanced

    assert reader.inputs.volts(reader.read()) == pytest.approx(before + 1.0, abs=1e-3)
    assert served.advanced == before + 1
    reader.close()
    with pytest.raises(CardError, match='cannot be opened: No such file or directory'):
        opened(tmp_path / 'absent')


def test_lock_of_a_program_that_died_does_not_keep_the_next_one_out(served: Served) -> None:
    for _ in range(50):
        analog = opened(served.path, drives=True)
        # As the kernel does it for a killed process: nothing is said, the socket is closed.
        assert analog._device is not None
        analog._device.wire.close()


def test_answer_after_the_longest_call_is_dropped_and_the_next_call_gets_its_own(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comedi, 'PATIENCE', 0.1)
    analog = opened(served.path, drives=True)
    before = served.advanced

    served.free.clear()
    for _ in range(2):
        with pytest.raises(CardError, match='reading six inputs failed: Connection timed out'):
            analog.read()
    monkeypatch.undo()
    analog._device.wire.connection.settimeout(60.0)
    served.free.set()

    # Both late answers, before + 1 and before + 2 volts, are on the line before this one.
    assert analog.inputs.volts(analog.read()) == pytest.approx(before + 3.0, abs=1e-3)
    # This one has other data than the late ones had.
    analog.write(analog.outputs.codes(VOLTS))
    assert analog.inputs.volts(analog.read()) == pytest.approx(before + 5.0, abs=1e-3)
    analog.close()


def test_answers_to_nobody_are_not_taken_for_the_next() -> None:
    card = Card(QUIET)
    card.inputs(VOLTS)
    wire = Wire(card)
    library = SimulatedComedi(lambda _: wire, lambda _: None)
    analog = AnalogCard(
        library, SensorOptions(device='bench', longest_call=1.0), drives=False, clock=lambda: 0.0
    )
    wire.answers.append(Answer(0, 8, 0.0, ((1, 1), *((1,),) * 6, (1, 1))))

    assert analog.inputs.volts(analog.read()) == pytest.approx(VOLTS, abs=1e-3)
