# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a vehicle does, as recorded: specific force and angular rate at the pilot's head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from stewart_cueing.errors import VehicleInputError
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Array, read_only
from stewart_tables.columns import TIME
from stewart_tables.csv_tables import read_table
from stewart_tables.errors import counted

COLUMNS = ('fx_mps2', 'fy_mps2', 'fz_mps2', 'p_radps', 'q_radps', 'r_radps')
"""As of an IMU, in the vehicle's axes x forward, y left, z up."""

LONGEST = 3600.0
"""Longest ride that is played as a whole [s]."""

FASTEST, DOUBTED = 10.0, 1.5
"""Rates above the first are not those of a vehicle; a hundredth of the samples above the second
may be in deg/s, which is told [rad/s]."""

STRONGEST = 200.0
"""No vehicle that carries a person has a greater specific force [m/s²]."""

DENSE = 2.0
"""More samples than so many between two that are taken are averaged, not picked from."""

HOLE = 1.0
"""A longer time between two samples is a hole in any recording [s]."""

SLOW, MISSING = 0.2, 5.0
"""Samples that are usually farther apart may have times in milliseconds, which is told [s]; a
longer time, and so many usual ones, is a hole in a faster recording [-]."""

LEANING = np.radians(15.0)
"""Where the mean specific force is farther from z, the sensor may not have been level [rad]."""

RESTING = (3.0, 30.0)
"""Bounds of the mean specific force along z [m/s²]: neither g, nor ft/s², nor without gravity."""


@dataclass(frozen=True, eq=False)
class VehicleRide:
    """Samples of a ride, from time 0 on.

    Attributes:
        time (n,): Increasing [s].
        samples (n, 6): Specific force [m/s²] and angular rate [rad/s] in the vehicle's axes.
        remarks: What is odd about it, one sentence each.

    Raises:
        VehicleInputError: If there are fewer than two samples, one is not finite, turns faster
            than `FASTEST` or has more force than `STRONGEST`, times do not increase, are longer
            than `LONGEST` or have more holes than steps, or the mean of fz is outside `RESTING`.
    """

    time: Array
    samples: Array
    remarks: tuple[str, ...] = ()

    @classmethod
    def recorded(cls, time: Array, samples: Array, places: Sequence[str]) -> VehicleRide:
        """Make a ride of samples (n, 6) as a logger wrote them.

        Those that are not finite or six zeros are left out, and the last one of an instant counts.

        Args:
            time, samples: As the attributes.
            places (n,): Where each sample stands, for messages.

        Raises:
            VehicleInputError: If time goes back, or as of the class.
        """
        finite = np.flatnonzero(np.isfinite(np.column_stack([time, samples])).all(axis=1))
        steps = np.diff(time[finite], append=np.inf)
        late = finite[1:][steps[:-1] < 0.0]
        if late.size:
            n = int(late[0])
            raise VehicleInputError(
                f'{places[n]}: time must not go back, and {time[n]:.6f} s follow a later sample'
            )
        kept = finite[steps > 0.0]
        measured = kept[samples[kept].any(axis=1)]
        if not measured.size:  # of a rest without gravity, which the class refuses by its name
            measured = kept
        remarks = []
        for left, why in (
            (len(time) - finite.size, 'are not finite'),
            (finite.size - kept.size, 'have the time of the next one'),
            (kept.size - measured.size, 'are six zeros, which no sensor measures'),
        ):
            if left:
                remarks.append(f'{left} of {len(time)} samples {why}: left out')
        if measured.size < 2:
            raise VehicleInputError('; '.join([_too_few(measured.size), *remarks]))
        return cls(time[measured], samples[measured], tuple(remarks))

    def __post_init__(self) -> None:
        """Copy and check."""
        time, samples = read_only(self.time), read_only(self.samples)
        if len(time) < 2 or samples.shape != (len(time), 6):
            raise VehicleInputError(_too_few(len(time)))
        bad = np.flatnonzero(~np.isfinite(np.column_stack([time, samples])).all(axis=1))
        if bad.size:
            raise VehicleInputError(f'sample {bad[0]} is not finite: {samples[bad[0]].tolist()}')
        if not (np.diff(time) > 0.0).all():
            late = int(np.argmin(np.diff(time) > 0.0)) + 1
            raise VehicleInputError(
                f'time must increase, and sample {late} of {time[late]:.6f} s follows one of '
                f'{time[late - 1]:.6f} s'
            )
        if (usual := float(np.median(np.diff(time)))) > HOLE:
            raise VehicleInputError(
                f'{usual:g} s between two samples, allowed are {HOLE:g} s: are the times in '
                'milliseconds?'
            )
        if time[-1] - time[0] > LONGEST:
            raise VehicleInputError(
                f'a ride of {time[-1] - time[0]:g} s: at most {LONGEST:g} s are played'
            )
        forces, rates = (np.abs(part).max(axis=1) for part in np.split(samples, 2, axis=1))
        if rates.max() > FASTEST:
            raise VehicleInputError(
                f'the sample of {time[rates.argmax()]:.3f} s turns with {rates.max():.3g} rad/s, '
                f'allowed are {FASTEST:g}: are the rates in deg/s?'
            )
        if forces.max() > STRONGEST:
            raise VehicleInputError(
                f'the sample of {time[forces.argmax()]:.3f} s has {forces.max():.3g} m/s², '
                f'allowed are {STRONGEST:g}'
            )
        if complaint := doubt(float(samples[:, 2].mean())):
            raise VehicleInputError(complaint)
        object.__setattr__(self, 'time', time - time[0])
        object.__setattr__(self, 'samples', samples)
        object.__setattr__(self, 'remarks', (*self.remarks, *self._doubts(rates)))

    def _doubts(self, rates: Array) -> Iterator[str]:
        """Yield what is odd about times and rates (n,) [rad/s]."""
        steps = np.diff(self.time)
        usual = float(np.median(steps))
        hole = min(max(SLOW, MISSING * usual), HOLE)
        if count := int((steps > hole).sum()):
            longest = int(steps.argmax())
            others = (
                f', {counted(count - 1, "more time")} for over {hole:.2g} s' if count > 1 else ''
            )
            yield (
                f'nothing was recorded for {steps[longest]:.3g} s from {self.time[longest]:.3f} s '
                f'on{others}: bridged linearly'
            )
        if usual > SLOW:
            yield (
                f'{usual:g} s between two samples: what is faster is lost; are the times in '
                'milliseconds?'
            )
        if (fast := float(np.percentile(rates, 99.0))) > DOUBTED:
            yield f'1 % of the samples turn with {fast:.3g} rad/s or more: are the rates in deg/s?'
        x, y, z = self.samples[:, :3].mean(axis=0)
        if (lean := float(np.arctan2(np.hypot(x, y), z))) > LEANING:
            yield (
                f'the mean specific force is {np.degrees(lean):.0f}° from z ({x:.3g} m/s² along '
                f'x, {y:.3g} along y), and plays as a lasting tilt: was the sensor level?'
            )

    def at_rate(self, rate: float) -> tuple[Array, Array]:
        """Return times (m,) [s] and samples (m, 6) at a rate [Hz], interpolated linearly.

        Where the ride has more than `DENSE` samples a period, each is the mean over a period about
        its instant: vibration above the rate would come back as slow motion.

        Raises:
            VehicleInputError: If the ride is shorter than one period.
        """
        if self.time[-1] * rate < 1.0:
            raise VehicleInputError(
                f'a ride of {1e3 * self.time[-1]:.3g} ms is shorter than the {1e3 / rate:g} ms '
                'between two setpoints: are the times in s?'
            )
        time = np.arange(int(self.time[-1] * rate) + 1) / rate
        if float(np.median(np.diff(self.time))) * rate * DENSE < 1.0:
            return time, self._means(time, 0.5 / rate)
        columns = [np.interp(time, self.time, column) for column in self.samples.T]
        return time, np.column_stack(columns)

    def _means(self, time: Array, reach: float) -> Array:
        """Return the means (m, 6) over `reach` before and after times (m,) within the ride [s]."""
        begin, end = np.maximum(time - reach, 0.0), np.minimum(time + reach, self.time[-1])
        instants = np.union1d(self.time, np.concatenate([begin, end]))
        # Each period begins where the one before ends, and a sum of its own keeps a wild sample
        # to its period.
        first, last = np.searchsorted(instants, begin), int(np.searchsorted(instants, end[-1]))
        steps, means = np.diff(instants)[:last], np.empty((time.size, 6))
        for column, samples in zip(means.T, self.samples.T, strict=True):
            values = np.interp(instants, self.time, samples)
            areas = (0.5 * values[1 : last + 1] + 0.5 * values[:last]) * steps
            column[:] = np.add.reduceat(areas, first) / (end - begin)
        return means


def _too_few(count: int) -> str:
    return f'expected two samples of six numbers or more, got {count}'


def require_of_a_vehicle(sample: Array) -> None:
    """Raise `VehicleInputError` if specific force and rate (6,) are none that a person stands.

    Six zeros are none either: a sensor or simulator that has not begun.
    """
    if sample.shape != (6,) or not np.isfinite(sample).all():
        raise VehicleInputError(
            f'expected six finite numbers [m/s², rad/s], got {sample.tolist()}'
        )
    if not sample.any():
        raise VehicleInputError(
            'six zeros are no sample: a sensor at rest has +9.81 m/s² along z (gravity is not '
            'removed)'
        )
    force, rate = (float(np.abs(part).max()) for part in (sample[:3], sample[3:]))
    if force > STRONGEST or rate > FASTEST:
        raise VehicleInputError(
            f'no vehicle has {sample.tolist()}, allowed are numbers up to {STRONGEST:g} m/s² and '
            f'{FASTEST:g} rad/s'
        )


def doubt(mean: float) -> str:
    """Return why a mean specific force along z [m/s²] is none of a vehicle; empty if it is."""
    low, high = RESTING
    if low <= mean <= high:
        return ''
    return (
        f'the mean of fz is {mean:.3g} m/s², allowed are {low:g} to {high:g}: z is upwards, units '
        'are m/s², and the specific force a - g of rest is +9.81 m/s² (gravity is not removed)'
    )


def read_ride(source: str | Path) -> VehicleRide:
    """Read a ride from a CSV file with `time_s` and `COLUMNS`; ``-`` is standard input.

    A row with an empty cell or ``nan``, or of six zeros, is left out.

    Raises:
        ConfigurationError: If a column is missing or another cell is not a finite number.
        VehicleInputError: If the samples make no ride.
    """
    columns = (TIME, *COLUMNS)
    try:
        table = read_table(source, columns, gaps=columns)
        values = table.take(columns)
    except ConfigurationError as error:
        # What is said of a cell names its column behind the line.
        if not error.key.rpartition(':')[2].isdigit():
            raise
        expected = f'{error.expected} (of other names, units and marks stewart import makes a bag)'
        raise ConfigurationError(error.key, error.value, expected) from error
    places = [f'{table.source}:{line}' for line in table.lines]
    return VehicleRide.recorded(values[:, 0], values[:, 1:], places)
