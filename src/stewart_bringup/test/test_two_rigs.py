# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Two rigs, one on the platform of the other: what is left, from a bag and in a whole demo."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy.spatial.transform import Rotation
from stewart_bags.writing import BagWriter
from stewart_bringup.demo import at_sea
from stewart_bringup.demo.report import render
from stewart_bringup.demo.run import conclude

RATE, COUNT = 200, 1000


def written(path: Path, share: float) -> Path:
    """Write a base that rolls, pitches and heaves, and a platform that takes a share of it."""
    with BagWriter(path) as writer:
        types = writer.typestore.types
        header, stamp = types['std_msgs/msg/Header'], types['builtin_interfaces/msg/Time']
        point, turn = types['geometry_msgs/msg/Point'], types['geometry_msgs/msg/Quaternion']
        posed, vector = types['geometry_msgs/msg/Pose'], types['geometry_msgs/msg/Vector3']
        twist = types['geometry_msgs/msg/TwistWithCovariance'](
            types['geometry_msgs/msg/Twist'](vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)),
            np.zeros(36),
        )

        def say(name: str, n: int, place: Any, rotation: Rotation) -> None:
            time = n * 10**9 // RATE
            pose = posed(point(*place.tolist()), turn(*rotation.as_quat().tolist()))
            message = types['nav_msgs/msg/Odometry'](
                header(stamp(time // 10**9, time % 10**9), 'world'),
                'base_link',
                types['geometry_msgs/msg/PoseWithCovariance'](pose, np.zeros(36)),
                twist,
            )
            writer.write(f'/deck/simulation/{name}', time, message)

        for n in range(COUNT):
            wave = np.sin(2.0 * n / RATE + np.arange(3))
            roll, pitch, heave = np.array([0.02, 0.03, 0.05]) * wave
            base = Rotation.from_euler('ZYX', [0.1, pitch, roll])
            left = Rotation.from_euler('ZYX', [0.1, share * pitch, share * roll])
            say('base_truth', n, np.array([0.0, 0.0, 2.0 + heave]), base)
            # Its height in the world is 3.7 m and a share of the heave.
            place = np.array([0.3, -0.2, 1.7 + (share - 1.0) * heave])
            say('truth', n, base.inv().apply(place), base.inv() * left)
    return path


def test_what_is_left_is_found_from_the_truths_of_base_and_platform(tmp_path: Path) -> None:
    found = at_sea.Levelled.of_bag(written(tmp_path / 'bag', 0.1), 1.0, 4.0)
    assert (found.time[0], found.time[-1]) == pytest.approx((1.0, 4.0))
    np.testing.assert_allclose(found.left, 0.1 * found.base, atol=1e-12)
    heave = 0.05 * np.sin(2.0 * found.time + 2.0)
    np.testing.assert_allclose(found.base[:, 2], heave - heave.mean(), atol=1e-12)


@pytest.mark.parametrize(
    ('share', 'lost', 'faults', 'wrong'),
    [
        (0.04, 0, [], []),
        (0.2, 0, [], ['roll that is left', 'pitch that is left']),
        (0.04, 3, ['leg 2: following error'], ['lost messages', 'driver faults']),
    ],
)
def test_a_chapter_names_what_did_not_hold(
    share: float, lost: int, faults: list[str], wrong: list[str]
) -> None:
    time = np.linspace(0.0, 9.0, 200)
    base = 0.03 * np.sin(np.add.outer(2.0 * time, np.arange(3)))
    chapter = at_sea.judge(at_sea.Levelled(time, base, share * base), lost, faults)
    assert [check.name for check in chapter.checks if check.failed] == wrong
    assert f'{100 * share:.1f} %' in chapter.body
    assert chapter.verdict == ('FAILED' if wrong else 'held')
    first_screen, _, details = render([chapter], {}).partition('<nav>')
    # Nothing was measured along a path, and no empty column says so.
    assert '[mm]</th>' not in details
    assert 'End-to-end latency' not in details
    console = Console(file=StringIO(), width=200)
    conclude(console, [chapter])
    said = console.file.getvalue()
    assert 'latency' not in said
    assert f'heave that is left: {100 * share:.1f} %' in said
    assert [line for line in wrong if f'FAILED: {line}: ' in said] == wrong
    for name in ('roll', 'pitch', 'heave'):
        assert f'<dt>{name} that is left</dt><dd>{100 * share:.1f} %</dd>' in first_screen


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_one_rig_keeps_level_on_the_platform_of_another(tmp_path: Path) -> None:
    pytest.importorskip('rclpy')
    from stewart_bringup.demo.run import run_demo
    from stewart_node_support.stop_signals import StopSignals

    with StopSignals() as stop:
        assert run_demo([], tmp_path, stop, sea=1) is True
    assert 'every check held' in (tmp_path / 'report.html').read_text()
