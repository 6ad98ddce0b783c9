# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Console script of ``wave_operator``: it ends by itself, unlike the other nodes."""

from __future__ import annotations

from stewart_node_support.errors import told_if_missing
from stewart_node_support.stop_signals import StopSignals


def main() -> int | str:
    """Return 0, or one sentence that goes to standard error with exit code 1."""
    stop = StopSignals().install()
    # rclpy takes a second to import: not before the signals are heard.
    with told_if_missing('wave_operator'):
        from stewart_bringup.nodes.wave_operator import operate

    reason = operate(stop)
    stop.ignore()
    return f'wave_operator: {reason}' if reason else 0
