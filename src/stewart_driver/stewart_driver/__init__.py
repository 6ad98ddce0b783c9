# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives and sensors of a Stewart platform: state machine, interpolation, supervision and the back end protocol."""
