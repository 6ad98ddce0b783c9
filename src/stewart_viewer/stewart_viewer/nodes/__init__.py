# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The web viewer as a ROS node."""
