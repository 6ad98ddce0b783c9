# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How the suite is run: launch files, configuration, composition and the stewart command."""
