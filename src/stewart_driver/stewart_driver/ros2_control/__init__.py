# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six strokes for a position controller of ros2_control, and what its joint states say back."""
