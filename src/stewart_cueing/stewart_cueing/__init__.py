# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion from what a vehicle or a ship does: motion cueing and heave compensation."""
