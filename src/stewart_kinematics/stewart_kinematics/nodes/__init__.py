# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The kinematics and the trajectories as ROS nodes."""
