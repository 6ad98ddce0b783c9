# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from kinematic_rig import motions, NEUTRAL, neutral_plus, require_at_rest, require_continuous, Rig
from rclpy.logging import get_logger, LoggingSeverity
from std_srvs.srv import Trigger
from stewart_interfaces.msg import DriverState
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion_csv import POSE, TIME
from stewart_kinematics.nodes.excitation_trajectory import ExcitationTrajectory
from stewart_kinematics.nodes.ocean_trajectory import OceanTrajectory
from stewart_kinematics.nodes.parameters import components, OceanTrajectoryParameters
from stewart_kinematics.trajectories import Cycloidal
from stewart_node_support.errors import StartUpError

START = neutral_plus(x=0.02, z=-0.03)
# Single wave of Vigo, Fig. 11, but of 2 s and 10 mm: one that moves within the time of a test.
WAVE = {
    'amplitudes': [0.01],
    'periods': [2.0],
    'lengths': [10.0],
    'phases_deg': [10.0],
    'scaling': 'none',
    # The way there and home as fast as allowed.
    'speed_scale': 1.0,
    'rate': 100.0,
}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(START) as running:
        running.drive(DriverState.ENABLED)
        yield running


def quiet(rig: Rig, node: Any, timeout: float = 15.0) -> None:
    """Wait until the node has come home, and check that it says nothing more."""
    rig.until(lambda: node.playback is None, timeout)
    rig.spin(0.05)
    count = len(rig.setpoints)
    rig.spin(0.1)
    assert len(rig.setpoints) == count


def require_excursion(rig: Rig, target: np.ndarray) -> Any:
    """Check that the recorded stream begins and ends at rest and never jumps; return it."""
    require_continuous(rig.setpoints)
    require_at_rest(rig.setpoints[0])
    require_at_rest(rig.setpoints[-1])
    _, motion = motions(rig.setpoints)
    np.testing.assert_allclose(motion.position[0], START.position, rtol=0, atol=1e-8)
    np.testing.assert_allclose(motion.position[-1], target, rtol=0, atol=1e-9)
    assert rig.inverse.refusals.refused == 0
    return motion


def test_wave_is_approached_played_and_left_without_a_jump(rig: Rig) -> None:
    node = rig.active(OceanTrajectory, **WAVE, fade_in=0.5, fade_out=0.5)
    answer = rig.call(Trigger, 'ocean/start')
    rig.spin(2.5)
    stopped = rig.call(Trigger, 'ocean/stop')
    again = rig.call(Trigger, 'ocean/stop')
    quiet(rig, node)
    motion = require_excursion(rig, NEUTRAL.position)

    assert answer.success
    assert answer.message.startswith('approaching for ')
    assert stopped.message == 'fading out for 0.50 s, then returning'
    assert again.message == 'on the way home already'
    # Up and down by its amplitude about the neutral pose, e^(k a) included.
    heave = motion.position[:, 2] - NEUTRAL.position[2]
    assert 0.009 < heave.max() < 0.0105
    assert np.abs(motion.quaternion_xyzw[:, :2]).max() > 1e-3


def test_a_wave_that_nothing_follows_ends(rig: Rig) -> None:
    """It was played to nobody for as long as inverse_kinematics took it."""
    node = rig.active(OceanTrajectory, **WAVE)
    rig.follow = False
    assert rig.call(Trigger, 'ocean/start').success
    rig.spin(4.0)
    assert node.playback is None
    assert node.aborted.startswith('the platform stands still, ')
    # A driver that plays at a hundredth of its speed seems to stand still, too.
    rig.drive(DriverState.DISABLED)
    rig.drive(DriverState.ENABLED, speed_scaling=0.01)
    rig.spin(0.3)
    assert rig.call(Trigger, 'ocean/start').success
    rig.spin(4.0)
    assert node.playback is not None
    # At full speed again it is behind, and may be where the path has dwelt.
    rig.drive(DriverState.ENABLED)
    rig.spin(4.0)
    assert node.playback is not None


def test_a_wave_that_is_refused_ends_although_another_one_is_executed(rig: Rig) -> None:
    """Two that start within the way of one message are both told that they may."""
    sea = rig.active(OceanTrajectory, **WAVE)
    assert rig.call(Trigger, 'ocean/start').success
    rig.spin(0.5)
    other = rig.active(ExcitationTrajectory, duration=20.0, rate=100.0)
    other.start_pose.require = lambda: START
    assert rig.call(Trigger, 'excitation/start').success
    rig.spin(2.0)
    assert sea.playback is not None
    assert other.playback is None
    assert other.aborted == 'inverse_kinematics executes nothing: its diagnostics tell why'


@pytest.mark.parametrize('fade_out', [0.0, 0.01, 2.5])
@pytest.mark.parametrize('moment', [0.9, pytest.param(2.0, marks=pytest.mark.slow)])
def test_wave_comes_home_with_any_fade_and_at_any_moment(
    rig: Rig, moment: float, fade_out: float
) -> None:
    node = rig.active(OceanTrajectory, **WAVE, fade_in=0.5, fade_out=fade_out)
    assert rig.call(Trigger, 'ocean/start').success
    rig.spin(moment)
    stopped = rig.call(Trigger, 'ocean/stop')
    quiet(rig, node)
    require_excursion(rig, NEUTRAL.position)

    assert stopped.success
    assert 'returning' in stopped.message


@pytest.mark.parametrize(
    ('duration', 'fade_out'), [(20.0, 0.4), (2.5, 2.0)], ids=['before its fall', 'during its fall']
)
def test_excitation_comes_home_when_stopped(rig: Rig, duration: float, fade_out: float) -> None:
    node = rig.active(
        ExcitationTrajectory,
        duration=duration,
        fade_in=0.5,
        fade_out=fade_out,
        speed_scale=1.0,
        rate=100.0,
    )
    assert rig.call(Trigger, 'excitation/start').success
    rig.spin(1.6)
    stopped = rig.call(Trigger, 'excitation/stop')
    quiet(rig, node)
    require_excursion(rig, NEUTRAL.position)

    assert stopped.message.startswith('fading out for ')


def test_wave_with_an_end_returns_by_itself(rig: Rig) -> None:
    node = rig.active(OceanTrajectory, **WAVE, duration=1.5, fade_in=0.5, fade_out=0.5)
    assert rig.call(Trigger, 'ocean/start').success
    quiet(rig, node)
    require_excursion(rig, NEUTRAL.position)
    # It can be played again, from where it ended.
    rig.setpoints.clear()
    assert rig.call(Trigger, 'ocean/start').success
    np.testing.assert_allclose(
        motions(rig.setpoints)[1].position[0], NEUTRAL.position, rtol=0, atol=1e-9
    )


def test_stop_during_the_approach_slows_down_and_returns(rig: Rig) -> None:
    node = rig.active(OceanTrajectory, **{**WAVE, 'speed_scale': 0.1})
    rig.call(Trigger, 'ocean/start')
    rig.spin(0.4)
    answer = rig.call(Trigger, 'ocean/stop')
    quiet(rig, node)
    motion = require_excursion(rig, NEUTRAL.position)

    assert answer.message.startswith('stopping for ')
    # On its way it stood still off the neutral pose.
    speed = np.linalg.norm(motion.linear_velocity, axis=1)
    standing = np.flatnonzero(speed[20:-20] < 1e-3) + 20
    assert standing.size


def test_second_start_is_refused_and_the_first_goes_on(rig: Rig) -> None:
    node = rig.active(OceanTrajectory, **WAVE)
    rig.call(Trigger, 'ocean/start')
    rig.spin(0.2)
    answer = rig.call(Trigger, 'ocean/start')

    assert not answer.success
    assert answer.message == 'another motion is being played'
    assert node.playback is not None


def test_deactivation_falls_silent_at_once_and_does_not_return(rig: Rig) -> None:
    node = rig.active(OceanTrajectory, **WAVE)
    rig.call(Trigger, 'ocean/start')
    rig.spin(1.0)
    node.trigger_deactivate()
    rig.spin(0.05)
    count = len(rig.setpoints)
    rig.spin(0.2)

    assert len(rig.setpoints) == count
    answer = rig.call(Trigger, 'ocean/start')
    assert answer.message == 'not yet: ocean_trajectory is inactive, not active'


def test_driver_that_stops_ends_the_wave_and_the_next_starts_where_it_stopped(rig: Rig) -> None:
    node = rig.active(OceanTrajectory, **WAVE)
    rig.call(Trigger, 'ocean/start')
    rig.spin(1.0)
    rig.drive(DriverState.STOPPING, 'silence')
    assert node.playback is None
    assert re.fullmatch(
        r'nothing is being played; the last motion was aborted \d\.\d s ago: '
        'the driver went to STOPPING: silence',
        rig.call(Trigger, 'ocean/stop').message,
    )
    assert rig.call(Trigger, 'ocean/start').message.startswith('not yet: the driver is STOPPING')
    rig.drive(DriverState.ENABLED)
    rig.spin(0.1)
    measured = rig.poses[-1].pose.position
    rig.setpoints.clear()
    assert rig.call(Trigger, 'ocean/start').success
    rig.until(lambda: rig.setpoints)
    first = rig.setpoints[0]
    require_at_rest(first)
    assert first.pose.position.z == pytest.approx(measured.z, abs=1e-9)


def test_stop_without_a_start_is_refused(rig: Rig) -> None:
    rig.active(OceanTrajectory, **WAVE)

    assert rig.call(Trigger, 'ocean/stop').message == 'nothing is being played'


def test_wave_that_leaves_the_workspace_is_refused_when_started(rig: Rig) -> None:
    node = rig.active(OceanTrajectory, **{**WAVE, 'amplitudes': [0.6]})
    answer = rig.call(Trigger, 'ocean/start')

    assert not answer.success
    assert answer.message.startswith('the motion does not fit the platform vigo: ')
    assert ' at sample ' in answer.message
    assert node.playback is None
    assert rig.setpoints == []


@pytest.mark.parametrize(
    ('scale', 'level', 'where'), [(0.1, 'INFO', ' at limit_scale 0.1'), (1.0, 'WARN', '')]
)
def test_narrowed_limits_are_no_reason_to_warn_of_a_motion_that_nobody_starts(
    rig: Rig, capfd: pytest.CaptureFixture[str], scale: float, level: str, where: str
) -> None:
    """A machine that is commissioned at a tenth of its limits was warned of the excitation."""
    get_logger('ocean_trajectory').set_level(LoggingSeverity.INFO)
    rig.active(OceanTrajectory, **{**WAVE, 'amplitudes': [0.6], 'limit_scale': scale})
    said = capfd.readouterr().err
    (line,) = [line for line in said.splitlines() if 'does not fit' in line]
    assert line.startswith(f'[{level}]')
    assert f'the motion does not fit the platform vigo{where}: ' in line
    assert line.endswith('; it is refused if it is started')


def test_sea_from_a_spectrum_is_fitted_and_repeats_with_its_seed(rig: Rig) -> None:
    keywords = {'seed': 4, 'duration': 10.0, 'components': 10, 'speed_scale': 1.0}
    node = rig.active(OceanTrajectory, **keywords)
    wave = node._wave
    sea = wave.trajectory.components
    # The sea that was drawn, with amplitudes in one proportion, such that all of it fits.
    drawn = components(OceanTrajectoryParameters(seed=4, components=10))
    factors = [own.amplitude / full.amplitude for own, full in zip(sea, drawn, strict=True)]

    np.testing.assert_allclose(factors, factors[0])
    node.guard.check(wave.sample(np.arange(0.0, 10.0, 0.01)))


def test_parameters_set_between_two_configurations_count(rig: Rig) -> None:
    from rclpy.parameter import Parameter

    node = rig.active(OceanTrajectory, **WAVE)
    first = node._wave.trajectory.components
    asked = [Parameter('amplitudes', value=[0.005])]
    assert not node.set_parameters(asked)[0].successful
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert node.set_parameters(asked)[0].successful
    node.trigger_configure()

    assert first[0].amplitude == 0.01
    assert node._wave.trajectory.components[0].amplitude == 0.005


def test_excitation_plays_a_shipped_multi_sine(rig: Rig) -> None:
    node = rig.active(
        ExcitationTrajectory,
        duration=2.0,
        fade_in=0.5,
        fade_out=0.5,
        speed_scale=1.0,
        rate=100.0,
    )
    assert rig.call(Trigger, 'excitation/start').success
    quiet(rig, node)
    motion = require_excursion(rig, NEUTRAL.position)

    assert np.abs(motion.position[:, 2] - NEUTRAL.position[2]).max() > 0.03
    assert {message.source for message in rig.setpoints} == {'excitation_trajectory'}


def test_excitation_plays_samples_from_a_file(rig: Rig, tmp_path: Path) -> None:
    recorded = Cycloidal(neutral_plus(z=0.01), neutral_plus(z=0.06, rpy=(0.1, 0.0, 0.0)), 1.0)
    time = np.linspace(0.0, 1.0, 101)
    motion = recorded.sample(time)
    table = np.column_stack([time, motion.position, motion.quaternion_xyzw])
    path = tmp_path / 'recorded.csv'
    np.savetxt(path, table, delimiter=',', header=','.join((TIME, *POSE)), comments='')
    node = rig.active(
        ExcitationTrajectory,
        motion=str(path),
        fade_in=0.2,
        fade_out=0.4,
        speed_scale=1.0,
        rate=100.0,
    )
    assert rig.call(Trigger, 'excitation/start').success
    quiet(rig, node)
    played = require_excursion(rig, NEUTRAL.position)

    assert np.abs(played.position[:, 2]).max() > NEUTRAL.position[2] + 0.04


@pytest.mark.parametrize(
    ('motion', 'reason'), [('missing.yaml', 'missing.yaml'), ('missing.csv', 'missing.csv')]
)
def test_missing_file_is_named_when_configured(rig: Rig, motion: str, reason: str) -> None:
    with pytest.raises(StartUpError, match=rf'did not configure: .*{reason}'):
        rig.active(ExcitationTrajectory, motion=motion)


def test_components_need_as_many_periods_as_amplitudes() -> None:
    with pytest.raises(ConfigurationError, match='periods: expected 2 values'):
        components(OceanTrajectoryParameters(amplitudes=(0.1, 0.2), periods=(3.0,)))


def test_components_without_a_length_obey_deep_water() -> None:
    (wave,) = components(OceanTrajectoryParameters(amplitudes=(0.1,), periods=(3.0,)))

    assert wave.length == pytest.approx(14.05, abs=0.01)


def test_both_spectra_can_be_drawn_from() -> None:
    jonswap = components(OceanTrajectoryParameters())
    moskowitz = components(OceanTrajectoryParameters(spectrum='pierson_moskowitz'))

    assert len(jonswap) == len(moskowitz) == 30
    assert jonswap != moskowitz
