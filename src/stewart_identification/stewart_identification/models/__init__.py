# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Models: from parameters and a motion to forces."""
