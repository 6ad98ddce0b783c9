# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
#
# The command stewart is found where the setup files of colcon are sourced.
_colcon_prepend_unique_value PATH "$COLCON_CURRENT_PREFIX/lib/stewart_bringup"
