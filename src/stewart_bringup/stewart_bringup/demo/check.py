# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One thing that has to hold, what it means if it does not, and whose fault that is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stewart_bringup.demo.machine import Machine


@dataclass(frozen=True)
class Check:
    """One thing that had to hold.

    Attributes:
        name: What.
        found, bound: What was found and what was asked, with units.
        held: Whether it held.
        meaning: What it means if it does not hold, and what to do.
        real_time: Whether a machine that is late can spoil it.
        excused: Whether the machine was late, as measured in the same run.
        excess: By how much the bound was left; empty where that is no number.
    """

    name: str
    found: str
    bound: str
    held: bool
    meaning: str
    real_time: bool = False
    excused: bool = False
    excess: str = ''

    @classmethod
    def bounded(
        cls,
        name: str,
        value: float,
        bound: float,
        unit: str,
        meaning: str,
        *,
        digits: int = 3,
        real_time: bool = False,
        least: bool = False,
    ) -> Check:
        """Hold a figure against its upper bound, or the least that is asked, both in `unit`."""
        words, much = ('at least', 'too little') if least else ('at most', 'too much')
        return cls(
            name,
            f'{value:.{digits}f} {unit}',
            f'{words} {bound:.4g} {unit}',
            value >= bound if least else value <= bound,
            meaning,
            real_time,
            excess=f'{abs(value - bound):.{digits}f} {unit} {much}',
        )

    def beside(self, machine: Machine) -> Check:
        """Return the check as it is judged beside what the machine did meanwhile."""
        return replace(self, excused=self.real_time and not self.held and machine.late)

    @property
    def failed(self) -> bool:
        """Whether it did not hold and the machine is no excuse."""
        return not (self.held or self.excused)

    @property
    def verdict(self) -> str:
        """Return one or two words for a table."""
        return 'FAILED' if self.failed else 'held' if self.held else 'not kept'

    @property
    def sentence(self) -> str:
        """Return what was found, asked, and by how much it was missed."""
        much = f', {self.excess}' if self.excess else ''
        return f'{self.name}: {self.found}, asked is {self.bound}{much}'
