# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated APCI-3120: as strict as its kernel driver, as terse as comedilib."""

from __future__ import annotations

import errno
import math
from typing import Any

import numpy as np
import pytest
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.options import DaqOptions
from stewart_driver.errors import CardError
from stewart_driver.legs import LegLimits
from stewart_simulation.daq_card.analog_rig import AnalogRig, AnalogSettings, Mode
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.daq_card.wire import Answer, Operation, Request
from stewart_simulation.daq_card.wire import InlineWire as Wire
from stewart_simulation.drives import LaggingDrives
from stewart_simulation.errors import FaultError
from stewart_simulation.rig.faults import CardFaults
from stewart_simulation.simulated_backend import SimulatedOptions

VOLTS = np.array([-9.5, -4.0, -0.1, 0.3, 5.0, 9.9])
QUIET = CardSettings(noise_codes=0.0)


@pytest.fixture
def card() -> Card:
    return Card(QUIET)


@pytest.fixture
def library(card: Card) -> SimulatedComedi:
    return SimulatedComedi(lambda _: Wire(card), lambda _: None)


def opened(library: Any, *, drives: bool = True, **wiring: Any) -> AnalogCard:
    return AnalogCard(
        library,
        DaqOptions(device='bench', longest_call=1.0, **wiring),
        drives=drives,
        clock=lambda: 0.0,
    )


def test_six_inputs_are_converted_by_one_instruction_list(card: Card) -> None:
    wire = Wire(card)
    card.inputs(VOLTS)
    analog = opened(SimulatedComedi(lambda _: wire, lambda _: None), drives=False)
    before = wire.calls

    codes = analog.read()

    assert wire.calls == before + 1
    assert analog.inputs.volts(codes) == pytest.approx(VOLTS, abs=10.0 / 0xFFFF)


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


@pytest.mark.parametrize(
    ('call', 'answer', 'message'),
    [
        ('comedi_get_range', None, 'range 0 cannot be read'),
        ('comedi_get_maxdata', 0, 'codes of its range 0 cannot be read'),
    ],
)
def test_ranges_that_the_library_does_not_tell_are_refused(
    library: SimulatedComedi, call: str, answer: Any, message: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(library, call, lambda *_: answer)
    with pytest.raises(CardError, match=message):
        opened(library)


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
    for request in (
        b'',
        b'\x09' + bytes(16),
        b'[1, {}, 0, []]',
        b'[1, Infinity, 0, []]',
        b'[' * 60_000,
        b'[1, 1, 0, [[67108864, -9, 0, [0]]]]',
        Request(Operation.LOCK, 1, -1).encode(),
        Request(Operation.LOCK, 1, 9).encode(),
    ):
        assert Answer.decode(card.handle(request, None)).result == -errno.EINVAL


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


def test_library_has_the_numbers_of_comedilib(library: SimulatedComedi) -> None:
    # Figures of libcomedi 0.11.0.
    assert (library.INSN_READ, library.INSN_WRITE) == (67108864, 134217729)
    assert (library.INSN_BITS, library.UNIT_volt) == (201326594, 0)
    device = library.comedi_open('bench')
    found = library.comedi_get_range(device, AI, 0, 0)
    assert found is not None
    assert (found.min, found.max) == (-10.0, 10.0)
    assert library.comedi_get_range(device, AO, 0, 1) is None
    assert library.cr_pack(3, 1, library.AREF_DIFF) == 0x02010003
    with pytest.raises(OverflowError):
        library.lsampl_array(1)[0] = -1


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
    options = SimulatedOptions(cycle_time=0.005, reserve=1.0)
    limits = LegLimits(np.full(6, -0.003), np.full(6, 0.163), 0.6, 20.0)
    return LaggingDrives(np.full(6, stroke), options, limits)


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


def test_instruction_lists_are_built_as_the_real_library_wants_them(card: Card) -> None:
    comedi = pytest.importorskip('comedi.comedi', reason='python3-comedilib is not installed')
    simulated = SimulatedComedi(lambda _: Wire(card), lambda _: None)

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
    analog = opened(Mixed(lambda _: Wire(card), lambda _: None), enable_channel=2)

    assert analog.inputs.volts(analog.read()) == pytest.approx(VOLTS, abs=1e-3)
    analog.write(analog.outputs.codes(VOLTS))
    analog.switch(on=True)
    assert card.outputs == pytest.approx(VOLTS, abs=1e-3)
    assert card.digital_outputs == (False, False, True, False)
