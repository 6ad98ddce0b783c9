# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of other machines in the bag of one that is to be identified."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from recordings_made import Run, Scribe, START_NS
from stewart_identification.recording.from_bag import experiment_from, Extracted
from stewart_identification.recording.recordings import read_recording
from stewart_kinematics.model.platform import Platform


def test_topics_of_another_machine_are_none_of_this_one(
    tmp_path: Path, payload_run: Run, payload_extracted: Extracted, ex800: Platform
) -> None:
    """Neither the poses of a tracker, an arm's commands nor another rig's drives count."""
    with Scribe(tmp_path / 'bag') as scribe:
        types = scribe.types
        for row, time in enumerate(payload_run.time):
            states = payload_run.strokes[row], payload_run.forces[row]
            scribe.joints('/rig/actuator_states', time, *states)
            scribe.joints('/arm/joint_commands', time, np.ones(6), None, names=list('abcdef'))
            point, turn = types['geometry_msgs/msg/Point'], types['geometry_msgs/msg/Quaternion']
            pose = types['geometry_msgs/msg/Pose'](point(1.0, 2.0, 3.0), turn(0.0, 0.0, 0.0, 1.0))
            message = types['geometry_msgs/msg/PoseStamped'](scribe.header(time), pose)
            stamp_ns = START_NS + round(time * 1e9)
            scribe.writer.write('/vrpn_mocap/platform/pose', stamp_ns, message)
        scribe.writer.write('/other/driver/state', 1, types['std_msgs/msg/String']('on'))
    found = experiment_from(read_recording(tmp_path / 'bag'), ex800)

    assert np.array_equal(found.experiment.forces, payload_extracted.experiment.forces)
    assert found.topics == ('/rig/actuator_states',)
    assert not any('left out, /' in str(remark) for remark in found.remarks)
    # Where one of them is named it is wanted, and cannot be read.
    recording = read_recording(tmp_path / 'bag', {'joint_commands': '/arm/joint_commands'})
    (remark,) = recording.remarks
    assert '/arm/joint_commands has no joints leg_1 ... leg_6, they are a, b' in str(remark)
    assert recording.commands is None
