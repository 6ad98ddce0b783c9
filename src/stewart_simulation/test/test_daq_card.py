# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated APCI-3120: as strict as its kernel driver, as terse as comedilib."""

from __future__ import annotations

from collections.abc import Iterator
import errno
import math
from pathlib import Path
import select
import socket
import threading
from typing import Any

import numpy as np
import pytest
from stewart_driver.daq.card import AnalogCard, Wiring
from stewart_driver.daq.errors import CalibrationError, CardError
from stewart_driver.daq.guided import Guide
from stewart_simulation.daq_card.analog_rig import AnalogRig, AnalogSettings, Mode
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.faults import CardFaults
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.daq_card.server import CardServer
from stewart_simulation.daq_card.wire import Answer, Operation, Request
from stewart_simulation.drives import DriveSettings, LaggingDrives
from stewart_simulation.ethercat.errors import FaultError

VOLTS = np.array([-9.5, -4.0, -0.1, 0.3, 5.0, 9.9])
QUIET = CardSettings(noise_codes=0.0)


class Direct:
    """A wire without a socket that counts the calls."""

    def __init__(self, card: Card) -> None:
        self.card, self.calls = card, 0
        self.answers: list[bytes] = []

    def send(self, data: bytes, /) -> int:
        self.calls += 1
        self.answers.append(self.card.handle(data))
        return len(data)

    def recv(self, size: int, /) -> bytes:
        return self.answers.pop(0)[:size]

    def close(self) -> None:
        self.answers.clear()


@pytest.fixture
def card() -> Card:
    return Card(QUIET)


@pytest.fixture
def wire(card: Card) -> Direct:
    return Direct(card)


@pytest.fixture
def library(wire: Direct) -> SimulatedComedi:
    return SimulatedComedi(lambda _: wire, lambda _: None)


def opened(library: Any, *, drives: bool = True, **wiring: Any) -> AnalogCard:
    return AnalogCard(
        library, Wiring('bench', **wiring), drives=drives, clock=lambda: 0.0, longest_call=1.0
    )


def test_six_inputs_are_converted_by_one_instruction_list(
    card: Card, wire: Direct, library: SimulatedComedi
) -> None:
    card.inputs(VOLTS)
    analog = opened(library, drives=False)
    before = wire.calls

    codes = analog.read()

    assert wire.calls == before + 1
    assert analog.inputs.volts(codes) == pytest.approx(VOLTS, abs=10.0 / 0xFFFF)


class Hurried:
    """A wire that is late both ways, over a clock that stands meanwhile."""

    def __init__(self, ways: tuple[float, float]) -> None:
        self.now, self._ways = 100.0, ways
        self.direct = Direct(Card(QUIET, lambda: 1.8e9 + self.now))

    def send(self, data: bytes, /) -> int:
        self.now += self._ways[0]
        return self.direct.send(data)

    def recv(self, size: int, /) -> bytes:
        self.now += self._ways[1]
        return self.direct.recv(size)

    def close(self) -> None:
        self.direct.close()

    def card(self, ahead: float = 1.8e9) -> AnalogCard:
        return AnalogCard(
            SimulatedComedi(lambda _: self),
            Wiring('bench'),
            drives=False,
            clock=lambda: self.now,
            longest_call=1.0,
            wall=lambda: ahead + self.now,
        )


@pytest.mark.parametrize('ways', [(0.0, 0.0), (0.001, 0.02), (0.02, 0.001)])
def test_stamp_is_when_the_inputs_were_converted_however_late_the_call_is(
    ways: tuple[float, float],
) -> None:
    wire = Hurried(ways)
    analog = wire.card()
    begin = wire.now

    analog.read()

    # Half a millisecond would be 50 µm of a leg at 0.1 m/s, the converter's step is 3 µm.
    assert analog.stamp == pytest.approx(begin + ways[0], abs=2e-6)


@pytest.mark.parametrize(('ahead', 'expected'), [(1.8e9 - 60.0, 100.021), (1.8e9 + 60.0, 100.0)])
def test_stamp_lies_inside_the_call_whatever_the_wall_clock_says(
    ahead: float, expected: float
) -> None:
    wire = Hurried((0.001, 0.02))
    analog = wire.card(ahead)

    analog.read()

    assert analog.stamp == pytest.approx(expected, abs=1e-9)


def test_outputs_have_fourteen_bits_and_hold_what_was_written(
    card: Card, library: SimulatedComedi
) -> None:
    analog = opened(library)

    analog.write(analog.outputs.codes(VOLTS))
    analog.close()

    assert card.outputs == pytest.approx(VOLTS, abs=10.0 / 0x3FFF)
    assert np.abs(card.outputs - VOLTS).max() > 10.0 / 0xFFFF


@pytest.mark.parametrize(('lower', 'upper'), [(-10, 10), (-5, 5), (-1, 1), (0, 10), (0, 2)])
def test_input_saturates_at_the_end_codes_of_every_range(
    card: Card, library: SimulatedComedi, lower: float, upper: float
) -> None:
    analog = opened(library, drives=False, input_range=(float(lower), float(upper)))
    middle = 0.5 * (lower + upper)
    card.inputs([lower - 1, lower, middle, upper, upper + 1, 30.0])

    codes = analog.read()

    assert codes.tolist() == [0, 0, 0x8000, 0xFFFF, 0xFFFF, 0xFFFF]


@pytest.mark.parametrize(
    ('wiring', 'message'),
    [
        ({'input_range': (-3.0, 3.0)}, r'no range -3 to 3 V; it has -10 to 10, -5 to 5, '),
        ({'output_range': (0.0, 10.0)}, r'no range 0 to 10 V; it has -10 to 10 V'),
        ({'input_channels': (0, 1, 2, 3, 4, 16)}, 'analogue inputs 0 to 15, not 16'),
        ({'output_channels': (3, 4, 5, 6, 7, 8)}, 'analogue outputs 0 to 7, not 8'),
        ({'enable_channel': 4}, 'digital outputs 0 to 3, not 4'),
        ({'driver': 'ni_pcimio'}, "driver is 'addi_apci_3120', expected 'ni_pcimio'"),
    ],
)
def test_card_that_does_not_fit_the_wiring_is_refused_with_what_it_has(
    library: SimulatedComedi, wiring: dict[str, Any], message: str
) -> None:
    with pytest.raises(CardError, match=f'analogue card bench: it.*{message}'):
        opened(library, **wiring)


def instruct(
    library: SimulatedComedi, device: Any, *insns: tuple[int, int, int, list[int]]
) -> int:
    """Run a list of (instruction, subdevice, channel specification, data)."""
    array, keep = library.insn_array(len(insns)), []
    for place, (code, subdevice, spec, data) in enumerate(insns):
        insn = library.comedi_insn_struct()
        samples = library.lsampl_array(len(data))
        for index, value in enumerate(data):
            samples[index] = value
        insn.insn, insn.subdev, insn.chanspec, insn.n = code, subdevice, spec, len(data)
        insn.data = samples.cast()
        keep.append(samples)
        array[place] = insn
    todo = library.comedi_insnlist_struct()
    todo.n_insns, todo.insns = len(insns), array.cast()
    return library.comedi_do_insnlist(device, todo)


AI, AO, DO = 0, 1, 3
READ, WRITE = SimulatedComedi.INSN_READ, SimulatedComedi.INSN_WRITE
GTOD = SimulatedComedi.INSN_GTOD


@pytest.mark.parametrize(
    ('insn', 'why'),
    [
        ((WRITE, AO, 0, [0x4000]), 'a code of fifteen bits'),
        ((WRITE, AO, 8, [1]), 'a channel that it has not'),
        ((WRITE, AO, 1 << 16, [1]), 'a range that it has not'),
        ((READ, AI, 16, [0]), 'a channel that it has not'),
        ((READ, AI, 8 << 16, [0]), 'a range that it has not'),
        ((WRITE, AI, 0, [1]), 'writing an input'),
        ((READ, DO, 0, [0]), 'reading a digital output as a number'),
        ((READ, 5, 0, [0]), 'a subdevice that it has not'),
        ((READ, AI, 0, []), 'no room for data'),
        ((GTOD, 0, 0, [0]), 'no room for the time'),
        ((0x0A000005, 0, 0, [1]), 'an instruction that is not modelled'),
    ],
)
def test_card_refuses_with_einval_and_the_list_does_nothing_more(
    card: Card, library: SimulatedComedi, insn: Any, why: str
) -> None:
    device = library.comedi_open('bench')
    before = card.outputs

    assert instruct(library, device, insn, (WRITE, AO, 1, [5])) == -1, why
    assert library.comedi_errno() == errno.EINVAL
    assert np.array_equal(card.outputs, before)


def test_calls_that_are_none_are_refused(card: Card) -> None:
    for request in (b'', b'\x09' + bytes(16), Request(Operation.LOCK, 1, 1, 9).encode()):
        assert Answer.decode(card.handle(request)).result == -errno.EINVAL


def test_outputs_belong_to_who_locked_them_and_inputs_to_all(
    card: Card, library: SimulatedComedi
) -> None:
    driver = opened(library, enable_channel=0)
    reader = opened(library, drives=False)
    other = library.comedi_open('bench')

    reader.read()
    assert instruct(library, other, (WRITE, AO, 0, [1])) == -1
    assert library.comedi_errno() == errno.EACCES
    with pytest.raises(CardError, match='outputs are in use by another program: Device or res'):
        opened(library)
    driver.close()
    assert instruct(library, other, (WRITE, AO, 0, [1])) == 1
    with pytest.raises(CardError, match='it is closed'):
        driver.read()


def test_library_converts_as_comedilib_does(library: SimulatedComedi) -> None:
    # Figures of libcomedi 0.11.0.
    assert (library.INSN_READ, library.INSN_WRITE) == (67108864, 134217729)
    assert (library.INSN_BITS, library.UNIT_volt, library.COMEDI_OOR_NAN) == (201326594, 0, 1)
    device = library.comedi_open('bench')
    found = library.comedi_get_range(device, AI, 0, 0)
    assert found is not None
    assert all(math.isnan(library.comedi_to_phys(code, found, 0xFFFF)) for code in (0, 0xFFFF))
    assert library.comedi_set_global_oor_behavior(library.COMEDI_OOR_NUMBER) == 1
    volts = [library.comedi_to_phys(code, found, 0xFFFF) for code in (0, 1, 32768, 65535)]
    assert volts == pytest.approx([-10.0, -9.999694819562066, 0.00015259021896696368, 10.0])
    codes = [library.comedi_from_phys(value, found, 0x3FFF) for value in (-11, -10, 0, 5, 11)]
    assert codes == [0, 0, 8192, 12287, 16383]
    assert library.comedi_get_range(device, AO, 0, 1) is None
    assert library.cr_pack(3, 1, library.AREF_DIFF) == 0x02010003
    with pytest.raises(OverflowError):
        library.lsampl_array(1)[0] = -1


def test_answers_that_come_too_late_are_not_taken_for_the_next(card: Card) -> None:
    wire = Direct(card)
    library = SimulatedComedi(lambda _: wire, lambda _: None)
    card.inputs(VOLTS)
    analog = opened(library, drives=False)
    wire.answers.append(Answer(0, 8, 0.0, ((1, 1), *((1,),) * 6, (1, 1))).encode())

    assert analog.inputs.volts(analog.read()) == pytest.approx(VOLTS, abs=1e-3)


@pytest.mark.parametrize(
    ('fault', 'arguments', 'message'),
    [
        ('saturate', {'leg': 7}, "fault 'saturate': leg must be 1 to 6, not 7"),
        ('saturate', {'leg': 1, 'end': 'up'}, 'low or high'),
        ('disturb', {'leg': 1, 'volts': -1.0}, 'volts must be'),
        ('slow', {'seconds': math.nan}, 'seconds must be'),
        ('explode', {}, 'does not exist'),
        ('stick', {}, 'leg'),
    ],
)
def test_faults_that_cannot_be_are_refused(
    card: Card, fault: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(FaultError, match=message):
        CardFaults(card).apply(fault, **arguments)


def lagging(stroke: float = 0.08) -> LaggingDrives:
    settings = DriveSettings(20.0, 0.8, 0.6, 20.0, 0.01, np.full(6, -0.005), np.full(6, 0.165))
    return LaggingDrives(np.full(6, stroke), settings)


@pytest.mark.parametrize('mode', list(Mode))
def test_volts_move_the_legs_only_while_the_amplifiers_are_on(
    mode: Mode, card: Card, library: SimulatedComedi
) -> None:
    zero = np.zeros(6)
    gains = np.full(6, 0.01 if mode is Mode.POSITION else 0.05)
    middle = np.full(6, 0.08)
    settings = AnalogSettings(
        np.full(6, 0.01), middle, gains, middle if mode is Mode.POSITION else zero, mode
    )
    drives = lagging()
    rig = AnalogRig(card, drives, settings, np.random.default_rng(0))
    analog = opened(library, enable_channel=0)
    analog.write(analog.outputs.codes(np.full(6, 2.0)))

    rig.advance(0.5)
    assert drives.strokes == pytest.approx(0.08)
    analog.switch(on=True)
    rig.advance(0.5)

    # 2 V are 20 mm, or 0.1 m/s for half a second.
    assert drives.strokes == pytest.approx(0.10 if mode is Mode.POSITION else 0.13, abs=2e-3)
    measured = 0.08 + 0.01 * analog.inputs.volts(analog.read())
    assert measured == pytest.approx(drives.strokes, abs=1e-5)


@pytest.fixture
def server(tmp_path: Path, card: Card) -> Iterator[tuple[Path, list[int]]]:
    """Serve a card on a socket; the list counts how often the world was brought up to now."""
    path, advanced = tmp_path / 'card.sock', [0]

    def advance() -> None:
        advanced[0] += 1

    served = CardServer(path, card, advance)
    ends = socket.socketpair()
    thread = threading.Thread(target=serve, args=(served, ends[1]))
    thread.start()
    yield path, advanced
    ends[0].close()
    thread.join(5.0)
    assert not thread.is_alive()
    served.close()
    ends[1].close()
    assert not path.exists()


def serve(server: CardServer, end: socket.socket) -> None:
    while True:
        readable, _, _ = select.select([server.listener, end, *server.clients], [], [])
        if end in readable:
            return
        for item in readable:
            if item is server.listener:
                server.accept()
            else:
                server.serve(item)


def test_card_is_reached_over_its_socket_and_gone_when_nobody_listens(
    server: tuple[Path, list[int]], card: Card
) -> None:
    path, advanced = server
    card.inputs(VOLTS)
    wiring = Wiring(str(path))
    reader = AnalogCard(
        SimulatedComedi(), wiring, drives=False, clock=lambda: 0.0, longest_call=1.0
    )
    before = advanced[0]

    assert reader.inputs.volts(reader.read()) == pytest.approx(VOLTS, abs=1e-3)
    assert advanced[0] == before + 1
    reader.close()
    with pytest.raises(CardError, match='cannot be opened: No such file or directory'):
        opened(SimulatedComedi(), drives=False)


def test_lock_of_a_program_that_died_does_not_keep_the_next_one_out(
    server: tuple[Path, list[int]],
) -> None:
    path, _ = server
    for _ in range(50):
        library = SimulatedComedi()
        analog = AnalogCard(
            library, Wiring(str(path)), drives=True, clock=lambda: 0.0, longest_call=1.0
        )
        # As the kernel does it for a killed process: nothing is said, the socket is closed.
        assert analog._device is not None
        analog._device.wire.close()


def test_instruction_lists_are_built_as_the_real_library_wants_them(card: Card) -> None:
    comedi = pytest.importorskip('comedi.comedi', reason='python3-comedilib is not installed')
    simulated = SimulatedComedi(lambda _: Direct(card), lambda _: None)

    class Mixed(SimulatedComedi):
        """Structures, constants and packing of the real library, on a simulated card."""

        insn_array, lsampl_array = comedi.insn_array, comedi.lsampl_array
        comedi_insn_struct = comedi.comedi_insn_struct
        comedi_insnlist_struct = comedi.comedi_insnlist_struct
        cr_pack = staticmethod(comedi.cr_pack)
        INSN_READ, INSN_WRITE, INSN_BITS = comedi.INSN_READ, comedi.INSN_WRITE, comedi.INSN_BITS
        INSN_GTOD = comedi.INSN_GTOD

        def comedi_do_insnlist(self, it: Any, il: Any) -> int:
            real = [comedi.insn_array.frompointer(il.insns)[k] for k in range(il.n_insns)]
            data = [comedi.lsampl_array.frompointer(item.data) for item in real]
            array = simulated.insn_array(len(real))
            copies = []
            for place, item in enumerate(real):
                copy = simulated.comedi_insn_struct()
                copy.insn, copy.subdev, copy.chanspec = item.insn, item.subdev, item.chanspec
                copy.n, copy.data = item.n, simulated.lsampl_array(item.n)
                for index in range(item.n):
                    copy.data[index] = data[place][index]
                array[place] = copy
                copies.append(copy.data)
            todo = simulated.comedi_insnlist_struct()
            todo.n_insns, todo.insns = len(real), array.cast()
            done = super().comedi_do_insnlist(it, todo)
            for values, copy in zip(data, copies, strict=True):
                for index in range(len(copy)):
                    values[index] = copy[index]
            return done

    constants = [name for name in dir(simulated) if name.isupper()]
    assert {'INSN_BITS', 'COMEDI_SUBD_TIMER', 'AREF_DIFF'} <= set(constants)
    for name in constants:
        assert getattr(simulated, name) == getattr(comedi, name), name
    card.inputs(VOLTS)
    analog = opened(Mixed(lambda _: Direct(card), lambda _: None), enable_channel=2)

    assert analog.inputs.volts(analog.read()) == pytest.approx(VOLTS, abs=1e-3)
    analog.write(analog.outputs.codes(VOLTS))
    analog.switch(on=True)
    assert card.outputs == pytest.approx(VOLTS, abs=1e-3)
    assert card.digital_outputs == (False, False, True, False)


def test_guided_run_takes_points_and_asks_again_for_what_cannot_be_one(
    card: Card, library: SimulatedComedi
) -> None:
    said: list[str] = []
    faults = CardFaults(card)

    def typed() -> Iterator[str]:
        for millimetres, volts in ((20.0, -6.0), (80.0, 0.0), (140.0, 6.0)):
            card.inputs(np.full(6, volts))
            yield f'{millimetres}\n'
        yield 'eighty\n'
        yield '1 2 3\n'
        faults.disturb(2, 0.1)
        yield '80\n'
        faults.mend()
        faults.saturate(5)
        yield '80\n'
        faults.mend()
        card.inputs(VOLTS)
        yield '1, 2, 3, 4, 5, 6\n'
        yield '\n'
        raise AssertionError('nothing is asked after an empty line')

    table = Guide(opened(library, drives=False), 50, said.append).take(typed())

    assert table.strokes is not None
    assert table.inputs is not None
    assert table.strokes[:3, 0] == pytest.approx([0.02, 0.08, 0.14])
    assert table.strokes[3] == pytest.approx(1e-3 * np.arange(1, 7))
    assert table.inputs[:, 0] == pytest.approx([-6.0, 0.0, 6.0, VOLTS[0]], abs=1e-3)
    refusals = [text for text in said if text.startswith('not taken')]
    assert len(refusals) == 4
    assert "expected one number or six, got 'eighty'" in refusals[0]
    assert 'the input of leg 2 scatters by 0.' in refusals[2]
    assert 'the input of leg 5, +10.0000 V, is at the end' in refusals[3]
    with pytest.raises(CalibrationError, match='at least 1, not 0'):
        Guide(opened(library, drives=False), 0, said.append)
