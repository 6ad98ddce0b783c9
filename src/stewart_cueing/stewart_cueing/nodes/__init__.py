# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of motion cueing and heave compensation."""
