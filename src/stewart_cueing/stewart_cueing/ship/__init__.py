# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Heave compensation: a platform that keeps level on a ship."""
