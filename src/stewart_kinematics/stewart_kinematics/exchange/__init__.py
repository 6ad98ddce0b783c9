# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of other simulators: MJCF and SDF are written and read, URDF is read."""
