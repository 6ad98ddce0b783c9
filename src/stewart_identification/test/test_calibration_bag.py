# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of a tracker from a bag: the rests, and nothing of the motion between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_bags.writing import BagWriter
from stewart_identification.calibration.observations import read_rests
from stewart_identification.errors import ConfigurationError, UnusableRecording

STROKES = np.array([[0.1, 0.2, 0.3, 0.1, 0.2, 0.3], [0.2, 0.1, 0.2, 0.3, 0.1, 0.2]])
PLACES = np.array([[0.01, 0.02, 1.0], [0.05, -0.03, 1.1]])
TURNS = Rotation.from_rotvec([[0.1, 0.0, 0.05], [0.0, -0.2, 0.1]])


def write(
    path: Path,
    topic: str,
    covariance: bool,
    encoder: float = 2e-6,
    lost: tuple[int, ...] = (),
    stamped: bool = True,
    back: float = 0.0,
    unstamped: int | None = None,
) -> Path:
    """Rest for 2 s, move for 1 s, rest for 2 s, with noise; the tracker is 50 ms late."""
    rng = np.random.default_rng(1)
    with BagWriter(path) as writer:
        types = writer.typestore.types
        time, header = types['builtin_interfaces/msg/Time'], types['std_msgs/msg/Header']
        point, turn = types['geometry_msgs/msg/Point'], types['geometry_msgs/msg/Quaternion']
        pose, posed = types['geometry_msgs/msg/Pose'], types['geometry_msgs/msg/PoseStamped']
        for number in range(500):
            stamp = 0.01 * number
            now = round((stamp - back * (number >= 250)) * 1e9)
            share, late = (np.clip(t - 2.0, 0.0, 1.0) for t in (stamp, stamp - 0.05))
            set_by = now * (stamped and number != unstamped)
            at = header(time(*divmod(set_by, 10**9)), 'tracker')
            strokes = (1.0 - share) * STROKES[0] + share * STROKES[1]
            strokes = strokes + encoder * rng.normal(size=6)
            names, nothing = [f'leg_{leg}' for leg in range(1, 7)], np.empty(0)
            joints = types['sensor_msgs/msg/JointState'](at, names, strokes, nothing, nothing)
            writer.write('/actuator_states', now, joints)
            place = (1.0 - late) * PLACES[0] + late * PLACES[1] + 3e-5 * rng.normal(size=3)
            wrong = Rotation.from_rotvec(2e-5 * rng.normal(size=3))
            quaternion = (wrong * TURNS[int(late > 0.5)]).as_quat()
            if number in lost:
                quaternion *= 0.0 if number % 2 else np.nan
            item = pose(point(*place.tolist()), turn(*quaternion.tolist()))
            if covariance:
                kind = types['geometry_msgs/msg/PoseWithCovarianceStamped']
                with_covariance = types['geometry_msgs/msg/PoseWithCovariance']
                message = kind(at, with_covariance(item, np.zeros(36)))
            else:
                message = posed(at, item)
            writer.write(topic, now, message)
    return path


@pytest.mark.parametrize('covariance', [False, True])
def test_every_rest_is_a_row(tmp_path, covariance) -> None:
    bag = write(tmp_path / 'bag', '/mocap/target', covariance)
    found, lost = read_rests(bag, {'platform/external_pose': '/mocap/target'})
    assert len(found) == 2
    assert lost == 0
    np.testing.assert_allclose(found.strokes, STROKES, atol=2e-6)
    np.testing.assert_allclose(found.position, PLACES, atol=2e-5)
    np.testing.assert_allclose(found.rotation, TURNS.as_matrix(), atol=2e-5)
    assert found.tracked.all()
    assert not found.felt.any()
    assert found.source.tolist() == [f'{bag} at 0.0 s', f'{bag} at 3.0 s']


def test_the_bags_own_times_stand_in_for_stamps_that_are_zero(tmp_path, capsys) -> None:
    bag = write(tmp_path / 'bag', '/platform/external_pose', covariance=False, stamped=False)
    found, _ = read_rests(bag)
    np.testing.assert_allclose(found.position, PLACES, atol=2e-5)
    assert capsys.readouterr().err.splitlines() == [
        f"/{name}: all stamps are zero, the bag's own times are used"
        for name in ('actuator_states', 'platform/external_pose')
    ]


def test_a_message_without_a_stamp_does_not_make_a_rest_of_a_motion(tmp_path) -> None:
    bag = write(tmp_path / 'bag', '/platform/external_pose', covariance=False, unstamped=300)
    found, _ = read_rests(bag)
    np.testing.assert_allclose(found.strokes, STROKES, atol=2e-5)


def test_a_bag_without_a_rest_is_refused(tmp_path) -> None:
    bag = write(tmp_path / 'bag', '/platform/external_pose', covariance=True)
    with pytest.raises(ConfigurationError, match='rests of 3 s or more'):
        read_rests(bag, seconds=3.0)


def test_a_clock_that_was_set_back_is_refused(tmp_path) -> None:
    bag = write(tmp_path / 'bag', '/platform/external_pose', covariance=True, back=2.0)
    with pytest.raises(UnusableRecording, match=r'time that was recorded twice, 1\.99'):
        read_rests(bag)


def test_poses_of_a_lost_target_are_left_out_and_counted(tmp_path) -> None:
    bag = write(tmp_path / 'bag', '/platform/external_pose', covariance=False, lost=(150, 151))
    found, lost = read_rests(bag)
    assert lost == 2
    np.testing.assert_allclose(found.rotation, TURNS.as_matrix(), atol=2e-5)


def test_rests_of_noisy_encoders_are_found_by_their_noise(tmp_path) -> None:
    bag = write(tmp_path / 'bag', '/platform/external_pose', covariance=False, encoder=2e-5)
    with pytest.raises(ConfigurationError, match='more with --stroke-noise'):
        read_rests(bag)
    found, _ = read_rests(bag, stroke_noise=2e-5)
    np.testing.assert_allclose(found.strokes, STROKES, atol=2e-5)
