# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The analogue card, from both of its sides, and the sockets of the virtual rig."""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
from random import Random
import struct
from typing import Any

from mutations import VALUES
import numpy as np
from parsers import Parse, Parser
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.options import DaqOptions
from stewart_driver.errors import StewartError
from stewart_driver.legs import LEGS
from stewart_simulation.control import ControlServer
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.daq_card.wire import (
    Answer,
    BITS,
    GTOD,
    InlineWire,
    Instruction,
    Operation,
    READ,
    Request,
    WRITE,
)
from stewart_simulation.ethercat.faults import Faults
from wires import bench, Recorder

CALLS = 14
"""Of the card that can be falsified, until its amplifiers are on."""


class FalseComedi:
    """The functions of a card, with some of their answers falsified by a case."""

    def __init__(self, library: SimulatedComedi, case: bytes) -> None:
        self._library, self._case, self._calls = library, case, 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._library, name)
        if not callable(found) or not name.startswith('comedi_get') | (
            name == 'comedi_do_insnlist'
        ):
            return found

        def call(*words: Any) -> Any:
            answer, at = found(*words), 5 * self._calls
            self._calls += 1
            piece = self._case[at : at + 5]
            if len(piece) < 5 or not piece[0]:
                return answer
            value = struct.unpack('<i', piece[1:])[0]
            if isinstance(answer, int):
                return value
            if isinstance(answer, str):
                return None if value % 3 == 0 else str(value)
            return None if value % 3 == 0 else answer

        return call


def card(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Cases are five octets for every answer: whether it is falsified, and to what."""
    del place
    options = DaqOptions(
        card='simulated', device='bench', rig_file='none', mode='position', enable_channel=0
    )
    clock = [100.0]

    def parse(data: bytes) -> None:
        simulated = Card(CardSettings(), lambda: 1.8e9 + clock[0])

        def wait(duration: float) -> None:
            clock[0] += duration

        library = FalseComedi(
            SimulatedComedi(lambda _: InlineWire(simulated, lambda: None), wait), data
        )
        opened = AnalogCard(
            library, options, drives=True, clock=lambda: clock[0], wall=lambda: 1.8e9 + clock[0]
        )
        try:
            opened.inputs.volts(opened.read())
            opened.write(opened.outputs.codes(np.zeros(LEGS)))
            opened.switch(on=True)
        finally:
            opened.close()

    return [bytes(5 * CALLS)], parse


def one_answer(random: Random, samples: Sequence[bytes]) -> bytes:
    """Falsify the answer of one call, so that those before it let it come to that."""
    del samples
    value = random.choice((-1, 0, 1, 3, 2**31 - 1, random.randrange(-9, 99)))
    return bytes(5 * random.randrange(CALLS)) + struct.pack('<?i', True, value)


def control(place: Path) -> tuple[Sequence[bytes], Parse]:
    """The socket through which faults are asked for."""
    _, line, _ = bench(Recorder)
    server = ControlServer(place / 'control', Faults(line.segment, line))
    names = Faults(line.segment, line).names
    samples = [json.dumps({'fault': name, 'slave': 1, 'count': 1}).encode() for name in names]

    def parse(data: bytes) -> None:
        json.loads(server.answer(data))

    return [b'{"fault": "observe"}', *samples], parse


def card_calls(place: Path) -> tuple[Sequence[bytes], Parse]:
    """The socket through which a program in another process reaches the card."""
    del place
    steps = (
        Instruction(GTOD, 0, 0, (0, 0)),
        Instruction(READ, 0, 0x20001, (0,)),
        Instruction(WRITE, 1, 2, (4095,)),
        Instruction(BITS, 3, 0, (1, 1)),
    )
    samples = [
        Request(Operation.RUN, 7, 0, steps).encode(),
        *(Request(kind, 8, 1).encode() for kind in (Operation.LOCK, Operation.UNLOCK)),
    ]

    def parse(data: bytes) -> None:
        Answer.decode(Card(CardSettings(), lambda: 1.8e9).handle(data, 'fuzz'))

    return samples, parse


def json_calls(random: Random, samples: Sequence[bytes]) -> bytes:
    """Put any value into a JSON document, or nest it."""
    content = {'': json.loads(random.choice(samples))}
    holder: Any = content
    while True:
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not (isinstance(holder[key], dict | list) and holder[key]) or random.random() < 0.1:
            break
        holder = holder[key]
    if random.random() < 0.05:
        return b'[' * random.choice((500, 960, 990, 60_000))
    holder[key] = random.choice((*VALUES, random.randrange(-9, 9), 1 << random.randrange(99)))
    return json.dumps(content['']).encode()


SOCKETS: dict[str, Parser] = {
    'comedi answers': Parser(card, (StewartError,), one_answer),
    'control socket': Parser(control, (), json_calls),
    'card socket': Parser(card_calls, (), json_calls),
}
