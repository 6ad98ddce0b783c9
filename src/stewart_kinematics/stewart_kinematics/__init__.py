# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematics, limits and trajectories of a Stewart platform."""
