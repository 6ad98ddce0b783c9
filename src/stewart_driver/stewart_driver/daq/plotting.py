# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A picture of how well six lines fit. Nothing of the core imports this module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from stewart_driver.daq.calibration import Fit
from stewart_driver.legs import LEGS
from stewart_tables.whole_files import whole_file

WIDTH, HEIGHT, DPI = 8.0, 3.6, 120


def save_residuals(path: Path, fits: Sequence[tuple[Fit, float]]) -> None:
    """Draw what every point is off its line; raises `OSError`.

    Args:
        fits: Lines with their points, and the distance that is allowed [m] or [m/s].
    """
    figure = Figure(figsize=(WIDTH, HEIGHT * len(fits)), dpi=DPI, layout='constrained')
    for axes, (fit, bound) in zip(
        figure.subplots(len(fits), squeeze=False).flat, fits, strict=True
    ):
        for leg in range(LEGS):
            axes.plot(
                fit.volts[:, leg], 1e3 * fit.errors[:, leg], 'o-', ms=3, lw=0.8, label=f'{leg + 1}'
            )
        for end in (-bound, bound):
            axes.axhline(1e3 * end, color='black', lw=0.8, ls='--')
        axes.set_title(f'{fit.name}s: line minus point; dashed: allowed', fontsize='medium')
        axes.set_xlabel('volts [V]')
        axes.set_ylabel(f'residual [{fit.unit}]')
        axes.grid(alpha=0.3)
        axes.legend(title='leg', ncols=LEGS, fontsize='small')
    with whole_file(path, binary=True) as stream:
        figure.savefig(stream, format=path.suffix.lower()[1:] or 'png')
