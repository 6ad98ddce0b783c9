# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes decide with: who may move, what was executed, how far it is off."""
