# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled filter: `steps.run` takes it along the samples, live and offline."""
