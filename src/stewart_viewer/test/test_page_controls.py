# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a person does on the page reaches the rig: every button, the sliders, the gizmo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('selenium')

from chromium import click, DISABLED, drag, drawn, HEARD, LIMIT, PATIENCE, picture, press, values
from matplotlib.colors import rgb_to_hsv
from probe_rig import ProbeRig
from selenium.webdriver.common.keys import Keys
from stewart_interfaces.msg import DriverState
from stewart_kinematics.platform import Platform
from stewart_node_support.testing import Harness
from stewart_viewer.nodes.web_viewer import WebViewer

pytestmark = [pytest.mark.ros, pytest.mark.timeout(LIMIT)]
Z, ROLL = 2, 3
BUTTONS = {
    'Enable': 'driver/enable',
    'Start wave': 'ocean/start',
    'Stop wave': 'ocean/stop',
    'Quick stop': 'driver/quick_stop',
    'Disable': 'driver/disable',
    'Reset fault': 'driver/reset_fault',
}


@pytest.fixture
def page(browser: Any, ex800: Platform) -> Iterator[tuple[Harness, ProbeRig]]:
    """Open the live page of a rig."""
    with Harness() as harness:
        rig = ProbeRig(harness)
        viewer = harness.add(WebViewer, platform='ex800', port=0, rate=5.0)
        browser.get(viewer.view.url)

        def seen() -> bool:
            rig.say(ex800.geometry.neutral_pose, DriverState.ENABLED, 'all drives are on')
            harness.spin(HEARD)
            return drawn(browser) and len(values(browser)) == 7

        harness.until(seen, PATIENCE)
        yield harness, rig


def test_every_button_calls_its_service(browser: Any, page: tuple[Harness, ProbeRig]) -> None:
    harness, rig = page
    for label, service in BUTTONS.items():
        click(browser, label)
        harness.until(lambda service=service: service in rig.called, PATIENCE)
    assert rig.called == [*BUTTONS.values()]
    harness.until(lambda: 'driver/reset_fault: done: as you wish' in browser.page_source, PATIENCE)


def arrived(browser: Any) -> bool:
    """Tell whether the verdict is on the target that the sliders show."""
    shown = [f'{value:.1f}' for value in values(browser)[:6]]
    return f'{", ".join(shown[:3])} mm, {", ".join(shown[3:])}°' in browser.page_source


def test_sliders_move_the_platform_inside_its_limits(
    browser: Any, page: tuple[Harness, ProbeRig], ex800: Platform
) -> None:
    harness, rig = page
    # A page sends one slider at a time, at most every 50 ms; whoever uses two is slower.
    for slider, key in ((Z, Keys.ARROW_UP), (ROLL, Keys.ARROW_DOWN)):
        for _ in range(5):
            press(browser, slider, key)
        harness.until(lambda: arrived(browser), PATIENCE)
    chosen = values(browser)
    assert chosen[Z] > 0.0 > chosen[ROLL]
    click(browser, 'Move there')
    harness.until(lambda: rig.goals, PATIENCE)
    (goal,) = rig.goals
    neutral = ex800.geometry.neutral_pose.position
    place = goal.target.position
    away = np.subtract([place.x, place.y, place.z], neutral)
    np.testing.assert_allclose(1e3 * away, [0.0, 0.0, chosen[Z]], atol=1e-6)
    half = 0.5 * np.radians(chosen[ROLL])
    assert goal.target.orientation.x == pytest.approx(np.sin(half), abs=1e-6)
    assert goal.speed_scale == pytest.approx(0.1)
    harness.until(lambda: 'reached the target. that was quick' in browser.page_source, PATIENCE)

    # As far up and to the side as the sliders go is out of reach.
    press(browser, Z, Keys.END)
    press(browser, 0, Keys.END)
    harness.until(lambda: browser.execute_script(DISABLED, 'Move there'), PATIENCE)
    assert 'Refused:' in browser.page_source
    click(browser, 'Target to neutral')
    harness.until(lambda: not any(values(browser)[:6]), PATIENCE)
    harness.until(lambda: not browser.execute_script(DISABLED, 'Move there'), PATIENCE)
    assert len(rig.goals) == 1


def test_the_gizmo_moves_the_sliders(browser: Any, page: tuple[Harness, ProbeRig]) -> None:
    harness, _ = page
    # The tip of its upright arrow is the topmost that has a colour.
    _, depth, _ = np.moveaxis(rgb_to_hsv(picture(browser)), -1, 0)
    rows, columns = np.nonzero(depth > 0.2)
    column, row = int(columns[rows == rows.min()].mean()), int(rows.min()) + 10

    def risen() -> bool:
        drag(browser, column, row, 40)
        return values(browser)[Z] > 0.0

    harness.until(risen, PATIENCE)
