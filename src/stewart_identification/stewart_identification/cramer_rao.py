# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The Cramér-Rao bound: no unbiased estimate of these parameters has a smaller variance."""

from __future__ import annotations

import numpy as np
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel, local_regressor, Model
from stewart_kinematics.motion import Array


def cramer_rao(
    model: Model, parameters: Array, experiment: Experiment, noise: float | Array | None = None
) -> Array:
    """Give the bound for white Gaussian noise on the forces.

    Friction that the model holds is unknown with the rest, and so are its nuisances, with the
    standard deviations that they have: a model with joint errors gives the bound with them.

    Args:
        model: Its parameters are the unknowns.
        parameters (p,): True values.
        experiment: Motion, and which forces are measured.
        noise (m,): Standard deviation per actuator [N]; the experiment's own if not given.

    Returns:
        (p, p): Smallest covariance; infinite where the motion shows nothing.
    """
    sigma = np.broadcast_to(experiment.noise if noise is None else noise, experiment.noise.shape)
    weights = experiment.used[..., None] / sigma[:, None]
    rows = [local_regressor(model, parameters, experiment) * weights]
    if isinstance(model, LinearModel):
        rows.insert(0, model.nuisance(parameters, experiment) * weights)
    k, p = (rows[0].shape[2] if len(rows) == 2 else 0), rows[-1].shape[2]
    design = np.concatenate(rows, axis=2).reshape(-1, k + p)
    flat = np.concatenate([design, np.eye(k, k + p)])
    triangle = np.asarray(np.linalg.qr(flat, mode='r'))[k:, k:]
    _u, values, vt = np.linalg.svd(triangle * model.scale)
    seen = values > 1e-9 * values[0]
    half = vt[seen].T / values[seen]
    covariance = half @ half.T * np.outer(model.scale, model.scale)
    blind = np.linalg.norm(vt[~seen], axis=0) > 1e-6 if np.any(~seen) else np.zeros(p, bool)
    covariance[np.ix_(blind, blind)] = np.nan
    covariance[blind, :] = covariance[:, blind] = np.nan
    covariance[np.flatnonzero(blind), np.flatnonzero(blind)] = np.inf
    return covariance
