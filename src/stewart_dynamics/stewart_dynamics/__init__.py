# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a Stewart platform: inverse and forward models that check each other."""

from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces, Reactions, reactions, regressor

__all__ = ['InertialModel', 'Reactions', 'actuator_forces', 'reactions', 'regressor']
