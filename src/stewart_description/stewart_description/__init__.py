# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a Stewart platform is: YAML descriptions, xacro model, RViz configuration and where to find them."""
