# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The words and numbers of the page."""

from __future__ import annotations

from scipy.spatial.transform import Rotation
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_viewer.snapshot import DriveReport, Snapshot
from stewart_viewer.status import banner, pose_table, Status
import viser

TILTED = Pose([0.1, -0.00001, 1.7], Rotation.from_euler('xyz', [2.0, -3.0, 0.0], True).as_quat())


def test_every_known_pose_has_a_column_and_every_row_its_unit() -> None:
    lines = pose_table(Snapshot(0.0, pose=TILTED)).splitlines()

    assert [len(line.split('|')) for line in lines] == [4] * 8
    assert lines[0] == '| in base_link | measured |'
    assert lines[2:5] == ['| x [mm] | 100.0 |', '| y [mm] | 0.0 |', '| z [mm] | 1700.0 |']
    assert lines[5:] == ['| roll [°] | 2.00 |', '| pitch [°] | -3.00 |', '| yaw [°] | 0.00 |']


def test_a_pose_that_is_gone_leaves_the_table_at_once(
    server: viser.ViserServer, ex800: Platform
) -> None:
    status = Status(server, ex800, 'live')
    status.show(Snapshot(0.0, pose=TILTED))
    assert 'measured' in status._poses.content
    # Of the same instant: the message that came last.
    status.show(Snapshot(0.0))
    assert 'measured' not in status._poses.content


def test_the_banner_says_simulated_and_escapes_what_a_driver_says() -> None:
    said = banner(DriveReport('FAULT', 'ethercat', True, 'leg 4 <lost>'))

    assert 'SIMULATED' in said
    assert 'leg 4 &lt;lost&gt;' in said
    assert 'SIMULATED' not in banner(DriveReport('FAULT', 'ethercat'))
