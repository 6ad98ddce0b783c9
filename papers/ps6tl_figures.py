# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 5 to 14 of the PS-6TL paper, drawn again."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib import colormaps
from matplotlib.figure import Figure
import numpy as np
from reproduction import Report
from stewart_kinematics.motion import Array
from stewart_kinematics.plotting import LEGS, plot_lines

CHECKED_BY_SENTENCE = {
    1: 'variation by pitch (contradicted), against roll',
    2: 'lowest force, reduction by roll (both contradicted)',
    3: 'lowest force, reduction by roll (both contradicted)',
    4: 'time of the maximum',
    5: 'time of the minimum',
    6: 'variation by pitch (contradicted), against roll',
}


def draw_case(report: Report, number: int, time: Array, lengths: Array, forces: Array) -> None:
    """Draw Figs. 5 and 6, or 7 and 8."""
    for figure, values, quantity, checked in (
        (2 * number + 3, lengths, 'actuator length [m]', 'Eq. 6'),
        (2 * number + 4, forces, 'actuator force [N]', 'Newton–Euler, balance of the plate'),
    ):
        drawing = Figure(figsize=(8, 4), layout='constrained')
        plot_lines(drawing.add_subplot(), time, values, LEGS, quantity)
        caption = f'Case {number}: {quantity.split(" [", maxsplit=1)[0]}s over one period.'
        report.draw(f'Figure {figure}', caption, drawing, checked)


def draw_sensitivity(
    report: Report,
    time: Array,
    reference: Array,
    by_pitch: Mapping[float, Array],
    by_roll: Mapping[float, Array],
) -> None:
    """Draw Figs. 9 to 14, one for each actuator.

    Args:
        report: Receives the figures.
        time (n,): [s].
        reference (n, 6): Forces of case 2 [N].
        by_pitch, by_roll (n, 6): Forces [N] by the change of the angle [deg].
    """
    for leg in range(6):
        drawing = Figure(figsize=(10, 4), layout='constrained')
        panels = drawing.subplots(1, 2, sharey=True)
        for axes, name, forces in (
            (panels[0], 'pitch', by_pitch),
            (panels[1], 'roll', by_roll),
        ):
            largest = max(forces)
            for angle, values in forces.items():
                colour = colormaps['coolwarm'](0.5 + 0.5 * angle / largest)
                axes.plot(time, values[:, leg], color=colour, label=f'{angle:+g}°')
            axes.plot(time, reference[:, leg], color='black', linestyle='--', label='case 2')
            axes.set(xlabel='time [s]', title=f'{name} changed')
            axes.grid(alpha=0.3)
        panels[0].set_ylabel(f'force of actuator {leg + 1} [N]')
        panels[1].legend(fontsize='small', loc='center left', bbox_to_anchor=(1.0, 0.5))
        span = ', '.join(f'{angle:g}' for angle in sorted({abs(angle) for angle in by_pitch}))
        report.draw(
            f'Figure {9 + leg}',
            f'Sensitivity of F{leg + 1}: case 2 with pitch and with roll changed by ±{span}°; '
            'the amounts of the paper are not printed.',
            drawing,
            CHECKED_BY_SENTENCE[leg + 1],
        )


def first_extreme(time: Array, values: Array, *, highest: bool) -> float:
    """Return the time of the highest or lowest value [s]."""
    return float(time[np.argmax(values) if highest else np.argmin(values)])
