# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The page says what is, also when something fails."""

from __future__ import annotations

from collections.abc import Iterator
import threading

import numpy as np
import pytest
from stewart_kinematics.model.platform import Platform
from stewart_viewer.live import LiveView
from stewart_viewer.mailbox import Mailbox
from stewart_viewer.snapshot import DriveReport, Estimate, Snapshot
from stewart_viewer.status import NOT_HEARD


class Fails:
    """A part that cannot draw the first instant."""

    def show(self, snapshot: Snapshot) -> None:
        if snapshot.time < 2.0:
            raise np.linalg.LinAlgError('no eigenvalues')


class Shows:
    """A part that tells which instant it has shown."""

    def __init__(self) -> None:
        self.time, self.shown = 0.0, threading.Event()

    def show(self, snapshot: Snapshot) -> None:
        self.time = snapshot.time
        self.shown.set()

    def wait_for(self, instant: float) -> None:
        """Wait for the picture of an instant; that before may be drawn again meanwhile."""
        while self.time != instant:
            assert self.shown.wait(60.0), 'no picture came'
            self.shown.clear()


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def view(mailbox: Mailbox, complaints: list[str]) -> Iterator[LiveView]:
    opened = LiveView(
        'ex800', mailbox, None, host='127.0.0.1', port=0, rate=60.0, complain=complaints.append
    )
    yield opened
    opened.close()


def test_a_picture_that_fails_is_told_and_the_next_is_drawn(
    view: LiveView, mailbox: Mailbox, complaints: list[str], ex800: Platform
) -> None:
    other, last = Shows(), Shows()
    view._parts[:] = [Fails(), other, last]
    for instant in (1.0, 1.5, 2.0):
        mailbox.put(instant, pose=ex800.geometry.neutral_pose)
        last.wait_for(instant)
        assert other.time == instant
    assert view.drawing
    assert complaints == ["Fails cannot be drawn: LinAlgError('no eigenvalues')"]


def test_what_comes_as_the_wait_for_it_ends_is_seen_at_the_next_look(mailbox: Mailbox) -> None:
    class Late(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            found = super().wait(0.0)
            if not found:
                mailbox.put(1.0)
            return found

    mailbox._changed = Late()
    assert mailbox.take(0.0) is None
    assert mailbox.take(0.0).time == 1.0


def test_what_is_measured_beside_the_pose_gets_old_by_itself(ex800: Platform) -> None:
    clock = [100.0]
    mailbox, neutral = Mailbox(now=lambda: clock[0]), ex800.geometry.neutral_pose
    mailbox.put(1.0, estimate=Estimate(neutral, np.eye(3)), strokes=np.zeros(6))
    for _ in range(3):
        clock[0] += 0.4
        mailbox.put(1.0, pose=neutral, strokes=np.zeros(6))
        seen = mailbox.take(0.0)
    assert seen.estimate is None
    assert seen.strokes is not None


def test_a_pose_that_is_old_is_not_known_any_more(ex800: Platform) -> None:
    clock = [100.0]
    mailbox = Mailbox(now=lambda: clock[0])
    # A driver alone need not say where the platform is.
    mailbox.put(1.0, drives=DriveReport('DISABLED'))
    clock[0] += 50.0
    assert mailbox.take(0.0).drives.state == 'DISABLED'
    neutral = ex800.geometry.neutral_pose
    mailbox.put(2.0, pose=neutral, drives=DriveReport('ENABLED', 'ethercat', reason='on'))
    clock[0] += 0.9
    assert mailbox.take(0.0).pose is neutral
    assert mailbox.take(0.0) is None
    # Legs are heard, so the drives are on, and nobody says where the platform is; then neither.
    for silence, seconds, legs in ((1.5, '2', True), (7.2, '7', False)):
        clock[0] = 150.0 + silence
        if legs:
            mailbox.put(3.0, strokes=np.zeros(6))
        seen = mailbox.take(0.0)
        assert seen.pose is None
        reason = f'platform/pose: nothing heard for {seconds} s'
        if legs:
            assert seen.drives == DriveReport('ENABLED', 'ethercat', reason=f'on; {reason}')
        else:
            reason = f'{reason}; before that: ENABLED'
            assert seen.drives == DriveReport(NOT_HEARD, 'ethercat', reason=reason)
    # Why the driver has given up is still to be read.
    mailbox.put(3.5, drives=DriveReport('FAULT', reason='no frame has come back'))
    reason = 'no frame has come back; platform/pose: nothing heard for 7 s'
    assert mailbox.take(0.0).drives == DriveReport('FAULT', reason=reason)
    mailbox.put(4.0, pose=neutral, drives=DriveReport('ENABLED'))
    assert mailbox.take(0.0).drives.state == 'ENABLED'


@pytest.mark.ros
def test_a_driver_that_is_gone_is_not_said_to_be_enabled(ex800: Platform) -> None:
    pytest.importorskip('rclpy')
    from node_harness import Harness
    from probe_rig import ProbeRig
    from stewart_interfaces.msg import DriverState
    from stewart_viewer.nodes.web_viewer import WebViewer

    with Harness() as harness:
        rig = ProbeRig(harness)
        viewer = harness.add(WebViewer, platform='ex800', port=0)

        def enabled() -> bool:
            rig.say(ex800.geometry.neutral_pose, DriverState.ENABLED, 'all drives are on')
            harness.spin(0.02)
            return bool(viewer._drives.state == 'ENABLED')

        harness.until(enabled)
        harness.spin(2.5)
        assert viewer._drives.state == 'ENABLED', 'what is not repeated still holds'
        rig.die()
        harness.until(lambda: viewer._drives.state == NOT_HEARD)
        assert 'nobody publishes it any more; before that: ENABLED' in viewer._drives.reason


@pytest.mark.ros
def test_an_estimate_without_a_finite_covariance_is_not_taken() -> None:
    pytest.importorskip('rclpy')
    from nav_msgs.msg import Odometry
    from rclpy.serialization import serialize_message
    from stewart_node_support.codec import Reader
    from stewart_node_support.errors import MessageError
    from stewart_viewer.nodes.web_viewer import _estimate

    message = Odometry()
    message.pose.covariance[7] = float('nan')
    with pytest.raises(MessageError, match='covariance of a position must be finite'):
        Reader(Odometry, _estimate).read(serialize_message(message))
    message.pose.covariance[7] = 4e-6
    found = Reader(Odometry, _estimate).read(serialize_message(message))
    assert found.covariance[1, 1] == 4e-6
