# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""State estimation of a Stewart platform from an IMU and six leg lengths."""
