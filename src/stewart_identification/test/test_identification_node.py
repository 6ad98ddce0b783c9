# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The node identifies bags, tells how far it is, and says what went wrong."""

from __future__ import annotations

import json
from pathlib import Path
import threading

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from node_harness import Harness
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger
from stewart_identification import background
from stewart_identification.background import Job
from stewart_identification.nodes.identification import IdentificationNode
from stewart_kinematics.motion import Array
from stewart_node_support.qos import STATE_QOS


def test_bag_is_identified_with_progress_and_result(payload_bag: Path, tmp_path: Path) -> None:
    with Harness(real=True) as harness:
        progress = harness.listen(Float64, 'identification/progress')
        result = harness.listen(String, 'identification/result', STATE_QOS)
        diagnostics = harness.listen(DiagnosticArray, '/diagnostics')
        harness.add(
            IdentificationNode,
            bags=[str(payload_bag)],
            output=str(tmp_path),
            friction='common',
            instruments=True,
            rate=40.0,
            # As drawn: with more, Iyy stands on the edge of what counts as determined.
            joint_tolerance=1e-4,
        )
        harness.until(lambda: result and progress, timeout=90.0)
        harness.until(lambda: _levels(diagnostics) == {DiagnosticStatus.OK}, timeout=90.0)

    said = json.loads(result[0].data)
    assert said['state'] == 'done'
    assert said['parameters']['m']['interval'][0] < 8.8369 < said['parameters']['m']['interval'][1]
    written = Path(said['files']['parameters']).read_text(encoding='utf-8')
    assert 'instruments: the commanded motion' in ' '.join(written.split())
    assert progress[-1].data == 1.0


def test_the_search_is_stopped_with_the_best_so_far_and_diagnosed(
    payload_bag: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = Job._progress

    def tell_and_wait(job: Job, done: int, planned: int, best: Array, cost: float) -> bool:
        """Go on with a search that has begun once it is to end."""
        tell(job, done, planned, best, cost)
        if 0 < done < planned:
            job._stop.wait(240.0)
        return tell(job, done, planned, best, cost)

    monkeypatch.setattr(Job, '_progress', tell_and_wait)
    with Harness(real=True) as harness:
        progress = harness.listen(Float64, 'identification/progress')
        result = harness.listen(String, 'identification/result', STATE_QOS)
        diagnostics = harness.listen(DiagnosticArray, '/diagnostics')
        harness.add(
            IdentificationNode,
            bags=[str(payload_bag)],
            output=str(tmp_path),
            estimator='swarm',
            rate=40.0,
            period=0.01,
        )
        harness.until(lambda: any(0.0 < item.data < 1.0 for item in progress), timeout=90.0)
        assert harness.call(Trigger, 'identification/stop').success
        harness.until(lambda: result, timeout=90.0)
        harness.until(lambda: _levels(diagnostics) & {DiagnosticStatus.WARN}, timeout=90.0)

    said = json.loads(result[0].data)
    assert said['interrupted']
    assert 0 < said['iterations'] < 300
    assert Path(said['files']['report']).is_file()


def _levels(diagnostics: list[DiagnosticArray]) -> set[bytes]:
    return {
        status.level
        for array in diagnostics
        for status in array.status
        if status.name.endswith('identification')
    }


def test_a_defect_of_the_work_is_a_result_too(
    payload_bag: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError('by nothing')

    monkeypatch.setattr(background, 'identify_bags', broken)
    monkeypatch.setattr(threading, 'excepthook', lambda _: None)
    with Harness(real=True) as harness:
        result = harness.listen(String, 'identification/result', STATE_QOS)
        harness.add(IdentificationNode, bags=[str(payload_bag)], output=str(tmp_path))
        harness.until(lambda: result, timeout=90.0)

    said = json.loads(result[0].data)
    assert (said['state'], said['message']) == ('failed', 'ZeroDivisionError: by nothing')


def test_what_cannot_be_read_is_a_result_too(tmp_path: Path) -> None:
    with Harness(real=True) as harness:
        result = harness.listen(String, 'identification/result', STATE_QOS)
        harness.add(IdentificationNode, bags=[str(tmp_path / 'none')], output=str(tmp_path))
        harness.until(lambda: result, timeout=90.0)
        stopped = harness.call(Trigger, 'identification/stop')

    assert 'not a bag, it does not exist' in json.loads(result[0].data)['message']
    assert not stopped.success
