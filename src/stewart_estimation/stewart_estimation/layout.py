# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where things stand in the arrays that the kernels share.

The filter works at the IMU, in the stated axes of the sensor: moving the platform's joints there
(Miletovic et al. 2017, Eq. 23) makes every lever arm vanish from prediction and correction.

State, 20 numbers: position and velocity of the IMU in base axes, attitude (x, y, z, w; base from
stated sensor axes), accelerometer and gyroscope bias (real sensor axes), delay, misalignment
(rotation vector: stated from real sensor axes). Tangent, n = 15 to 19: the same with a rotation
vector on the right for the attitude, and of the last two only what is estimated.
"""

from __future__ import annotations

# State.
STATE = 20
SPEED, TURN, FORCE_BIAS, RATE_BIAS, DELAY, MOUNTING = 3, 6, 10, 13, 16, 17

# Tangent; the position begins at 0 in both.
TANGENT = 15
D_SPEED, D_TURN, D_FORCE_BIAS, D_RATE_BIAS = 3, 6, 9, 12

# Numbers that stay: what the settings say.
GRAVITY = 0
IMU_VARIANCE = 3
IMU_PERIOD = 9
WALK_VARIANCE = 10
LEG_VARIANCE = 16
SPREAD = 22
"""Sigma points lie this many columns of the Cholesky factor away; a pair weighs 1 / SPREAD²."""
CENTRE = 23
"""Weight of the squared shift of the mean: beta - alpha²."""
IMU_TIMEOUT = 24
SILENT_VARIANCE = 25
DELAY_AT = 31
"""Row of the delay in the tangent, -1 where it is not estimated."""
MOUNTING_AT = 32
"""First row of the misalignment in the tangent, -1 where it is not estimated."""
DELAY_WALK = 33
DELAY_MOVING = 34
DELAY_LOWER = 35
DELAY_UPPER = 36
GATE = 37
"""Greatest normalised innovation squared of 1 to 6 legs, from index 38; infinite without gate."""
RESTART = 43
"""Greatest normalised innovation squared of 1 to 6 legs that fit, from index 44."""
FEWEST_LEGS = 50
RESTART_AFTER = 51
LEG_WINDOW = 52
"""Zero where the noise of the legs is not learnt."""
LEG_BAND = 53
IMU_WINDOW = 54
"""Zero where the noise of the IMU is not learnt."""
IMU_BAND = 55
ORIGIN = 56
"""Origin of ``platform_link``, seen from the IMU in stated sensor axes."""
TO_PLATFORM = 59
"""Rotation matrix of the mounting, row by row."""
TO_PLATFORM_TURN = 68
"""The same as a quaternion, inverted."""
DELAY_ARM = 72
"""Root mean square distance of the platform's joints from the IMU [m]."""
GATE_LEG = 73
"""Greatest squared innovation of one leg given the others, in its variances."""
FROZEN = 74
"""The same for a leg that says what it said before while others move."""
DRIFT = 75
"""How far a leg may lie on one side of the others for long, in standard deviations."""
MOST_DOUBT = 76
"""How many samples that fit take the greatest doubt in a leg away."""
CONSTANTS = 77

# Numbers that change besides state and covariance.
TIME = 0
"""Where the state is, on the clock of the IMU [s]."""
MISFITS = 1
"""Samples in a row that did not fit."""
REPAIRS = 2
NOTED = 3
"""Stamp of the latest IMU sample that the noise was learnt from [s]."""
LEG_SCALE = 4
IMU_SCALE = 10
PAST = 16
"""Three samples of the IMU before the latest one, newest first, six numbers each."""
PAST_COUNT = 34
LAST = 35
"""What each leg said last [m]."""
STUCK = 41
"""1 for a leg that is left out until it says something else."""
DOUBT = 47
"""Two cumulative sums per leg, upwards and downwards; nothing stands behind these."""
MEMORY = 59

# How a run of the kernels ends.
DONE, INDEFINITE, MISFIT, WAITING = 0, 1, 2, 3
