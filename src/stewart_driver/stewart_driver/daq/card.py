# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six analogue inputs and six outputs of a card, through the functions of python3-comedilib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.daq.options import DaqOptions, SensorOptions
from stewart_driver.errors import CardError, ConfigurationError
from stewart_driver.legs import Array, LEGS

OUTPUT_RANGE = (-10.0, 10.0)
SAME = 1e-9
# Kernel drivers whose channel lists have no place for the reference: the board's wiring decides.
IGNORE_REFERENCE = frozenset({'addi_apci_3120'})


class AnalogCard:
    """An open card.

    Args:
        options: What is where, and how long a call may take; to drive, `DaqOptions`.
        drives: Whether the outputs are needed; they are locked then. Reading locks nothing.
        wall: Wall clock, which the kernel's stamps are from [s].
        come_to: Lets the card's time go on to an instant, where it is simulated [s].

    Attributes:
        board: Name of the board and of its kernel driver.
        inputs, outputs: Ranges of the channels in use; `outputs` only for who drives.
        stamp: When the inputs were converted last, on the steady clock [s].
        live: Whether amplifiers may be on: unless the enable output was last seen to switch them
            off.

    Raises:
        CardError: If there is no such card, it is another one, lacks a channel or the range, or
            another program has locked its outputs.
        ConfigurationError: If its kernel driver ignores the reference that is asked for.
    """

    outputs: CodeRange

    def __init__(
        self,
        library: Any,
        options: SensorOptions,
        *,
        drives: bool,
        clock: Callable[[], float],
        wall: Callable[[], float] = time.time,
        come_to: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._library, self._options = library, options
        self._clock = clock
        # None where nothing is driven or no output switches the amplifiers.
        self._enable_channel: int | None = None
        self._bridge = ClockBridge(wall, clock)
        self.come_to = come_to
        self.live = True
        self.stamp = clock()
        self._device = library.comedi_open(options.device)
        if self._device is None:
            raise self._failed('cannot be opened')
        self._locked: list[int] = []
        # What the lists point to has to stay alive.
        self._kept: list[Any] = []
        try:
            self.board = self._identify()
            self._prepare_inputs()
            if drives:
                assert isinstance(options, DaqOptions)
                self._prepare_outputs(options)
        except BaseException:
            self.close()
            raise

    def read(self) -> Codes:
        """Convert the six inputs by one instruction list into codes (6,); raises `CardError`.

        Before and after them the kernel looks at its clock. The call as a whole may take longer by
        all that a scheduler does to this program, and then its middle is no stamp: legs of 0.1 m/s
        need one that is right within 0.1 ms for what the converter resolves.
        """
        begin, end = self._run(self._read_list, len(self._read_data), 'reading six inputs')
        before, *inputs, after = self._read_data
        self._bridge.refresh()
        converted = self._bridge.to_steady(0.5 * (_seconds(before) + _seconds(after)))
        # Still bounded if the wall clock was set meanwhile.
        self.stamp = min(max(converted, begin), end)
        return np.array([data[0] for data in inputs], dtype=np.int64)

    def write(self, codes: Codes) -> None:
        """Set the six outputs to codes (6,) by one instruction list; raises `CardError`."""
        for data, code in zip(self._write_data, codes.tolist(), strict=True):
            data[0] = code
        self._run(self._write_list, LEGS, 'setting six outputs')

    def switch(self, *, on: bool) -> None:
        """Switch the amplifiers on or off, where a digital output does it; raises `CardError`."""
        if (channel := self._enable_channel) is not None:
            self._switch_data[0], self._switch_data[1] = 1 << channel, int(on) << channel
            # A call that fails may have been obeyed.
            self.live |= on
            self._run(self._switch_list, 1, 'switching the amplifiers')
            self.live = on

    def close(self) -> None:
        """Unlock and close; the outputs keep the last code."""
        device, self._device = self._device, None
        if device is None:
            return
        for subdevice in self._locked:
            self._library.comedi_unlock(device, subdevice)
        self._library.comedi_close(device)

    def _identify(self) -> str:
        library, options = self._library, self._options
        driver = library.comedi_get_driver_name(self._device)
        if options.driver and driver != options.driver:
            raise self._wrong(f'its driver is {driver!r}, expected {options.driver!r}')
        if driver in IGNORE_REFERENCE and options.reference != 'ground':
            expected = f'ground, for {driver} looks at no other'
            raise ConfigurationError('reference', options.reference, expected)
        return f'{library.comedi_get_board_name(self._device)} ({driver})'

    def _prepare_inputs(self) -> None:
        library, channels = self._library, self._options.input_channels
        reference = getattr(library, f'AREF_{self._options.reference.upper()}')
        subdevice = self._subdevice(library.COMEDI_SUBD_AI, 'analogue inputs', channels)
        number, self.inputs = self._range(subdevice, channels, self._options.input_range)
        look = (library.INSN_GTOD, 0, 0, 2)
        conversions = [
            (library.INSN_READ, subdevice, library.cr_pack(channel, number, reference), 1)
            for channel in channels
        ]
        self._read_list, self._read_data = self._list([look, *conversions, look])

    def _prepare_outputs(self, options: DaqOptions) -> None:
        library, channels = self._library, options.output_channels
        ground = library.AREF_GROUND
        subdevice = self._subdevice(library.COMEDI_SUBD_AO, 'analogue outputs', channels)
        self._lock(subdevice, 'analogue outputs')
        number, self.outputs = self._range(subdevice, channels, OUTPUT_RANGE)
        self._write_list, self._write_data = self._list(
            [
                (library.INSN_WRITE, subdevice, library.cr_pack(channel, number, ground), 1)
                for channel in channels
            ]
        )
        if options.enable_channel >= 0:
            channel = self._enable_channel = options.enable_channel
            digital = self._subdevice(library.COMEDI_SUBD_DO, 'digital outputs', (channel,))
            self._lock(digital, 'digital outputs')
            step = (library.INSN_BITS, digital, 0, 2)
            self._switch_list, (self._switch_data,) = self._list([step])

    def _subdevice(self, kind: int, name: str, channels: tuple[int, ...]) -> int:
        library = self._library
        number = library.comedi_find_subdevice_by_type(self._device, kind, 0)
        if number < 0:
            raise self._wrong(f'it has no {name}')
        count = library.comedi_get_n_channels(self._device, number)
        if max(channels) >= count:
            raise self._wrong(f'it has {name} 0 to {count - 1}, not {max(channels)}')
        return int(number)

    def _range(
        self, subdevice: int, channels: tuple[int, ...], wanted: tuple[float, ...]
    ) -> tuple[int, CodeRange]:
        library, first = self._library, channels[0]
        offered = []
        for number in range(library.comedi_get_n_ranges(self._device, subdevice, first)):
            found = library.comedi_get_range(self._device, subdevice, first, number)
            if found is None:
                raise self._failed(f'its range {number} cannot be read')
            if abs(found.min - wanted[0]) < SAME and abs(found.max - wanted[1]) < SAME:
                last = library.comedi_get_maxdata(self._device, subdevice, first)
                if last <= 0:
                    raise self._failed(f'the codes of its range {number} cannot be read')
                return number, CodeRange(found.min, found.max, last)
            offered.append(f'{found.min:g} to {found.max:g}')
        raise self._wrong(
            f'it has no range {wanted[0]:g} to {wanted[1]:g} V; it has {", ".join(offered)} V'
        )

    def _lock(self, subdevice: int, name: str) -> None:
        if self._library.comedi_lock(self._device, subdevice) < 0:
            raise self._failed(f'the {name} are in use by another program')
        self._locked.append(subdevice)

    def _list(self, steps: Sequence[tuple[int, int, int, int]]) -> tuple[Any, list[Any]]:
        """Return an instruction list and the data that it points to.

        Each step is instruction, subdevice, channel specification and number of samples.
        """
        library = self._library
        insns, data = library.insn_array(len(steps)), []
        for place, (code, subdevice, spec, samples) in enumerate(steps):
            insn = library.comedi_insn_struct()
            data.append(library.lsampl_array(samples))
            insn.insn, insn.subdev, insn.chanspec = code, subdevice, spec
            insn.n, insn.data = samples, data[-1].cast()
            insns[place] = insn
        result = library.comedi_insnlist_struct()
        result.n_insns, result.insns = len(steps), insns.cast()
        self._kept += [insns, *data]
        return result, data

    def _run(self, instructions: Any, count: int, what: str) -> tuple[float, float]:
        """Return when the call began and when it ended [s]."""
        if self._device is None:
            raise self._wrong(f'{what} failed: it is closed')
        begin = self._clock()
        done = self._library.comedi_do_insnlist(self._device, instructions)
        took = self._clock() - begin
        if done < 0:
            raise self._failed(f'{what} failed')
        if done != count:
            raise self._wrong(f'{what} ended after {done} of {count} instructions')
        longest = self._options.longest_call
        if took > longest:
            raise self._wrong(f'{what} took {1e3 * took:.1f} ms, allowed are {1e3 * longest:g} ms')
        return begin, begin + took

    def _failed(self, what: str) -> CardError:
        number = self._library.comedi_errno()
        return self._wrong(f'{what}: {self._library.comedi_strerror(number)}')

    def _wrong(self, reason: str) -> CardError:
        return CardError(self._options.device, reason)


def _seconds(look: Any) -> float:
    """Return the time of a look at the kernel's clock: seconds, and microseconds besides [s]."""
    return float(look[0]) + 1e-6 * float(look[1])


Codes = NDArray[np.int64]


class CodeRange(NamedTuple):
    """A linear range: code 0 is its lower end, code `last` its upper one [V]."""

    lower: float
    upper: float
    last: int

    @property
    def step(self) -> float:
        """What one code stands for [V]."""
        return (self.upper - self.lower) / self.last

    def volts(self, codes: Codes) -> Array:
        """Return the voltages of some codes [V]."""
        return np.asarray(self.lower + self.step * codes)

    def codes(self, volts: Array) -> Codes:
        """Return the nearest codes of some voltages [V]; raises `ConfigurationError`."""
        # Not "outside": a NaN is refused too.
        inside = (volts >= self.lower) & (volts <= self.upper)
        if not inside.all():
            worst = float(volts[~inside].flat[0])
            raise ConfigurationError('volts', worst, str(self))
        return np.floor((volts - self.lower) / self.step + 0.5).astype(np.int64)

    def clipped(self, volts: Array) -> Array:
        """Return the voltages, those outside moved to the end that is nearer [V]."""
        return np.asarray(np.minimum(np.maximum(volts, self.lower), self.upper))

    def __str__(self) -> str:
        return f'{self.lower:g} to {self.upper:g} V'
