# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which parts of a model become base, platform and legs, and what says how far the legs go."""

from __future__ import annotations

from pathlib import Path

import foreign_models as foreign
from foreign_models import check_joints, imported
import numpy as np
import pytest
from stewart_kinematics.errors import ConfigurationError

pytest.importorskip('mujoco', reason='MJCF is read by MuJoCo, PyPI: mujoco')

SHIP = '<joint type="slide" axis="0 0 1"/><geom size="1" mass="1000"/>'


@pytest.mark.parametrize('first', [True, False])
def test_the_base_is_what_the_legs_descend_from(tmp_path: Path, first: bool) -> None:
    text = foreign.closed_by_bodies()
    begin, end = text.index('<body name="top"'), text.index('<body name="lower0"')
    stop = text.index('</worldbody>')
    plate, legs = text[begin:end], f'<body name="ship">{SHIP}{text[end:stop]}</body>'
    both = legs + plate if first else plate + legs
    platform, notes = imported(tmp_path, text[:begin] + both + text[stop:])

    check_joints(platform)
    assert 'base_link is ship, platform_link is top' in notes


@pytest.mark.parametrize('joint', ['', SHIP])
def test_what_stands_still_is_the_base_and_what_is_free_the_platform(
    tmp_path: Path, joint: str
) -> None:
    # The rods and the slides descend from the plate.
    text = foreign.legs_in_halves()
    frame = '<body name="frame" pos="0 0 0">'
    platform, notes = imported(tmp_path, text.replace(frame, frame + joint))
    masses = platform.masses
    assert masses is not None

    check_joints(platform)
    assert 'base_link is frame, platform_link is plate' in notes
    assert (masses.platform.mass, masses.cylinder.mass) == pytest.approx((5.0, 1.6))
    assert masses.rod.mass == pytest.approx(0.5)
    # A slide that brings the nut nearer to the base makes the leg shorter.
    assert platform.limits.stroke[0] == pytest.approx([-0.1, 0.2])


def test_what_carries_the_other_is_the_base_though_it_is_free(tmp_path: Path) -> None:
    text = foreign.closed_by_bodies()
    begin, end = text.index('<body name="top"'), text.index('<body name="lower0"')
    stop = text.index('</worldbody>')
    axes = ''.join(f'<joint type="slide" axis="{axis}"/>' for axis in ('1 0 0', '0 1 0', '0 0 1'))
    plate = text[begin:end].replace('<freejoint/>', f'{axes}<joint type="ball"/>')
    ship = '<body name="ship"><freejoint/><geom size="1" mass="1000"/>'
    legs = f'{ship}{plate}{text[end:stop]}</body>'
    platform, notes = imported(tmp_path, text[:begin] + legs + text[stop:])

    check_joints(platform)
    assert 'base_link is ship, platform_link is top' in notes


@pytest.mark.parametrize('sites', [False, True])
def test_the_frame_of_the_platform_is_that_of_its_free_link(tmp_path: Path, sites: bool) -> None:
    # A shoe comes first, and is heavier.
    platform, notes = imported(tmp_path, foreign.on_shoes(sites=sites))

    check_joints(platform)
    assert 'base_link is world, platform_link is top' in notes
    assert not any('weld' in note for note in notes)
    assert platform.masses is not None
    assert platform.masses.platform.mass == pytest.approx(8.25 + 6 * 9.0)


def test_the_frame_of_a_platform_on_a_leg_is_that_of_its_heaviest_link(tmp_path: Path) -> None:
    joints = '<joint axis="0 1 0"/><joint axis="0 0 1"/>'
    place = f'pos="{foreign.text(-foreign.TOP[0])}"'
    shoe = '<inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>'
    text = foreign.hung_on_one_leg().replace(place, 'pos="0 0 0"')
    load = '<inertial pos="0 0 0.1" mass="20" diaginertia="0.1 0.1 0.1"/>'
    load = f'<body name="payload">{load}</body>'
    top = f'<body name="shoe">{joints}{shoe}<body name="top" {place}>{load}'
    text = text.replace(f'<body name="top">{joints}', top).replace(
        '</worldbody>', '</body></worldbody>'
    )
    platform, notes = imported(tmp_path, text)

    check_joints(platform)
    assert 'base_link is floor, platform_link is top' in notes
    # A payload, which may be heavier, is none of the platform's links.
    assert platform.masses is not None
    assert platform.masses.payload is not None
    assert platform.masses.payload.mass == pytest.approx(20.0)


def test_three_hinges_at_the_base_are_no_universal_joint(tmp_path: Path) -> None:
    second = '<joint axis="0 1 0" range="-35 35"/>'
    text = foreign.closed_by_bodies().replace(second, f'{second}<joint axis="0 0 1"/>')
    platform, notes = imported(tmp_path, text)

    why = 'not every leg has a universal joint at the base'
    assert f'legs.base_joint_axis_direction: assumed x; {why}' in notes
    assert platform.base_joint_axes == pytest.approx(np.tile([1.0, 0.0, 0.0], (6, 1)))


@pytest.mark.parametrize('sites', [False, True])
def test_a_weld_that_is_drawn_open_is_refused_or_told(tmp_path: Path, sites: bool) -> None:
    with pytest.raises(ConfigurationError, match=r'glue0: off .m., .rad.: .* got \[0.1, 0.0\]'):
        imported(tmp_path, foreign.on_shoes(0.1, sites))
    if not sites:
        turned = foreign.on_shoes().replace(' 1 0 0 0"', ' 0.995 0 0 0.1"', 1)
        with pytest.raises(ConfigurationError, match=r'glue0: off .* got \[0.0, 0.200\d*\]'):
            imported(tmp_path, turned)

    _, notes = imported(tmp_path, foreign.on_shoes(1e-4, sites))
    assert 'glue0: welded as drawn, 0.0001 m and 0 rad off' in notes


def test_models_without_limits_get_an_assumed_stroke(tmp_path: Path) -> None:
    text = foreign.closed_by_bodies().replace(' range="-0.15 0.15"', '')
    platform, notes = imported(tmp_path, text)

    mean = foreign.LENGTHS.mean()
    assert platform.limits.stroke[0] == pytest.approx([0.0, 0.5 * mean])
    assert platform.geometry.retracted_length == pytest.approx(0.75 * mean)
    assert any('the model has slides without limits' in note for note in notes)
    assert platform.sources['legs.stroke_m'].startswith('assumption')

    # What a motor may push says nothing of where.
    text = text.replace('kp="5000"', 'ctrlrange="-1 1"').replace('<position', '<motor')
    _, notes = imported(tmp_path, text)
    assert any('the model has slides without limits' in note for note in notes)


@pytest.mark.parametrize('servo', ['ctrlrange="-0.05 0.08"', 'ctrlrange="-0.16 0.1" gear="-2"'])
def test_slides_without_limits_have_those_of_their_position_actuators(
    tmp_path: Path, servo: str
) -> None:
    text = foreign.closed_by_bodies().replace(' range="-0.15 0.15"', '')
    platform, notes = imported(tmp_path, text.replace('<position', f'<position {servo}'))

    assert platform.limits.stroke[0] == pytest.approx([-0.05, 0.08])
    assert platform.geometry.retracted_length == pytest.approx(foreign.LENGTHS)
    names = ', '.join(f'act{i}' for i in range(6))
    assert f'{names}: without a range, the ctrlrange of a position actuator is it' in notes
