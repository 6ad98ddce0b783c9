# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a Stewart platform: inverse and forward models that check each other."""
