# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of an IMU that are no bags, and the way into one."""
