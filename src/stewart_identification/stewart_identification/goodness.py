# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a model explains the forces: what it leaves beside the noise that the sensors have.

The forces' own noise is what their spectrum shows beyond all motion, and what the noise of the
strokes makes of the predicted forces comes on top. Friction of another law, rotors, or a load that
the model does not know leave more. Gains of the force sensors do not: they look like other masses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, fdtri
from stewart_identification.confidence import independent
from stewart_identification.experiment import Experiment
from stewart_identification.models.platform import PlatformModel
from stewart_kinematics.motion import Array

KNOWN_TO = 1.1
"""To this factor the spectrum beyond all motion tells the noise inside the pass band."""


@dataclass(frozen=True, eq=False)
class Goodness:
    """Residuals of one experiment beside their noise.

    Attributes:
        experiment: Motion and measured forces.
        residuals (n, m): Measured less predicted forces [N]; NaN where nothing was measured.
        left (m,): Their root mean squares, leg by leg [N].
        noise (m,): What noise explains of these [N]; NaN where it is not known, as behind a filter
            that cuts into the motion.
        limit: Of `whole`, which a model that holds exceeds with the probability `false_alarm`.
        of_fit: Whether `noise` is what the fit left, for want of a noise that is known.
    """

    experiment: Experiment
    residuals: Array
    left: Array
    noise: Array
    limit: float
    of_fit: bool = False

    @property
    def legs(self) -> Array:
        """Residuals in units of the noise, leg by leg, shape (m,)."""
        return self.left / self.noise

    @property
    def whole(self) -> float:
        """The same of all legs with known noise together; NaN if there is none."""
        known = np.isfinite(self.left) & np.isfinite(self.noise)
        if not known.any():
            return float('nan')
        return float(np.sqrt(np.sum(self.left[known] ** 2) / np.sum(self.noise[known] ** 2)))

    @property
    def lacking(self) -> bool:
        """Whether the model does not explain the forces; an unknown noise proves nothing."""
        return self.whole > self.limit

    def __str__(self) -> str:
        """Say it in a clause."""
        if np.isnan(self.whole):
            return 'the noise of forces or strokes is not known, so the model was not tested'
        legs = ', '.join(f'{value:.2f}' for value in self.legs)
        beside = 'the fit leaves' if self.of_fit else 'the noise of forces and strokes explains'
        return f'{self.whole:.2f} times what {beside} (legs {legs}), the limit is {self.limit:.3g}'

    def as_dict(self) -> dict[str, float | list[float | None] | None]:
        """Return plain values; what is not known is None."""
        whole, *legs = (
            float(value) if np.isfinite(value) else None for value in (self.whole, *self.legs)
        )
        return {'whole': whole, 'legs': legs, 'limit': self.limit}


def goodness(
    model: PlatformModel,
    parameters: Array,
    experiment: Experiment,
    residuals: Array,
    error: Array | None = None,
    fit: Goodness | None = None,
    *,
    false_alarm: float = 0.01,
) -> Goodness:
    """Compare residuals, shape (n, m) [N], with their noise.

    Args:
        parameters (p,): Of the prediction.
        experiment: Motion, forces, and what is known of their noise.
        residuals (n, m): Measured less predicted forces [N].
        error (n, m): Standard deviation of the prediction [N], where parameters come from another
            experiment.
        fit: To that other experiment: a leg whose noise is not known is held against what it left.
        false_alarm: Probability that a model that holds is refused.
    """
    present = np.isfinite(residuals)

    def mean_square(values: Array) -> Array:
        count = np.maximum(present.sum(axis=0), 1)
        return np.sum(np.where(present, values, 0.0) ** 2, axis=0) / count

    unknown = np.full(residuals.shape, np.nan)
    noise = mean_square(unknown if experiment.sensor_noise is None else experiment.sensor_noise)
    if experiment.shaken is not None:
        shaken = model.predict(parameters, experiment.shaken)
        noise = noise + mean_square(shaken - model.predict(parameters, experiment))
    of_fit = fit is not None and bool(np.isnan(noise).any())
    if fit is not None:
        # A leg that the fit had no forces of is like the others.
        left_by_fit = np.where(np.isnan(fit.left), np.sqrt(np.nanmean(fit.left**2)), fit.left)
        noise = np.where(np.isnan(noise), left_by_fit**2, noise)
    if error is not None:
        noise = noise + mean_square(error)
    measured = present.any(axis=0)
    left = np.where(measured, np.sqrt(mean_square(residuals)), np.nan)
    count = independent(residuals, experiment.stamps, len(parameters))
    chance = chdtri(count, false_alarm) / count
    if fit is not None and of_fit:
        # What that fit left varies by chance as well.
        others = independent(fit.residuals, fit.experiment.stamps, len(parameters))
        chance = fdtri(count, others, 1.0 - false_alarm)
    limit = KNOWN_TO * float(np.sqrt(chance))
    noise = np.where(measured, np.sqrt(noise), np.nan)
    return Goodness(experiment, residuals, left, noise, limit, of_fit)
