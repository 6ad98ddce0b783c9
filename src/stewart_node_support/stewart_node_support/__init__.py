# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every node needs: parameters, conversions, QoS, diagnostics, running and stopping."""
