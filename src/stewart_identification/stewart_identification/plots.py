# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of an identification."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
import numpy as np
from scipy.signal import welch
from stewart_identification.experiment import Experiment
from stewart_identification.outcome import Outcome
from stewart_kinematics.motion import Array

COLOURS = ('tab:blue', 'tab:orange', 'tab:green', 'tab:red', 'tab:purple', 'tab:brown')
# Curves may be anywhere, and shine through a legend that lies on them.
ABOVE: dict[str, Any] = {
    'fontsize': 8, 'loc': 'lower right', 'bbox_to_anchor': (1.0, 1.0), 'frameon': False
}  # fmt: skip
SHOWN = 10.0
"""So much of the forces is drawn [s]."""


def pictures(outcome: Outcome) -> dict[str, Figure]:
    """Return forces and spectra by caption."""
    caption = (
        'Measured (colour) and predicted (thin line) forces of the legs, and what is left '
        f'between them; at most the first {SHOWN:g} s'
    )
    found = {f'{caption}.': _forces(outcome.experiment, outcome.fit.residuals)}
    if outcome.validation is not None:
        figure = _forces(outcome.validation.experiment, outcome.validation.residuals)
        found[f'{caption}, of the recording that was not used.'] = figure
    return {
        **found,
        'Spectra of the residuals: flat where only noise is left.': _spectra(outcome),
    }


def _forces(experiment: Experiment, left: Array) -> Figure:
    time = experiment.stamps - experiment.stamps[0]
    rows = time <= SHOWN
    figure = Figure(figsize=(9, 8), layout='constrained')
    axes: Any = figure.subplots(4, 1, sharex=True)
    for pair in range(3):
        for leg in (2 * pair, 2 * pair + 1):
            measured = _broken(time, experiment.forces[:, leg])
            axes[pair].plot(
                time[rows], measured[rows], color=COLOURS[leg], linewidth=2, label=f'leg {leg + 1}'
            )
            predicted = _broken(time, experiment.forces[:, leg] - left[:, leg])
            axes[pair].plot(time[rows], predicted[rows], color='black', linewidth=0.6)
        axes[pair].set_ylabel('force [N]')
        axes[pair].legend(**ABOVE, ncols=2)
    for leg in range(6):
        axes[3].plot(time[rows], left[rows, leg], color=COLOURS[leg], linewidth=0.5)
    axes[3].set(xlabel='time [s]', ylabel='residual [N]')
    for axis in axes:
        axis.grid(alpha=0.3)
    return figure


def _broken(time: Array, values: Array) -> Array:
    """Let a line break where samples are missing."""
    steps = np.diff(time, prepend=time[0])
    return np.where(steps > 2.5 * np.median(np.diff(time)), np.nan, values)


def _spectra(outcome: Outcome) -> Figure:
    figure = Figure(figsize=(9, 3.5), layout='constrained')
    axes: Any = figure.subplots()
    rate = 1.0 / float(np.median(np.diff(outcome.experiment.stamps)))
    for leg in range(6):
        column = outcome.result.residuals[:, leg]
        column = column[np.isfinite(column)]
        if column.size < 16:
            continue
        frequency, density = welch(column, rate, nperseg=min(512, column.size))
        axes.loglog(
            frequency[1:], np.sqrt(density[1:]), color=COLOURS[leg], label=f'leg {leg + 1}'
        )
    axes.set(xlabel='frequency [Hz]', ylabel='residual [N/√Hz]')
    axes.legend(**ABOVE, ncols=6)
    axes.grid(alpha=0.3, which='both')
    return figure


def intervals(outcome: Outcome) -> Figure:
    """Draw the ten parameters against the description, in percent of what each is held against."""
    figure = Figure(figsize=(7, 3.8), layout='constrained')
    axes: Any = figure.subplots()
    ten = outcome.parameters[:10]
    for place, (item, size) in enumerate(zip(ten, _sizes(outcome), strict=True)):
        if not item.bounded:
            axes.axvspan(place - 0.4, place + 0.4, color='0.5', alpha=0.25)
            continue
        value, half = (item.value - item.described) / size, (item.high - item.low) / 2 / size
        colour = 'tab:blue' if item.known else 'tab:orange'
        axes.errorbar(place, 100 * value, yerr=100 * half, fmt='o', color=colour, capsize=4)
    axes.axhline(0.0, color='black', linewidth=0.8)
    axes.set_xticks(range(len(ten)), [item.name for item in ten])
    axes.set_ylabel('found − described [%]')
    axes.grid(alpha=0.3)
    return figure


def _sizes(outcome: Outcome) -> Array:
    """Return the described mass, the radius of the joints, and the described inertias.

    A product of inertia has the geometric mean of its two moments. Where the description has no
    inertia, the mass on the radius of the joints has one.
    """
    mass, length = outcome.model.scale[0], outcome.model.inertial.length_scale
    moments = np.array([outcome.parameters[k].described for k in (4, 7, 9)])
    moments = np.where(moments > 0.0, moments, mass * length**2)
    inertias = np.sqrt(np.outer(moments, moments))[np.triu_indices(3)]
    return np.concatenate([[mass], np.full(3, length), inertias])
