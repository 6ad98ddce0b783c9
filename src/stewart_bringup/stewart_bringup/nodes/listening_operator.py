# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Hear what the nodes of a rig say of themselves."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from stewart_bringup.nodes.operator import Operator
from stewart_bringup.statuses import Status, statuses, worst_first
from stewart_node_support.diagnostics import TOPIC
from stewart_node_support.stop_signals import StopSignals

# Every node has spoken then: each does once a second, and is discovered meanwhile [s].
LISTENED = 2.5


class ListeningOperator(Operator):
    """Subscribe ``/diagnostics``, which all rigs of a domain share.

    In the root namespace it hears all of them, in another one the nodes of that.
    """

    def __init__(self, stop: StopSignals, **kwargs: Any) -> None:
        super().__init__(stop, 'listening_operator', **kwargs)
        self._newest: dict[str, Status] = {}
        self.create_subscription(DiagnosticArray, TOPIC, self._take, 10)

    async def listen(self) -> list[Status]:
        """Return the newest status of every task, the worst first.

        Raises:
            RequestRefused: If no node says anything.
            StopRequested: If a request to stop came.
        """
        await self.until(lambda: bool(self._newest), TOPIC)
        end = self.now() + LISTENED
        while self.now() < end:
            self.heed()
            await self.pause(LISTENED / 10)
        return worst_first(self._newest.values())

    def _take(self, message: DiagnosticArray) -> None:
        for status in statuses(message, self.get_namespace()):
            self._newest[status.name] = status
