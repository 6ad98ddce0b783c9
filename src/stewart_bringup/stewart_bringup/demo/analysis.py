# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the report: everything from the bag, but for the publishers' own counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from stewart_bags.series import Series
from stewart_bringup.demo.machine import because_late, Machine
from stewart_bringup.demo.recording import Recording
from stewart_bringup.demo.scenarios import Bounds
from stewart_bringup.demo.tracking import (
    compare_forces,
    Forces,
    largest,
    latencies,
    Latency,
    root_mean_square,
    track,
    Tracking,
)
from stewart_kinematics.model.leg_kinds import LegKind, LINEAR, ROTARY


@dataclass(frozen=True)
class Check:
    """One thing that had to hold.

    Attributes:
        found, bound: What was found and what was asked, with units.
        meaning: What it means if it does not hold, and what to do.
        real_time: Whether a machine that is late can spoil it.
        pace: Whether it tells of nothing but how fast machine and nodes are: rates and latency.
        excused: Whether it is one of pace, or the machine was late, as measured in the same run.
        excess: By how much the bound was left; empty where that is no number.
    """

    name: str
    found: str
    bound: str
    held: bool
    meaning: str
    real_time: bool = False
    pace: bool = False
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
        pace: bool = False,
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
            real_time or pace,
            pace,
            excess=f'{abs(value - bound):.{digits}f} {unit} {much}',
        )

    def beside(self, machine: Machine) -> Check:
        """Return the check as it is judged beside what the machine did meanwhile."""
        spoilt = self.pace or (self.real_time and machine.late)
        return replace(self, excused=spoilt and not self.held)

    @property
    def failed(self) -> bool:
        """Whether it did not hold and nothing excuses that."""
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


FAULT = 4
# All rigs of a domain publish there, whatever their namespaces are.
SHARED = '/diagnostics'
FAULTS = 'driver faults'
DEGREES = float(np.degrees(1.0))
# Rates of simulated time are exact but for the rounding of seconds: [Hz] and [s].
EXACT = 1e-6

# What it means if a check does not hold, and what to do.
LOST = (
    'messages were published that the bag does not have, so every figure here has gaps; '
    'look at the diagnostics of the recorder, and for a full disk'
)
SLOW = (
    'nodes did not get round to their work often enough, the platform moves in coarser steps; '
    'look for the load on the machine'
)
UNEVEN = (
    'simulated time left out or repeated a step of a node: an error of this suite, for no load '
    'can do that; please report it with the bag'
)
ASTRAY = (
    'the platform has left the path that was asked for: wrong geometry, gains or drives that do '
    'not follow; look at the error in the report, leg by leg'
)
SLUGGISH = (
    'the strokes show a setpoint later than playout delay and drives explain; compare '
    'playout_delay and the delay of the strokes in the report'
)
IGNORED = (
    'strokes did not come to what was commanded within half a second: a setpoint was dropped or '
    'a drive does not follow; look at strokes against commands in the report'
)
STOPPED = (
    'the driver has stopped the platform, which a rule of safety asks for; its reason says which, '
    'docs/troubleshooting.md what to do'
)


@dataclass(frozen=True)
class LegUnits:
    """Words and units of one family of legs.

    Attributes:
        quantity: Position of the joint that is driven.
        unit, scale: Of a position, and how many of it are one m or rad.
        fine_unit: A thousandth of it, for errors.
        effort, effort_unit: What a drive exerts.
    """

    quantity: str
    unit: str
    scale: float
    fine_unit: str
    effort: str
    effort_unit: str

    @classmethod
    def of(cls, kind: LegKind) -> LegUnits:
        """Return those of a family of legs."""
        if kind is ROTARY:
            degrees = float(np.degrees(1.0))
            return cls(kind.quantity, '°', degrees, 'm°', 'torque', kind.effort_unit)
        return cls(kind.quantity, 'mm', 1e3, 'µm', 'force', kind.effort_unit)

    @property
    def quantities(self) -> str:
        """Positions of all joints that are driven, in words."""
        return f'{self.quantity}s'

    @property
    def fine_scale(self) -> float:
        """How many of `fine_unit` are one m or rad."""
        return 1e3 * self.scale

    def told_effort(self, value: float, digits: int = 2) -> str:
        """Return an effort as text; torques, which may be some mN m, with three digits."""
        return f'{value:.3g}' if self.effort == 'torque' else f'{value:.{digits}f}'


@dataclass(frozen=True)
class Traffic:
    """One topic: what was published and what arrived in the bag.

    Attributes:
        topic: Full name.
        published, recorded: Messages by the publishers' counters, and in the bag.
        rate: Mean rate while setpoints came [Hz]; NaN where nothing is expected to be regular.
        longest_gap: Longest time between two neighbours then [s]; NaN likewise.
    """

    topic: str
    published: int
    recorded: int
    rate: float = float('nan')
    longest_gap: float = float('nan')

    @property
    def lost(self) -> int:
        """Messages that were published and are not in the bag."""
        lost = self.published - self.recorded
        return max(lost, 0) if self.topic == SHARED else lost


@dataclass(frozen=True)
class Result:
    """Everything the report says about one scenario, and how what belongs to legs is told."""

    tracking: Tracking
    latency: Latency
    forces: Forces | None
    traffic: tuple[Traffic, ...]
    checks: tuple[Check, ...]
    legs: LegUnits

    @property
    def following(self) -> float:
        """What 95 % of the following errors of the strokes along the path stay below [m].

        Of cranks [rad]. Not their root mean square, which one pause of the machine would decide.
        """
        return float(np.percentile(np.abs(self.tracking.path.strokes), 95))

    @property
    def passed(self) -> bool:
        """Whether no check failed; real time that was not kept is no failure."""
        return not any(check.failed for check in self.checks)


def analyse(
    recording: Recording,
    published: Mapping[str, int],
    bounds: Bounds,
    machine: Machine | None = None,
    kind: LegKind = LINEAR,
) -> Result:
    """Make the figures of one scenario from its bag and the publishers' own counters, by topic.

    Args:
        machine: How punctual the machine was; None where its time does not count.
    """
    tracking = track(recording.setpoints, recording.commands, recording.actuators, recording.poses)
    latency = latencies(recording.commands, recording.actuators)
    traffic = _traffic(recording, published)
    checks = (
        *_message_checks(traffic, bounds),
        *_motion_checks(tracking, latency, bounds),
        _driver_check(recording),
    )
    if machine is not None:
        checks = tuple(check.beside(machine) for check in checks)
    forces = compare_forces(recording.efforts, recording.actuators, tracking.delay)
    return Result(tracking, latency, forces, traffic, checks, LegUnits.of(kind))


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
    checks = [Check('lost messages', named or '0', '0', not lost, LOST)]
    for item in traffic:
        if np.isnan(item.rate):
            continue
        name = f'rate of {item.topic}'
        if bounds.real_time:
            low = bounds.least_rate_share * bounds.rate
            checks.append(
                Check.bounded(name, item.rate, low, 'Hz', SLOW, digits=1, pace=True, least=True)
            )
        else:
            gap = 1.0 / bounds.rate
            even = abs(item.rate - bounds.rate) < EXACT and item.longest_gap < gap + EXACT
            found = f'{item.rate:.3f} Hz, longest gap {1e3 * item.longest_gap:.3f} ms'
            asked = f'{bounds.rate:g} Hz, {1e3 * gap:g} ms'
            checks.append(Check(name, found, asked, even, UNEVEN))
    return checks


def _motion_checks(tracking: Tracking, latency: Latency, bounds: Bounds) -> list[Check]:
    p99 = float(np.percentile(latency.executed, 99)) if len(latency.executed) else float('inf')
    timed, where = bounds.real_time, '' if bounds.real_time else ', in simulated time'
    checks = []
    for name, errors, scale, bound, unit in (
        ('path error, position', tracking.path.position, 1e3, bounds.path_position, 'mm'),
        ('path error, attitude', tracking.path.rotation, DEGREES, bounds.path_rotation, '°'),
    ):
        lengths = scale * np.linalg.norm(errors, axis=1)
        if timed:
            # Late cycles tear single moments off the path; wrong physics is wrong all the time.
            middle = float(np.median(lengths))
            checks.append(Check.bounded(f'{name}, median', middle, scale * bound, unit, ASTRAY))
        most = float(lengths.max())
        checks.append(
            Check.bounded(f'{name}, max', most, scale * bound, unit, ASTRAY, real_time=timed)
        )
    unreached = latency.unreached
    return [
        *checks,
        Check.bounded(
            f'end-to-end latency{where}, p99',
            1e3 * p99,
            1e3 * bounds.latency,
            'ms',
            SLUGGISH,
            digits=1,
            pace=timed,
        ),
        Check('setpoints never executed', str(unreached), '0', not unreached, IGNORED, timed),
    ]


def _driver_check(recording: Recording) -> Check:
    states = recording.driver_states
    faults = [
        reason for state, reason in zip(states.state, states.reason, strict=True) if state == FAULT
    ]
    late = bool(faults) and all(map(because_late, faults))
    return Check(FAULTS, '; '.join(faults) or '0', '0', not faults, STOPPED, real_time=late)


def summary(result: Result) -> dict[str, tuple[float, float]]:
    """Return root mean square and maximum of every error [mm, degrees], by name of the row."""
    rows, tracking, legs = {}, result.tracking, result.legs
    for label, errors in (('same instant', tracking.instant), ('along the path', tracking.path)):
        for quantity, unit, values in (
            ('position', 'mm', 1e3 * errors.position),
            ('attitude', '°', np.degrees(errors.rotation)),
        ):
            rows[f'{quantity}, {label} [{unit}]'] = root_mean_square(values), largest(values)
        strokes = legs.scale * errors.strokes
        rows[f'{legs.quantities}, {label} [{legs.unit}]'] = (
            float(np.sqrt(np.mean(np.square(strokes)))),
            float(np.abs(strokes).max()),
        )
    return rows
