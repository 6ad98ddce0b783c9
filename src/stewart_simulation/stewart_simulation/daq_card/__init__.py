# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated analogue card, strict as the APCI-3120 and its kernel driver are."""
