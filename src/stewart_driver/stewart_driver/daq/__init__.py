# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six legs on an analogue card: position sensors to its inputs, amplifiers to its outputs."""
