# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of cueing: what is felt against what is wanted, and frequency responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
import numpy as np
from stewart_cueing.vehicle.response import Complex, FREQUENCIES, PAIRS
from stewart_cueing.vehicle.ride import CuedRide
from stewart_kinematics.motion import Array

ABOVE: dict[str, Any] = {
    'fontsize': 'x-small', 'loc': 'lower left', 'bbox_to_anchor': (0.0, 1.0), 'frameon': False,
    # Narrow, or it is wider than its panel and cut off.
    'handlelength': 1.0, 'columnspacing': 1.0,
}  # fmt: skip
DECADES = 20.0
"""A gain is drawn over such a factor or more [-]."""
NAMES = ('surge', 'sway', 'heave', 'roll', 'pitch', 'yaw')


def felt_against_wanted(rides: Mapping[str, CuedRide]) -> Figure:
    """Draw perceived specific force (left) and rate (right) of one ride by several methods."""
    figure = Figure(figsize=(11.0, 7.0), layout='constrained')
    panels = figure.subplots(3, 2, sharex=True)
    for k, axes in enumerate(panels.T.ravel()):
        first, unit = next(iter(rides.values())), 'm/s²' if k < 3 else 'rad/s'
        axes.plot(first.time, first.wanted_perceived[:, k], color='0.6', label='vehicle')
        for name, ride in rides.items():
            error = ride.given_perceived[:, k] - ride.wanted_perceived[:, k]
            label = f'{name}, rms error {np.sqrt(np.mean(error**2)):.2g} {unit}'
            axes.plot(ride.time, ride.given_perceived[:, k], linewidth=1.0, label=label)
        axes.set_ylabel(f'{NAMES[k]} [{unit}]')
        # Above the curves, which may be anywhere.
        axes.legend(**ABOVE, ncols=1 + len(rides))
    panels[0, 0].set_title('specific force, through the otoliths', pad=18.0)
    panels[0, 1].set_title('rate, through the canals', pad=18.0)
    for axes in panels[-1]:
        axes.set_xlabel('time [s]')
    return figure


def _phases(response: Complex) -> tuple[Array, Array]:
    """Return frequencies and phases [°] whose line breaks where the phase wraps."""
    phases = np.degrees(np.angle(response))
    wraps = 1 + np.flatnonzero(np.abs(np.diff(phases)) > 180.0)
    return np.insert(FREQUENCIES, wraps, np.nan), np.insert(phases, wraps, np.nan)


def response_figure(found: Mapping[str, Complex], title: str) -> Figure:
    """Draw gains and phases of responses (10, 12) by method, two panels for each of `PAIRS`."""
    figure = Figure(figsize=(14.0, 8.0), layout='constrained')
    figure.suptitle(title)
    panels = figure.subplots(4, 5, sharex=True)
    for k, pair in enumerate(PAIRS):
        gain, phase = panels[2 * (k // 5), k % 5], panels[2 * (k // 5) + 1, k % 5]
        for name, all_tests in found.items():
            gain.loglog(FREQUENCIES, np.abs(all_tests[k]), marker='.', label=name)
            phase.semilogx(*_phases(all_tests[k]), marker='.')
        # Over less than a decade ticks have labels of their own, which lie on each other.
        low, high = gain.get_ylim()
        wider = np.sqrt(max(1.0, DECADES / (high / low)))
        gain.set_ylim(low / wider, high * wider)
        gain.set_title(f'{pair.number}: {pair.name}', fontsize='small')
        phase.set_ylim(-185.0, 185.0)
        phase.set_yticks([-180.0, -90.0, 0.0, 90.0, 180.0])
        if k % 5 == 0:
            gain.set_ylabel('gain [SI]')
            phase.set_ylabel('phase [°]')
    panels[0, 0].legend(fontsize='x-small')
    for axes in panels[-1]:
        axes.set_xlabel('frequency [rad/s]')
    return figure
