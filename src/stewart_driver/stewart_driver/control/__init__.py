# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The loop that owns the drives: its states, its supervision, its process and its memory."""
