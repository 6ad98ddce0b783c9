# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of an IMU or of legs that are no bags, and the way into one."""
