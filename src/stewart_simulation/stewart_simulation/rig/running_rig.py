# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can be done with a rig that runs, wherever it does: in a process of its own, or in this."""

from __future__ import annotations

from typing import Any, Protocol

from stewart_simulation.rig.truth import Truth


class TruthSource(Protocol):
    """Who knows what really happens."""

    def read(self) -> Truth:
        """Return the last instant; raises `RigError` where it cannot be had."""


class RunningRig(Protocol):
    """A rig with ends of wires, a truth and faults.

    Attributes:
        ends: Names under which the ends of its wires are opened, and its rig_file.
    """

    ends: dict[str, str]

    @property
    def alive(self) -> bool:
        """Whether it still runs."""

    @property
    def facts(self) -> dict[str, Any]:
        """What diagnostics tell of it."""

    def exit_reason(self) -> str:
        """Return one sentence on why it does not run any more."""

    def now(self) -> float:
        """Return the present time of its clock [s]."""

    def truth(self) -> TruthSource:
        """Return who knows what really happens."""

    def call(self, fault: str, **arguments: Any) -> Any:
        """Break or mend something; raises `SegmentError` where fault or arguments do not fit."""

    def end(self) -> None:
        """Let go of every wire."""
