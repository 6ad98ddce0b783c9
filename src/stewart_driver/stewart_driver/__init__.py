# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives and sensors of a Stewart platform: from setpoints to six legs, safely."""
