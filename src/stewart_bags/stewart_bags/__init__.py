# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Recording, reading and rescuing rosbag2 files without ROS."""
