# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums of sines in six axes: travel and three Euler angles."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import ConfigurationError, TrajectoryError
from stewart_kinematics.model.schema import read_yaml, Section
from stewart_kinematics.motion import Array, Motion, Pose, read_only
from stewart_kinematics.trajectories.attitude import check_sequence, from_euler
from stewart_kinematics.trajectories.trajectory import check_duration, clamp

AXES = ('x_m', 'y_m', 'z_m', 'first_rad', 'second_rad', 'third_rad')
"""Axes in the order of the arrays: travel, then the angles in the order of the sequence."""


@dataclass(frozen=True, eq=False)
class MultiSine:
    r"""Six sums of sines about a centre.

    Axis :math:`j` deviates by
    :math:`c_j + \sum_k a_{jk} \sin(\omega_{jk} t + \phi_{jk})`. The first three are travel in base
    axes, the others Euler angles in the order of `sequence`, each about the axes already turned;
    their rotation is applied after the centre's: :math:`R = R_{euler}(t) R_{centre}`.

    Attributes:
        centre: Pose about which the motion goes.
        sequence: Axes of the three rotations, like ``'ZXY'``.
        amplitude (6, n): Amplitudes, of any sign [m, rad].
        angular_frequency (n,): Angular frequencies, at least 0 [rad/s].
        phase (6, n): Phases [rad].
        offset (6,): Constant parts [m, rad]; 0 by default.
        duration: Duration [s]; infinite by default.

    Raises:
        TrajectoryError: If shapes differ or a value cannot be used.
    """

    centre: Pose
    sequence: str
    amplitude: Array
    angular_frequency: Array
    phase: Array
    offset: Array = field(default_factory=lambda: np.zeros(6))
    duration: float = np.inf

    def __post_init__(self) -> None:
        check_sequence(self.sequence)
        object.__setattr__(self, 'duration', check_duration(self.duration))
        amplitude = np.asarray(self.amplitude, dtype=float)
        if amplitude.ndim != 2 or amplitude.shape[0] != 6:
            raise TrajectoryError(f'amplitude must have shape (6, n), got {amplitude.shape}')
        for name in ('amplitude', 'angular_frequency', 'phase', 'offset'):
            shape = (6,) if name == 'offset' else amplitude.shape
            object.__setattr__(self, name, _table(name, getattr(self, name), shape))
        if np.any(self.angular_frequency < 0.0):
            raise TrajectoryError(
                f'angular_frequency must be at least 0 rad/s, got {self.angular_frequency.min()}'
            )

    @property
    def shortest_period(self) -> float:
        """Period of the fastest sine that has an amplitude [s]."""
        fastest = float(self.angular_frequency[self.amplitude != 0.0].max(initial=0.0))
        return 2.0 * np.pi / fastest if fastest > 0.0 else np.inf

    def axes(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the deviations (..., 6) [m, rad] at times (...) [s], and two derivatives."""
        moment = clamp(time, self.duration)[..., None, None]
        angle = self.angular_frequency * moment + self.phase
        sine, cosine = self.amplitude * np.sin(angle), self.amplitude * np.cos(angle)
        return (
            self.offset + sine.sum(axis=-1),
            (self.angular_frequency * cosine).sum(axis=-1),
            -(self.angular_frequency**2 * sine).sum(axis=-1),
        )

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        value, rate, second = axes = self.axes(time)
        angles, rates, changes = (values[..., 3:] for values in axes)
        centre = self.centre.quaternion_xyzw
        turn = from_euler(self.sequence, angles, rates, changes, centre)
        quaternion, turning, change = turn
        place = self.centre.position + value[..., :3]
        velocity, acceleration = rate[..., :3], second[..., :3]
        return Motion.of_vectors(place, quaternion, velocity, turning, acceleration, change)


def shipped() -> dict[str, Path]:
    """Return the motions that come with the package: name to file."""
    return {path.stem: path for path in sorted((Path(__file__).parent / 'motions').glob('*.yaml'))}


def from_yaml(name_or_path: str | Path, centre: Pose) -> MultiSine:
    """Read a multi-sine about a centre: a shipped one by its name, or a file.

    A YAML file has `sequence` and, for each of `AXES` that moves, a list of terms ``{amplitude,
    angular_frequency_radps, phase_rad}``; `offset` may hold a constant per axis; `title` and
    `source` say where it comes from.

    Raises:
        ConfigurationError: If the file is no such mapping; the message names the key and what was
            expected.
        OSError: If the file cannot be read.
    """
    content = read_yaml(shipped().get(str(name_or_path), Path(name_or_path)))
    terms = [
        [_term(section) for section in content.sections(axis)] if content.has(axis) else []
        for axis in AXES
    ]
    # Axes with fewer terms than the longest are filled with terms of no amplitude.
    table = np.zeros((3, 6, max(1, *(len(rows) for rows in terms))))
    for index, rows in enumerate(terms):
        if rows:
            table[:, index, : len(rows)] = np.transpose(rows)
    constant = np.zeros(6)
    if content.has('offset'):
        offset = content.section('offset')
        constant[:] = [offset.number(axis) if offset.has(axis) else 0.0 for axis in AXES]
        offset.finish(optional=AXES)
    sequence = content.value('sequence', 'three axes like ZXY')
    if not isinstance(sequence, str):
        raise ConfigurationError('sequence', sequence, 'three axes like ZXY')
    content.finish(optional=(*AXES, 'offset', 'title', 'source'))
    amplitude, frequency, phase = table
    return MultiSine(centre, sequence, amplitude, frequency, phase, constant)


def _term(section: Section) -> tuple[float, float, float]:
    """Return amplitude, angular frequency and phase of a term."""
    amplitude = section.number('amplitude')
    frequency = section.number('angular_frequency_radps', 0.0)
    phase = section.number('phase_rad') if section.has('phase_rad') else 0.0
    section.finish(optional=('phase_rad',))
    return amplitude, frequency, phase


def _table(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return a read-only copy, broadcast to `shape`; refuse other shapes and NaN."""
    array = np.asarray(values, dtype=float)
    try:
        array = np.broadcast_to(array, shape)
    except ValueError as error:
        raise TrajectoryError(f'{name} must have shape {shape}, got {array.shape}') from error
    if not np.all(np.isfinite(array)):
        raise TrajectoryError(f'{name} must be finite, got {array[~np.isfinite(array)][0]}')
    return read_only(array)
