# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion cueing: motion of a platform from what a vehicle does."""
