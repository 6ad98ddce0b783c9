# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Identify from bags on request, with progress and result as topics."""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger
from stewart_identification.background import Job, State
from stewart_identification.identify import Options
from stewart_identification.recording.from_bag import Extraction
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, STATE_QOS
from stewart_tables.settings import param, part

BAD_ENDS = {State.UNDETERMINED: Level.WARN, State.FAILED: Level.ERROR}


@dataclass(frozen=True)
class IdentificationParameters(Options, Extraction):
    """Parameters of the identification node."""

    bags: tuple[str, ...] = param(('',), 'recordings to identify from; several count as one')
    platform: str = param('ex800', 'platform by name, or path of its YAML file; with masses')
    output: str = param('identified', 'folder of report.html and parameters.yaml')
    period: float = param(0.1, 'time between two reports of progress [s]', min=0.01, max=10.0)


class IdentificationNode(Node):
    """Identify when ``identification/start`` is called, or at once if ``bags`` are given.

    Publishes ``identification/progress`` from 0 to 1 and, latched, ``identification/result`` as
    JSON. ``identification/stop`` ends the search and keeps the best found so far.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('identification', **kwargs)
        self._chosen = declare(self, IdentificationParameters)
        self.published: dict[str, CountedPublisher] = {}
        self._progress = CountedPublisher(self, Float64, 'identification/progress', COMMAND_QOS)
        self._result = CountedPublisher(self, String, 'identification/result', STATE_QOS)
        self._job = Job()
        self._told: Job | None = None
        self._diagnostics = Diagnostics(self, self._chosen.platform)
        self._diagnostics.add('identification', self._report)
        self.create_service(Trigger, 'identification/start', self._on_start)
        self.create_service(Trigger, 'identification/stop', self._on_stop)
        self.create_timer(self._chosen.period, self._tell)
        if any(self._chosen.bags):
            self._start()

    def destroy_node(self) -> None:
        """Stop the search, wait for it, then take the node down."""
        self._job.stop()
        self._job.join()
        super().destroy_node()

    def _start(self) -> None:
        chosen = self._chosen
        self._told, self._job = None, Job()
        self._job.start(
            [bag for bag in chosen.bags if bag],
            chosen.platform,
            Path(chosen.output),
            options=part(chosen, Options),
            extraction=part(chosen, Extraction),
        )

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._job.state is State.RUNNING:
            response.message = 'an identification is running'
        elif not any(self._chosen.bags):
            response.message = 'the parameter bags is empty'
        else:
            self._start()
            response.success, response.message = True, 'identifying'
        return response

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        running = self._job.state is State.RUNNING
        self._job.stop()
        response.success = running
        response.message = 'the best found so far is kept' if running else 'nothing is running'
        return response

    def _tell(self) -> None:
        job = self._job
        if job.state is State.RUNNING:
            self._progress.publish(Float64(data=float(job.share)))
        elif job.state is not State.IDLE and self._told is not job:
            self._told = job
            self._progress.publish(Float64(data=1.0))
            self._result.publish(String(data=json.dumps(job.result(), ensure_ascii=False)))
            if job.state is State.FAILED:
                self.get_logger().error(job.message)
            else:
                self.get_logger().info(job.message)
            self._diagnostics.publish()

    def _report(self) -> Report:
        job = self._job
        level = BAD_ENDS.get(job.state, Level.OK)
        return Report(level, job.message, {'share': f'{job.share:.2f}'})
