# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are written as a whole or not at all."""
