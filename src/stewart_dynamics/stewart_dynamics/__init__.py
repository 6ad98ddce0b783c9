# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse and forward dynamics of a Stewart platform: models that check each other."""
