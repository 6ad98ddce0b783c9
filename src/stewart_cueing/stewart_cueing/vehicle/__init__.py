# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion cueing: what a person on the platform feels of a vehicle."""
