# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the report: everything from the bag, but for the publishers' own counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from stewart_bags.series import Series
from stewart_bringup.demo.forces import compare, Forces
from stewart_bringup.demo.latency import latencies, Latency
from stewart_bringup.demo.recording import Recording
from stewart_bringup.demo.scenarios import Bounds
from stewart_bringup.demo.tracking import largest, root_mean_square, track, Tracking

FAULT = 4
FAULTS = 'driver faults'


@dataclass(frozen=True)
class Traffic:
    """
    One topic: what was published and what arrived in the bag.

    Attributes
    ----------
    topic : str
        Full name.
    published, recorded : int
        Messages by the publishers' counters, and in the bag.
    rate : float
        Mean rate while setpoints came [Hz]; NaN where nothing is expected to be regular.
    longest_gap : float
        Longest time between two neighbours then [s]; NaN likewise.

    """

    topic: str
    published: int
    recorded: int
    rate: float = float('nan')
    longest_gap: float = float('nan')

    @property
    def lost(self) -> int:
        """Messages that were published and are not in the bag."""
        return self.published - self.recorded


@dataclass(frozen=True)
class Check:
    """
    One thing that had to hold.

    Attributes
    ----------
    name : str
        What.
    found, bound : str
        What was found and what was asked, with units.
    held : bool
        Whether it held.

    """

    name: str
    found: str
    bound: str
    held: bool


@dataclass(frozen=True)
class Result:
    """Everything the report says about one scenario."""

    tracking: Tracking
    latency: Latency
    forces: Forces | None
    traffic: tuple[Traffic, ...]
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check held."""
        return all(check.held for check in self.checks)


def analyse(recording: Recording, published: Mapping[str, int], bounds: Bounds) -> Result:
    """
    Make the figures of one scenario.

    Parameters
    ----------
    recording : Recording
        What the bag holds.
    published : mapping of str to int
        Messages by topic, from the publishers' own counters.
    bounds : Bounds
        What has to hold.

    Returns
    -------
    Result
        Figures and checks.

    """
    tracking = track(recording.setpoints, recording.commands, recording.actuators, recording.poses)
    latency = latencies(recording.commands, recording.actuators)
    traffic = _traffic(recording, published)
    checks = (
        *_message_checks(traffic, bounds),
        *_motion_checks(tracking, latency, bounds),
        _driver_check(recording),
    )
    forces = compare(recording.efforts, recording.actuators, tracking.delay)
    return Result(tracking, latency, forces, traffic, checks)


def _traffic(recording: Recording, published: Mapping[str, int]) -> tuple[Traffic, ...]:
    stamps = recording.setpoints.bag_time_ns
    begin, end = int(stamps[0]), int(stamps[-1])
    regular: dict[str, Series] = {
        series.topic: series
        for series in (
            recording.setpoints,
            recording.commands,
            recording.actuators,
            recording.poses,
            recording.efforts,
        )
        if series is not None
    }
    found = []
    for topic in sorted({*published, *recording.counts}):
        counts = published.get(topic, 0), recording.counts.get(topic, 0)
        if topic not in regular:
            found.append(Traffic(topic, *counts))
            continue
        times = regular[topic].bag_time_ns
        times = times[(times >= begin) & (times <= end)]
        steps = np.diff(times) / 1e9
        rate = len(steps) / ((times[-1] - times[0]) / 1e9) if len(steps) else 0.0
        found.append(Traffic(topic, *counts, float(rate), float(steps.max(initial=0.0))))
    return tuple(found)


def _message_checks(traffic: tuple[Traffic, ...], bounds: Bounds) -> list[Check]:
    lost = {item.topic: item.lost for item in traffic if item.lost}
    named = ', '.join(f'{count} of {topic}' for topic, count in lost.items())
    checks = [Check('lost messages', named or '0', '0', not lost)]
    for item in traffic:
        if np.isnan(item.rate):
            continue
        least = bounds.least_rate_share * bounds.rate
        checks.append(
            Check(
                f'rate of {item.topic}',
                f'{item.rate:.1f} Hz',
                f'at least {least:.1f} Hz',
                item.rate >= least,
            )
        )
    return checks


def _motion_checks(tracking: Tracking, latency: Latency, bounds: Bounds) -> list[Check]:
    position, rotation = largest(tracking.path.position), largest(tracking.path.rotation)
    p99 = float(np.percentile(latency.executed, 99)) if len(latency.executed) else float('inf')
    return [
        Check(
            'path error, position, max',
            f'{1e3 * position:.3f} mm',
            f'at most {1e3 * bounds.path_position:g} mm',
            position <= bounds.path_position,
        ),
        Check(
            'path error, attitude, max',
            f'{np.degrees(rotation):.4f}°',
            f'at most {np.degrees(bounds.path_rotation):.3g}°',
            rotation <= bounds.path_rotation,
        ),
        Check(
            'end-to-end latency, p99',
            f'{1e3 * p99:.1f} ms',
            f'at most {1e3 * bounds.latency:g} ms',
            p99 <= bounds.latency,
        ),
        Check('setpoints never executed', str(latency.unreached), '0', latency.unreached == 0),
    ]


def _driver_check(recording: Recording) -> Check:
    states = recording.driver_states
    faults = [
        reason for state, reason in zip(states.state, states.reason, strict=True) if state == FAULT
    ]
    return Check(FAULTS, '; '.join(faults) or '0', '0', not faults)


def summary(tracking: Tracking) -> dict[str, tuple[float, float]]:
    """
    Return root mean square and maximum of every error, in mm and degrees.

    Parameters
    ----------
    tracking : Tracking
        Errors of one scenario.

    Returns
    -------
    dict of str to (float, float)
        By the name of the row.

    """
    rows = {}
    for label, errors in (('same instant', tracking.instant), ('along the path', tracking.path)):
        for quantity, unit, values in (
            ('position', 'mm', 1e3 * errors.position),
            ('attitude', '°', np.degrees(errors.rotation)),
        ):
            rows[f'{quantity}, {label} [{unit}]'] = root_mean_square(values), largest(values)
        strokes = 1e3 * errors.strokes
        rows[f'strokes, {label} [mm]'] = (
            float(np.sqrt(np.mean(np.square(strokes)))),
            float(np.abs(strokes).max()),
        )
    return rows
