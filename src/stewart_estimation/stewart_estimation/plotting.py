# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of estimates: innovations and what they tell, errors and biases in their bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from scipy import stats
from stewart_estimation.consistency import Consistency, LAGS
from stewart_kinematics.motion import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAND: dict[str, Any] = {'color': 'black', 'linewidth': 0.8, 'linestyle': '--'}
# Of velocities, about the instant at which the platform is fastest [s].
SHOWN = 2.0


def band_plot(
    axes: Axes,
    time: Array,
    values: Array,
    sigmas: Array,
    quantity: str,
    unit: float = 1.0,
    *,
    about_zero: bool = True,
) -> None:
    """Draw a line with a two-sigma band.

    Args:
        axes, time, values, sigmas (n,): Where to draw, [s], and two columns in the same unit.
        quantity: Label of the vertical axis, with the unit after `unit` is applied.
        unit: What values and sigmas are divided by.
        about_zero: Draw the band about zero, as for errors; else about the values, as for
            estimates.
    """
    scaled, band = values / unit, 2.0 * sigmas / unit
    centre = 0.0 if about_zero else scaled
    axes.plot(time, scaled, linewidth=0.7)
    for side in (-1.0, 1.0):
        axes.plot(time, centre + side * band, **BAND)
    # A start lies far outside of what follows.
    after = slice(len(band) // 10, None)
    edges = np.concatenate([(centre + side * band)[after] for side in (-1.0, 1.0)])
    drawn = np.concatenate([edges, scaled[after]])
    if np.isfinite(drawn).any():
        low, high = float(np.nanmin(drawn)), float(np.nanmax(drawn))
        room = 0.1 * (high - low) or 1.0
        axes.set_ylim(low - room, high + room)
    axes.set_ylabel(quantity)
    axes.grid(alpha=0.3)


def plot_innovations(figure: Figure, time: Array, innovations: Array, sigmas: Array) -> None:
    """Draw the innovations (n, 6) of the six legs [m] with their two-sigma bands.

    The axes end where one value in a hundred is outside: a filter that has just begun knows so
    little that nothing else would be seen.
    """
    panels = figure.subplots(3, 2, sharex=True)
    sizes = np.fmax(np.abs(innovations), 2.0 * sigmas)
    for leg, axes in enumerate(panels.ravel()):
        band_plot(axes, time, innovations[:, leg], sigmas[:, leg], f'leg {leg + 1} [µm]', 1e-6)
        if np.isfinite(top := np.nanquantile(sizes[:, leg], 0.99)) and top > 0.0:
            axes.set_ylim(-1.3e6 * top, 1.3e6 * top)
    for axes in panels[-1]:
        axes.set_xlabel('time [s]')


def plot_consistency(figure: Figure, time: Array, consistency: Consistency) -> None:
    """Draw NIS over the times of the rows judged [s], distribution and memory of innovations."""
    halves: Any = figure.subfigures(2, 1)
    upper, lower = halves
    _plot_nis(upper.subplots(), time, consistency)
    left, right = lower.subplots(1, 2)
    z = consistency.normalised
    edges = np.linspace(-5.0, 5.0, 61)
    for leg in range(6):
        known = z[:, leg][np.isfinite(z[:, leg])]
        # Of a leg that was refused throughout there is no distribution.
        if known.size:
            style: dict[str, Any] = {'color': f'C{leg}', 'label': f'leg {leg + 1}'}
            left.hist(known, edges, density=True, histtype='step', **style)
    left.plot(edges, stats.norm.pdf(edges), color='black', linewidth=1.5, label='normal')
    left.set(xlabel='innovation / sigma', ylabel='density')
    left.legend(fontsize='x-small')
    lags = np.arange(1, LAGS + 1)
    for leg in range(6):
        right.plot(
            lags, consistency.correlation[:, leg], '.-', linewidth=0.6, label=f'leg {leg + 1}'
        )
    bound = stats.norm.ppf(0.5 + 0.5 * consistency.confidence) / np.sqrt(consistency.rows)
    right.axhspan(-bound, bound, color='0.85')
    right.set(xlabel='lag [samples]', ylabel='autocorrelation')
    for axes in (left, right):
        axes.grid(alpha=0.3)


def _plot_nis(axes: Axes, time: Array, consistency: Consistency) -> None:
    """Draw the NIS, counted for six legs, its running mean and the band of a single value."""
    counts = np.isfinite(consistency.normalised).sum(axis=1)
    heard = counts > 0
    nis, time = 6.0 * consistency.nis[heard] / counts[heard], time[heard]
    axes.plot(time, nis, ',', color='tab:blue')
    width = max(1, len(nis) // 100)
    means = np.convolve(nis, np.full(width, 1.0 / width), mode='valid')
    centres = time[width // 2 : width // 2 + len(means)]
    axes.plot(centres, means, color='tab:orange', label=f'mean of {width}')
    for share in (0.025, 0.975):
        axes.axhline(stats.chi2.ppf(share, 6), **BAND)
    axes.set_ylim(0.0, max(20.0, 1.2 * float(means.max())))
    axes.set(
        xlabel='time [s]',
        ylabel='NIS, for six legs',
        title='95 % of the values lie between the lines',
    )
    axes.legend(fontsize='small')
    axes.grid(alpha=0.3)


def plot_bands(
    figure: Figure,
    time: Array,
    groups: Sequence[tuple[str, float, Array, Array]],
    *,
    about_zero: bool = True,
) -> None:
    """Draw groups of three lines with their two-sigma bands, one group a row.

    Args:
        figure, time (n,): Empty figure, and [s].
        groups: Label with unit, that unit in SI, values and sigmas, both of shape (n, 3).
        about_zero: As `band_plot` has it.
    """
    panels = figure.subplots(len(groups), 3, sharex=True, squeeze=False)
    for row, (label, unit, values, sigmas) in zip(panels, groups, strict=True):
        for column, axes in enumerate(row):
            pair = values[:, column], sigmas[:, column]
            band_plot(axes, time, *pair, '', unit, about_zero=about_zero)
            axes.set_title(f'{"xyz"[column]}, {label}', fontsize='small')
    for axes in panels[-1]:
        axes.set_xlabel('time [s]')


def plot_velocities(figure: Figure, methods: Sequence[tuple[str, Array, Array, Array]]) -> None:
    """Draw velocities as several methods have them, and what they miss, one component a row.

    Args:
        methods: Name, stamps [s] of shape (n,), velocities and their errors of shape (n, 3) [m/s];
            the first is drawn on top, the velocities only about the instant where it is fastest.
    """
    panels: Any = figure.subplots(3, 2, sharex='col')
    _, time, values, _ = methods[0]
    fastest = float(time[np.argmax(np.linalg.norm(values, axis=1))])
    for column, (left, right) in enumerate(panels):
        for number, (name, stamps, velocities, errors) in reversed(list(enumerate(methods))):
            near = np.abs(stamps - fastest) <= 0.5 * SHOWN
            style: dict[str, Any] = {'linewidth': 0.9, 'color': f'C{number}', 'label': name}
            left.plot(stamps[near], 1e3 * velocities[near, column], **style)
            if errors.any():
                right.plot(stamps, 1e3 * errors[:, column], **style)
        left.set_ylabel(f'{"xyz"[column]} [mm/s]')
        right.set_ylabel(f'{"xyz"[column]}, truth minus it [mm/s]')
        for axes in (left, right):
            axes.grid(alpha=0.3)
    panels[0, 0].legend(fontsize='small')
    for axes in panels[-1]:
        axes.set_xlabel('time [s]')
