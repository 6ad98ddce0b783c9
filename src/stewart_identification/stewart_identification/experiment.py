# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What was done and what was measured: the input of every model and estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_identification.errors import FitError, ShapeError
from stewart_kinematics.motion import Array, Motion, read_only

BESIDE = ('shaken', 'instruments')
"""Other motions of the same samples."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """A motion and the forces that were measured with it.

    Attributes:
        stamps (n,): Increasing [s].
        inputs: Motion of the platform, n samples.
        forces (n, m): Measured forces of the m actuators [N] or [N m]; NaN where one is missing.
        noise (m,): Standard deviations of the forces' measurement noise if they are known, else
            NaN. They weigh the actuators and say which parameter is determined well enough.
        shapes (n, m, s): What friction multiplies (`models.terms.friction_shapes`). Forces that
            have passed a filter need these from the same filter; without them the motion's own
            rates are taken.
        loads (n, 10): Ten parameters of a known body that is bolted on beside what is unknown;
            None where there is none.
        sensor_noise (n, m): Standard deviations of the forces' noise as their own spectrum shows
            it, beyond all motion; None where nothing is known, NaN where a force is not.
        shaken: The same samples with the noise of the strokes in them once more, which shows what
            that noise does.
        instruments: The same samples with the commanded motion, which knows nothing of that noise;
            None where the measured motion is its own instrument (`LinearSystem`).

    Raises:
        ShapeError: If shapes do not agree.
        FitError: If stamps do not increase, or an input is not finite.
    """

    stamps: Array
    inputs: Motion
    forces: Array
    noise: Array = field(default_factory=lambda: np.array(np.nan))
    shapes: Array | None = None
    loads: Array | None = None
    sensor_noise: Array | None = None
    shaken: Experiment | None = None
    instruments: Experiment | None = None

    def __post_init__(self) -> None:
        stamps, forces = read_only(self.stamps), read_only(self.forces)
        if stamps.ndim != 1:
            raise ShapeError('stamps', '(n,)', stamps.shape)
        if forces.ndim != 2 or len(forces) != len(stamps):
            raise ShapeError('forces', f'({len(stamps)}, m)', forces.shape)
        if self.inputs.shape != stamps.shape:
            raise ShapeError('inputs', str(stamps.shape), self.inputs.shape)
        if not np.all(np.diff(stamps) > 0.0):
            index = int(np.argmin(np.diff(stamps) > 0.0)) + 1
            raise FitError(f'stamps must increase, got {stamps[index]} s at sample {index}')
        for item in fields(self.inputs):
            if not np.all(np.isfinite(getattr(self.inputs, item.name))):
                raise FitError(f'{item.name} of the motion must be finite in every sample')
        noise = read_only(np.broadcast_to(self.noise, forces.shape[1:]))
        if np.any(noise <= 0.0):
            raise FitError(f'noise must be above 0, got {noise.min():.6g}')
        for name, expected in (
            ('shapes', forces.shape),
            ('sensor_noise', forces.shape),
            ('loads', forces.shape[:1]),
        ):
            if getattr(self, name) is not None:
                values = read_only(getattr(self, name))
                if values.shape[: len(expected)] != expected:
                    raise ShapeError(name, str(expected), values.shape)
                object.__setattr__(self, name, values)
        for name, value in (('stamps', stamps), ('forces', forces), ('noise', noise)):
            object.__setattr__(self, name, value)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which forces were measured, shape (n, m)."""
        return np.isfinite(self.forces)

    @property
    def weights(self) -> Array:
        """Reciprocal noise per actuator, 1 where it is unknown, shape (m,)."""
        if np.any(np.isnan(self.noise)):
            return np.ones(self.forces.shape[1])
        return np.asarray(1.0 / self.noise)

    def __len__(self) -> int:
        return len(self.stamps)

    def __getitem__(self, index: Any) -> Experiment:
        there: dict[str, Any] = {
            name: values[index]
            for name, values in vars(self).items()
            if name != 'noise' and values is not None
        }
        return replace(self, **there)

    def loaded(self, body: Array) -> Experiment:
        """Return the same recording with a known body bolted on, ten parameters, shape (10,)."""
        loads = np.tile(body, (len(self), 1))
        others: dict[str, Any] = {
            name: replace(other, loads=loads)
            for name in BESIDE
            if (other := getattr(self, name)) is not None
        }
        return replace(self, loads=loads, **others)

    def with_forces(self, forces: Array) -> Experiment:
        """Return the same motion with other measured forces, shape (n, m)."""
        return replace(self, forces=forces)


def joined(experiments: Sequence[Experiment]) -> Experiment:
    """Put experiments behind each other, whose stamps rise from one to the next."""

    def together(name: str, items: Sequence[Any] = experiments) -> Any:
        values = [getattr(item, name) for item in items]
        return None if any(value is None for value in values) else np.concatenate(values)

    def beside(name: str) -> Experiment | None:
        others = [
            replace(getattr(item, name), stamps=item.stamps)
            for item in experiments
            if getattr(item, name) is not None
        ]
        return joined(others) if len(others) == len(experiments) else None

    motions = [item.inputs for item in experiments]
    return Experiment(
        together('stamps'),
        Motion(*(together(item.name, motions) for item in fields(Motion))),
        together('forces'),
        shapes=together('shapes'),
        loads=together('loads'),
        sensor_noise=together('sensor_noise'),
        shaken=beside('shaken'),
        instruments=beside('instruments'),
    )
