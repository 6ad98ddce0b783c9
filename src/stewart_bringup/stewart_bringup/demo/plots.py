# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of one scenario, and its state estimate beside the truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from stewart_bringup.demo.analysis import Result
from stewart_bringup.demo.recorded_estimate import estimate_section
from stewart_bringup.demo.recording import Recording
from stewart_bringup.demo.report import errors_table
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.plotting import draw_geometry
from stewart_kinematics.spatial import rpy_from_quaternion
from stewart_tables.page import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 9.0
# A quantity that hardly moves is drawn on this scale at least, or its noise fills the picture.
SMALLEST_SPAN = {'mm': 2.0, '°': 0.1}
# The latency's axis is at least so long [ms].
LEAST_LATENCY_SPAN = 10.0
LATENCY = 'End-to-end latency: setpoint stamp to the actuator state that has executed it'
LEG_COLOURS = ('tab:blue', 'tab:orange', 'tab:green', 'tab:red', 'tab:purple', 'tab:brown')


def pictures(recording: Recording, result: Result) -> dict[str, Figure]:
    """Draw what belongs to one scenario, by caption, in the report's order."""
    legs = result.legs
    moved = f'{legs.quantities.capitalize()} and leg rates'
    makers: dict[str, Callable[[Recording, Result], Figure]] = {
        'Pose about its mean: commanded (thin line) and achieved': _poses,
        f'{moved}: commanded (thin line) and measured': _legs,
        'Tracking error along the path, the constant delay taken out': _errors,
    }
    # Where no setpoint was executed there is nothing to draw, and a check has failed.
    if len(result.latency.executed):
        makers[LATENCY] = _latency
    if result.forces is not None:
        makers[f'Leg {legs.effort}s: feed-forward (thin line) and delivered'] = _forces
    return {caption: make(recording, result) for caption, make in makers.items()}


def _new(rows: int, columns: int, height: float, **shared: Any) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout='constrained')
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def cover(recording: Recording, result: Result, platform: str) -> Figure:
    """Draw the platform with the path of its origin, height, and path error over time."""
    from matplotlib.figure import Figure

    setpoints, poses, tracking = recording.setpoints, recording.poses, result.tracking
    figure = Figure(figsize=(7.0, 3.6), layout='constrained')
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.3))
    space: Any = figure.add_subplot(grid[:, 0], projection='3d')
    draw_geometry(space, Platform.from_yaml(platform))
    space.plot(*(1e3 * setpoints.position).T, color='tab:red', linewidth=1.0)
    space.set_axis_off()
    space.set_title('')
    height: Any = figure.add_subplot(grid[0, 1])
    error: Any = figure.add_subplot(grid[1, 1], sharex=height)
    origin = int(setpoints.stamp_ns[0])
    for source, style, name in (
        (poses, {'color': 'tab:cyan', 'linewidth': 3}, 'achieved'),
        (setpoints, {'color': 'black', 'linewidth': 0.8}, 'commanded'),
    ):
        height.plot(source.seconds(origin), 1e3 * source.position[:, 2], label=name, **style)
    height.legend(fontsize=8, ncols=2, frameon=False, loc='lower right', bbox_to_anchor=(1.0, 1.0))
    height.tick_params(labelbottom=False)
    lengths = 1e3 * np.linalg.norm(tracking.path.position, axis=1)
    error.plot(tracking.pose_time, lengths, color='tab:red', linewidth=0.8)
    height.set_ylabel('z [mm]')
    error.set(ylabel='path error [mm]', xlabel='time [s]', ylim=(0.0, None))
    for axis in (height, error):
        axis.grid(alpha=0.3)
    return figure


def _finish(figure: Figure, axes: Any, *, legs: bool = False) -> Figure:
    """Add grids, the label of the time, and the colours of the legs above the first plot."""
    for axis in axes.flat:
        axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel('time [s]')
    if legs:
        above = {'loc': 'lower center', 'bbox_to_anchor': (0.5, 1.0)}
        axes[0, 0].legend(ncols=6, fontsize=8, **above)
    return figure


def _poses(recording: Recording, _: Result) -> Figure:
    setpoints, poses = recording.setpoints, recording.poses
    origin = int(setpoints.stamp_ns[0])
    figure, axes = _new(2, 3, 4.8, sharex=True)
    wanted, reached = (
        np.degrees(rpy_from_quaternion(part.quaternion_xyzw)) for part in (setpoints, poses)
    )
    rows = (
        ('mm', 1e3 * setpoints.position, 1e3 * poses.position, 'xyz'),
        ('°', wanted, reached, ('roll', 'pitch', 'yaw')),
    )
    for row, (unit, commanded, achieved, names) in zip(axes, rows, strict=True):
        for column, (axis, name) in enumerate(zip(row, names, strict=True)):
            middle = commanded[:, column].mean()
            axis.plot(
                poses.seconds(origin), achieved[:, column] - middle, color='tab:cyan', linewidth=3
            )
            axis.plot(setpoints.seconds(origin), commanded[:, column] - middle, 'k', linewidth=0.8)
            low, high = axis.get_ylim()
            missing = max(SMALLEST_SPAN[unit] - (high - low), 0.0)
            axis.set_ylim(low - 0.5 * missing, high + 0.5 * missing)
            axis.set_title(f'{name} [{unit}]', fontsize=9)
    return _finish(figure, axes)


def _legs(recording: Recording, result: Result) -> Figure:
    commands, actuators, legs = recording.commands, recording.actuators, result.legs
    origin = int(recording.setpoints.stamp_ns[0])
    figure, axes = _new(2, 1, 5.2, sharex=True)
    rows = (
        (f'{legs.quantity} [{legs.unit}]', commands.position, actuators.position),
        (f'rate [{legs.unit}/s]', commands.velocity, actuators.velocity),
    )
    for axis, (name, *values) in zip(axes[:, 0], rows, strict=True):
        commanded, measured = (legs.scale * part for part in values)
        for leg, colour in enumerate(LEG_COLOURS):
            label = f'leg {leg + 1}'
            time = actuators.seconds(origin)
            axis.plot(time, measured[:, leg], color=colour, linewidth=2, label=label)
            axis.plot(commands.seconds(origin), commanded[:, leg], 'k', linewidth=0.5)
        axis.set_ylabel(name)
    return _finish(figure, axes, legs=True)


def _errors(_: Recording, result: Result) -> Figure:
    tracking, legs = result.tracking, result.legs
    strokes = legs.fine_scale * tracking.path.strokes
    figure, axes = _new(3, 1, 5.2, sharex=True)
    rows = (
        ('position [µm]', tracking.pose_time, 1e6 * tracking.path.position, 'xyz'),
        ('attitude [m°]', tracking.pose_time, 1e3 * np.degrees(tracking.path.rotation), 'xyz'),
        (f'{legs.quantities} [{legs.fine_unit}]', tracking.stroke_time, strokes, '123456'),
    )
    for axis, (name, time, values, labels) in zip(axes[:, 0], rows, strict=True):
        for column, label in enumerate(labels):
            axis.plot(time, values[:, column], linewidth=0.7, label=label)
        axis.set_ylabel(name)
        axis.legend(ncols=6, fontsize=7, loc='lower right', bbox_to_anchor=(1.0, 1.0))
    return _finish(figure, axes)


def _latency(_: Recording, result: Result) -> Figure:
    milliseconds = 1e3 * result.latency.executed
    figure, ((axis,),) = _new(1, 1, 2.8)
    low, high = milliseconds.min(), milliseconds.max()
    # In simulated time all are alike: one bar, beside which there is room.
    room = max(0.5 * (LEAST_LATENCY_SPAN - (high - low)), 0.0)
    axis.hist(milliseconds, bins=80, range=(low - room, high + room), color='tab:cyan')
    for share, style in ((50, '-'), (99, '--'), (100, ':')):
        value = float(np.percentile(milliseconds, share))
        name = 'max' if share == 100 else f'p{share}'
        axis.axvline(value, color='k', linestyle=style, label=f'{name} {value:.1f} ms')
    axis.set(xlabel='latency [ms]', ylabel='setpoints', yscale='log', ylim=(0.7, None))
    axis.legend(fontsize=8)
    return figure


def _forces(_: Recording, result: Result) -> Figure:
    forces, legs = result.forces, result.legs
    assert forces is not None
    figure, axes = _new(2, 1, 5.2, sharex=True)
    for leg, colour in enumerate(LEG_COLOURS):
        delivered, commanded = forces.delivered[:, leg], forces.commanded[:, leg]
        axes[0, 0].plot(forces.time, delivered, color=colour, linewidth=2, label=f'leg {leg + 1}')
        axes[0, 0].plot(forces.time, commanded, 'k', linewidth=0.5)
        axes[1, 0].plot(forces.time, delivered - commanded, color=colour, linewidth=0.7)
    axes[0, 0].set_ylabel(f'{legs.effort} [{legs.effort_unit}]')
    axes[1, 0].set_ylabel(f'delivered minus\nfeed-forward [{legs.effort_unit}]')
    return _finish(figure, axes, legs=True)


def compare_estimate(recording: Recording, bag: Path, platform: str) -> list[str]:
    """Tell how the live estimate of a bag compares to the truth; nothing without one of the two.

    Raises:
        stewart_estimation.errors.EstimationError: If estimate and truth have no time in common.
    """
    names = {topic.rpartition('/')[2] for topic, count in recording.counts.items() if count}
    if not {'odometry', 'truth'} <= names:
        return []
    geometry = Platform.from_yaml(platform).geometry
    section = estimate_section(bag, geometry)
    told = [
        '<h3>State estimate against the truth of the virtual rig</h3>',
        errors_table('truth minus', section.figures()),
        f'<p>{100 * section.inside:.1f} % of the errors of position and velocity lie inside the '
        'two standard deviations that the estimator claims; the estimator never sees the '
        'truth.</p>',
    ]
    if section.fit is not None:
        nis = section.fit.consistency.mean_nis
        squared = (
            'no normalised innovation squared was published'
            if np.isnan(nis)
            else f'the normalised innovation squared is {nis:.2f} on average, 6 is expected'
        )
        told.append(
            f'<p>{100 * section.fit.consistency.inside:.1f} % of the innovations lie inside two '
            f'standard deviations, 95.4 % are expected; {squared}.</p>'
        )
    return told + [drawing(*item) for item in section.pictures().items()]
