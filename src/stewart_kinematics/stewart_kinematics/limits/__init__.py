# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the platform may do, and what fits: guard, workspace, planning, fitting."""
