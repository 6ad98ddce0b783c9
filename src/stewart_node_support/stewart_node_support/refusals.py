# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Count what a node refused and tell it to diagnostics."""

from __future__ import annotations

from typing import Any

from stewart_node_support.diagnostics import Level, Report


class Refusals:
    """Tally of accepted and refused messages, named in the plural.

    Attributes:
        accepted, refused: Since the start.
        reason: Why the last one was refused; empty before the first.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._reported = (0, 0)
        self.accepted = 0
        self.refused = 0
        self.reason = ''

    def accept(self) -> None:
        """Count one that was accepted."""
        self.accepted += 1

    def refuse(self, node: Any, error: Exception) -> None:
        """Count one that was refused, and log why, at most once a second."""
        self.refused += 1
        self.reason = str(error)
        node.get_logger().error(self.reason, throttle_duration_sec=1.0)

    def report(self) -> Report:
        """Return ERROR if anything was refused since the last report."""
        accepted, refused = (
            now - before
            for now, before in zip((self.accepted, self.refused), self._reported, strict=True)
        )
        self._reported = (self.accepted, self.refused)
        values = {
            'accepted': self.accepted,
            'refused': self.refused,
            'last_refusal': self.reason or 'none',
        }
        if refused:
            return Report(Level.ERROR, f'{refused} {self._what} refused: {self.reason}', values)
        return Report(Level.OK, f'{accepted} {self._what} since the last report', values)
