# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS node of motion cueing."""
