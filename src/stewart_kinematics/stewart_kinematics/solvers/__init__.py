# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From poses to legs and back: inverse, forward, Jacobian, uniqueness."""
