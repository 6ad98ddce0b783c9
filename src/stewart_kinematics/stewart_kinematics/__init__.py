# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a Stewart platform: geometry, inverse and forward solution, limits and trajectories."""
