# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The C structures of comedilib as python3-comedilib 0.11.0 shows them.

An array of instructions copies what is put into it; instructions point to their data and do not
keep it alive, so the program has to. Where the C library would write beyond the end, these raise.
"""

from __future__ import annotations

from stewart_simulation.daq_card.layout import Kind

LARGEST_SAMPLE = 0xFFFFFFFF


class LsamplArray:
    """Samples, as ``lsampl_array``.

    Args:
        nelements: How many.
    """

    def __init__(self, nelements: int) -> None:
        """Make room."""
        self._values = [0] * nelements

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def __setitem__(self, index: int, value: int) -> None:
        if not isinstance(value, int):
            raise TypeError(f'a sample is an int, not {type(value).__name__}')
        if not 0 <= value <= LARGEST_SAMPLE:
            raise OverflowError(f'a sample is 0 to {LARGEST_SAMPLE}, not {value}')
        self._values[index] = value

    def cast(self) -> LsamplArray:
        """Return the pointer to the first sample."""
        return self


class ComediInsn:
    """One instruction, as ``comedi_insn_struct``."""

    __slots__ = ('chanspec', 'data', 'insn', 'n', 'subdev')

    def __init__(self) -> None:
        """Be all zero."""
        self.insn = self.n = self.subdev = self.chanspec = 0
        self.data: LsamplArray | None = None


class InsnArray:
    """Instructions, as ``insn_array``.

    Args:
        nelements: How many.
    """

    def __init__(self, nelements: int) -> None:
        """Make room."""
        self._items = [ComediInsn() for _ in range(nelements)]

    def __getitem__(self, index: int) -> ComediInsn:
        return self._items[index]

    def __setitem__(self, index: int, item: ComediInsn) -> None:
        for name in ComediInsn.__slots__:
            setattr(self._items[index], name, getattr(item, name))

    def cast(self) -> InsnArray:
        """Return the pointer to the first instruction."""
        return self


class ComediInsnlist:
    """A list of instructions, as ``comedi_insnlist_struct``."""

    __slots__ = ('insns', 'n_insns')

    def __init__(self) -> None:
        """Be empty."""
        self.n_insns = 0
        self.insns: InsnArray | None = None


class ComediRange:
    """A range, as ``comedi_range``."""

    __slots__ = ('max', 'min', 'unit')

    def __init__(self) -> None:
        """Be all zero."""
        self.min = self.max = 0.0
        self.unit = 0


SUBDEVICE_TYPES = {f'COMEDI_SUBD_{kind.name}': int(kind) for kind in Kind}
