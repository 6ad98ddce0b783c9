# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The drive profile CiA 402: states, words and modes, objects, and error codes."""
