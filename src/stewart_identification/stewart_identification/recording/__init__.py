# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From a rosbag2 recording to an experiment."""
