# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From setpoints with jitter to one smooth command per cycle, and to rest along the path."""
