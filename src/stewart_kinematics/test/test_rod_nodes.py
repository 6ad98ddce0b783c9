# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes and the verbs of the kinematics on a platform whose legs are cranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stewart_kinematics.errors import LegFamilyError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.verbs import export, fk, ik
from stewart_tables.columns import POSE
from stewart_tables.csv_tables import read_table, write_table
from typed_words import typed

NAME = 'sg90_rotary'
PLATFORM = Platform.from_yaml(NAME)
NEUTRAL = PLATFORM.geometry.neutral_pose
LIFTED = Pose.from_rpy(NEUTRAL.position + np.array([0.002, -0.003, 0.004]), (0.05, -0.03, 0.04))


def call(verb: Any, *words: object) -> int:
    return typed(verb, *words, '--platform', NAME)


@pytest.fixture
def poses(tmp_path: Path) -> Path:
    path = tmp_path / 'poses.csv'
    rows = [[*pose.position, *pose.quaternion_xyzw] for pose in (NEUTRAL, LIFTED)]
    write_table(path, [*POSE], np.array(rows))
    return path


def test_ik_writes_angles_and_fk_reads_them(poses: Path, tmp_path: Path) -> None:
    legs, back = tmp_path / 'legs.csv', tmp_path / 'back.csv'
    angles = [f'angle_{leg}_rad' for leg in range(1, 7)]
    assert call(ik, poses, '-o', legs) == 0
    assert legs.read_text().splitlines()[0].split(',') == angles
    assert call(fk, legs, '-o', back) == 0

    there, here = (read_table(path, POSE).take(POSE) for path in (poses, back))
    np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(read_table(back, ['converged']).take(['converged']), 1.0)


def test_ik_names_a_pose_that_a_rod_does_not_reach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'far.csv'
    write_table(path, [*POSE], np.array([[0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]]))

    assert call(ik, path, '-o', tmp_path / 'legs.csv') == 1
    assert 'far.csv:2: the rod of leg 1 does not reach' in capsys.readouterr().err


def test_modes_and_models_of_linear_legs_are_refused(poses: Path, tmp_path: Path) -> None:
    with pytest.raises(LegFamilyError, match='sg90_rotary has rotary legs'):
        call(fk, '--all', poses, '-o', tmp_path / 'modes.csv')
    for kind in ('mjcf', 'sdf'):
        with pytest.raises(LegFamilyError):
            typed(export, NAME, '--format', kind)


@pytest.mark.ros
def test_a_setpoint_becomes_angles_and_angles_a_pose() -> None:
    pytest.importorskip('rclpy')
    from geometry_msgs.msg import PoseStamped
    from node_harness import Harness, legs_from_msg
    from sensor_msgs.msg import JointState
    from stewart_interfaces.msg import PlatformSetpoint
    from stewart_kinematics.nodes.forward_kinematics import ForwardKinematics
    from stewart_kinematics.nodes.inverse_kinematics import InverseKinematics
    from stewart_node_support.conversions import pose_from_msg
    from stewart_node_support.hot_messages import SetpointWriter
    from stewart_node_support.legs import LegWriter
    from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS

    with Harness() as rig:
        rig.add(ForwardKinematics, platform=NAME)
        rig.add(InverseKinematics, platform=NAME)
        poses: list[Any] = rig.listen(PoseStamped, 'platform/pose', SENSOR_QOS)
        joints: list[Any] = rig.listen(JointState, 'joint_states', SENSOR_QOS)
        commands: list[Any] = rig.listen(JointState, 'joint_commands', COMMAND_QOS)
        setpoints = rig.talk(PlatformSetpoint, 'setpoint', COMMAND_QOS)
        states = rig.talk(JointState, 'actuator_states', SENSOR_QOS)
        motion = Motion.at_rest(LIFTED)
        now = rig.probe.get_clock().now().nanoseconds
        setpoints.publish(SetpointWriter('test').write(now, motion))
        rig.until(lambda: commands)
        angles = legs_from_msg(commands[-1]).position
        assert angles is not None
        states.publish(LegWriter().write(now, angles, np.zeros(6)))
        rig.until(lambda: poses and joints)
        position, _ = pose_from_msg(poses[-1].pose)

    np.testing.assert_allclose(angles, inverse(PLATFORM.geometry, motion).stroke, atol=1e-12)
    np.testing.assert_allclose(position, LIFTED.position, rtol=0.0, atol=1e-12)
    assert joints[-1].position[6:12].tolist() == pytest.approx(angles.tolist(), abs=1e-12)
