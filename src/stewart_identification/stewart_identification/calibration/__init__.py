# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematic calibration: where the joints of one machine really are, and how long its legs."""
