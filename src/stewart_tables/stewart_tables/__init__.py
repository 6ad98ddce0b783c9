# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of samples, files that are whole or not at all, progress, and where verbs write."""
