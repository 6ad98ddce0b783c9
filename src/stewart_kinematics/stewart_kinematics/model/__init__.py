# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a machine is: joints, limits, masses, and the file that says so."""
