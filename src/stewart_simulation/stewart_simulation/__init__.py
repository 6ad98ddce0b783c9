# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The virtual rig: simulated drives and sensors, labelled as such."""
