# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 9 to 17 of the SRS paper, drawn again; MP1 is on the left, MP2 on the right."""

from __future__ import annotations

from matplotlib.figure import Figure
import numpy as np
from reproduction import Report
from srs_study import AS_PRINTED, CUT_OFFS, Filtered
from stewart_estimation.differentiator import from_legs, TRUE_25_HZ
from stewart_estimation.plotting import band_plot
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import (
    compose_quaternions,
    invert_quaternion,
    log_quaternion,
    rpy_from_quaternion,
)

LEGS = (1, 4)
ERRORS = (
    (0, 'x [µm]', 1e-6),
    (2, 'z [µm]', 1e-6),
    (3, 'v_x [mm/s]', 1e-3),
    (5, 'v_z [mm/s]', 1e-3),
    (6, 'roll [µrad]', 1e-6),
    (8, 'yaw [µrad]', 1e-6),
)
BIASES = (
    (9, 'λ_x [mm/s²]', 1e-3),
    (11, 'λ_z [mm/s²]', 1e-3),
    (12, 'λ_p [mrad/s]', 1e-3),
    (14, 'λ_r [mrad/s]', 1e-3),
)


def draw_innovations(report: Report, name: str, runs: dict[str, Filtered], checked: str) -> None:
    """Draw innovations of some legs with their bands."""
    drawing, panels = _panels(len(LEGS), runs)
    for column, item in zip(panels.T, runs.values(), strict=True):
        for axes, leg in zip(column, LEGS, strict=True):
            s = item.series
            label = f'leg {leg} [µm]'
            band_plot(axes, s.stamps, s.innovations[:, leg - 1], s.sigmas[:, leg - 1], label, 1e-6)
    report.draw(name, 'Innovations, with the band 2σ (dashed).', drawing, checked)


def draw_errors(report: Report, name: str, runs: dict[str, Filtered], checked: str) -> None:
    """Draw errors of states with their bands."""
    drawing, panels = _panels(len(ERRORS), runs)
    for column, item in zip(panels.T, runs.values(), strict=True):
        for axes, (at, label, unit) in zip(column, ERRORS, strict=True):
            sigmas = item.sigmas[:, at]
            band_plot(axes, item.series.stamps, item.errors[:, at], sigmas, label, unit)
    report.draw(name, 'Errors of the states, with the band 2σ (dashed).', drawing, checked)


def draw_biases(
    report: Report,
    name: str,
    runs: dict[str, Filtered],
    checked: str = '',
    *,
    estimates: bool = False,
) -> None:
    """Draw errors of the biases, or the biases themselves, with their bands."""
    drawing, panels = _panels(len(BIASES), runs)
    for column, item in zip(panels.T, runs.values(), strict=True):
        s = item.series
        found = np.hstack([s.accelerometer_bias, s.gyroscope_bias])
        for axes, (at, label, unit) in zip(column, BIASES, strict=True):
            values = found[:, at - 9] if estimates else item.errors[:, at]
            sigmas = item.sigmas[:, at]
            band_plot(axes, s.stamps, values, sigmas, label, unit, about_zero=not estimates)
    what = 'Biases as found' if estimates else 'Errors of the biases'
    report.draw(name, f'{what}, with the band 2σ (dashed).', drawing, checked)


def draw_states(report: Report, name: str, runs: dict[str, Filtered]) -> None:
    """Draw states with their bands."""
    drawing, panels = _panels(4, runs)
    for column, item in zip(panels.T, runs.values(), strict=True):
        s = item.series
        roll = np.degrees(rpy_from_quaternion(s.quaternion_xyzw)[:, 0])
        lines = (
            ('x [m]', s.position[:, 0], item.sigmas[:, 0]),
            ('z [m]', s.position[:, 2], item.sigmas[:, 2]),
            ('v_x [m/s]', s.linear_velocity[:, 0], item.sigmas[:, 3]),
            ('roll [deg]', roll, np.degrees(item.sigmas[:, 6])),
        )
        for axes, (label, values, sigmas) in zip(column, lines, strict=True):
            band_plot(axes, s.stamps, values, sigmas, label, about_zero=False)
    caption = 'States with a late IMU and Q × 1000; the bands are too narrow to be seen.'
    report.draw(name, caption, drawing)


def draw_comparison(report: Report, name: str, runs: dict[str, Filtered]) -> None:
    """Draw excerpts of the errors of the filter and of Gauss-Newton."""
    drawing, panels = _panels(3, runs)
    for column, item in zip(panels.T, runs.values(), strict=True):
        rows = (item.series.stamps >= 20.0) & (item.series.stamps < 30.0)
        time = item.series.stamps[rows]
        baseline = baseline_errors(item, TRUE_25_HZ)
        for axes, at, unit, label in (
            (column[0], 0, 1e-6, 'x [µm]'),
            (column[1], 6, 1e-6, 'roll [µrad]'),
            (column[2], 3, 1e-3, 'v_x [mm/s]'),
        ):
            ours = item.errors[rows, at] / unit
            axes.plot(time, baseline[rows, at] / unit, linewidth=0.8, label='Gauss–Newton, 25 Hz')
            axes.plot(time, ours, linewidth=0.8, label='filter, Q × 1000')
            axes.set_ylabel(label)
            axes.grid(alpha=0.3)
        printed = baseline_errors(item, AS_PRINTED)[rows, 3] / 1e-3
        column[2].plot(time, printed, linewidth=0.8, label='Gauss–Newton, τ = 0.04 s')
        column[2].legend(fontsize='x-small')
    caption = 'Errors against the truth, IMU 30 ms late; the paper compares with set-points.'
    report.draw(name, caption, drawing, 'ratios of the velocity errors')


def draw_deviations(
    report: Report, name: str, profile: str, prompt: Filtered, late: Filtered
) -> None:
    """Draw standard deviations of the errors of the filter and of Gauss-Newton."""
    drawing = Figure(figsize=(9, 3.5), layout='constrained')
    panels = drawing.subplots(1, 3)
    rows = prompt.series.stamps >= 1.0
    methods = {
        'filter': prompt.errors,
        'filter, IMU late, Q × 1000': late.errors,
        **{f'Gauss–Newton, {key}': baseline_errors(prompt, tau) for key, tau in CUT_OFFS.items()},
    }
    groups = (('position [m]', 0, 'xyz'), ('attitude [rad]', 6, ('φ', 'θ', 'ψ')))
    groups += (('velocity [m/s]', 3, 'uvw'),)
    for axes, (quantity, begin, names) in zip(panels, groups, strict=True):
        for number, (label, errors) in enumerate(methods.items()):
            deviation = errors[rows, begin : begin + 3].std(axis=0)
            axes.bar(np.arange(3) + 0.2 * number - 0.3, deviation, 0.2, label=label)
        axes.set_yscale('log')
        axes.set_xticks(range(3), list(names))
        axes.set_ylabel(f'standard deviation, {quantity}')
        axes.grid(alpha=0.3, axis='y')
    panels[0].legend(fontsize='xx-small')
    caption = f'Standard deviations of the errors on {profile}, against the truth.'
    report.draw(name, caption, drawing, 'ratios of the velocity errors')


def baseline_errors(item: Filtered, time_constant: float) -> Array:
    """Return errors of Gauss-Newton and differentiator in the order of the covariance, (n, 9)."""
    run = item.run
    found = from_legs(run.platform.geometry, run.legs, time_constant)
    turn = compose_quaternions(invert_quaternion(found.quaternion_xyzw), run.truth.quaternion_xyzw)
    return np.hstack(
        [
            run.truth.position - found.position,
            run.truth.linear_velocity - found.linear_velocity,
            log_quaternion(turn),
        ]
    )


def _panels(rows: int, runs: dict[str, Filtered]) -> tuple[Figure, np.ndarray]:
    """Return a figure with one column for each profile."""
    drawing = Figure(figsize=(9, 1.2 + 1.5 * rows), layout='constrained')
    panels = drawing.subplots(rows, len(runs), sharex=True, squeeze=False)
    for axes, name in zip(panels[0], runs, strict=True):
        axes.set_title(name)
    for axes in panels[-1]:
        axes.set_xlabel('time [s]')
    return drawing, panels
