# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The EX800 paper's way without force sensors: an IMU in place of a force.

The measured acceleration goes through the inverse multibody model and comes out as a "measured"
generalised force, which a Kalman filter blends with the model's. `STATEMENT` says what that can
and what it cannot identify.
"""

STATEMENT = (
    'Without a force nothing of an inertia is measured: the "measured" generalised force is the '
    'assumed inertia times the measured acceleration. Mass, first moments and inertias that are '
    'fitted to it are those that were put in (and their common scale is free); a payload that the '
    'description does not know stays unseen. What this route does show: whether the acceleration '
    'of the platform is the one that was commanded - amplitude, delay, mounting and place of the '
    'sensor - and hence whether the kinematic description fits. The three translational forces at '
    'the centre of mass do not even contain the inertias.'
)
"""What the IMU route can and cannot identify."""
