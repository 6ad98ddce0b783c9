# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: what a person sees.

The rig behind the live page is a probe node, so that nothing here depends on how fast it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import signal
import subprocess
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('selenium')

from chromium import (
    banner,
    coloured,
    drawn,
    HEARD,
    LABELS,
    LIMIT,
    PATIENCE,
    picture,
    plate_rows,
    SLIDER,
    TICK,
    wait_until,
)
from node_harness import Harness
from probe_rig import ProbeRig
from rclpy.serialization import serialize_message
from selenium.webdriver.common.keys import Keys
from stewart_bags.writing import BagWriter
from stewart_interfaces.msg import DriverState
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_viewer.nodes.web_viewer import WebViewer

pytestmark = [pytest.mark.ros, pytest.mark.timeout(LIMIT)]
# The software renderer is given this time for one picture [s].
SETTLED = 0.5
NO_EVENT = 'input[value="an event …"]'
FAULT = '//*[@role="option"][contains(., "FAULT")]'
PLOTS = """
return [...document.querySelectorAll('.uplot:has(canvas):has(.u-title)')].map(plot => {
    const canvas = plot.querySelector('canvas');
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let lines = 0;
    for (let i = 0; i < pixels.length; i += 4)
        lines += pixels[i + 3] > 0 && Math.abs(pixels[i] - pixels[i + 2]) > 80;
    return [plot.querySelector('.u-title').innerText, lines];
});
"""
# Where the hue of what is drawn lies, see scene.py.
GHOST, VIOLET, RED, ARROW = (0.39, 0.44), (0.70, 0.80), (0.93, 1.0), (0.0, 0.025)


@pytest.fixture(scope='module')
def page(browser: Any) -> Iterator[tuple[Harness, ProbeRig]]:
    """Open the live page of a rig, which has said nothing yet."""
    with Harness(real=True) as harness:
        rig = ProbeRig(harness)
        viewer = harness.add(WebViewer, platform='ex800', port=0, rate=5.0)
        browser.get(viewer.view.url)
        yield harness, rig


# test_scene.py and test_recording.py say of each of these what the page is told to draw.
@pytest.mark.slow
def test_all_that_is_heard_of_the_legs_and_the_estimate_is_drawn(
    browser: Any, page: tuple[Harness, ProbeRig], ex800: Platform
) -> None:
    harness, rig = page
    neutral, limits = ex800.geometry.neutral_pose, ex800.limits.stroke
    high = Pose.from_rpy(np.add(neutral.position, [0.0, 0.0, 0.05]), (0.0, 0.0, 0.0))
    middle = limits.mean(axis=1)

    def plots() -> dict[str, int]:
        return {title.split()[0]: lines for title, lines in browser.execute_script(PLOTS)}

    def shown() -> bool:
        rig.say(neutral, DriverState.ENABLED, 'all drives are on')
        rig.measure(middle)
        harness.spin(HEARD)
        return drawn(browser) and plots().get('strokes', 0) > 100

    harness.until(shown, PATIENCE)
    assert 'forces' not in plots(), 'no force was measured'
    before = picture(browser)

    def more(hue: tuple[float, float], pixels: int) -> bool:
        rig.say(neutral, DriverState.ENABLED, 'all drives are on')
        harness.spin(HEARD)
        return coloured(picture(browser), *hue) > coloured(before, *hue) + pixels

    def commanded() -> bool:
        rig.command(high)
        return more(GHOST, 1000) and 'commanded' in browser.page_source

    def at_the_end() -> bool:
        rig.measure(limits[:, 1] - 1e-3)
        return more(RED, 500)

    def pushing() -> bool:
        rig.measure(middle, np.linspace(10.0, 60.0, 6))
        return more(ARROW, 100) and plots().get('forces', 0) > 50

    def estimated() -> bool:
        rig.estimate(neutral, 7e-4)
        return more(VIOLET, 300) and 'estimated' in browser.page_source

    for stage in (commanded, at_the_end, pushing, estimated):
        harness.until(stage, PATIENCE)


# test_controls.py has it without a browser.
@pytest.mark.slow
def test_a_view_without_commands_has_no_buttons(
    browser: Any, page: tuple[Harness, ProbeRig]
) -> None:
    harness, _ = page
    viewer = harness.add(WebViewer, platform='ex800', port=0, allow_commands=False)
    browser.get(viewer.view.url)
    harness.until(lambda: banner(browser), PATIENCE)
    labels = set(browser.execute_script(LABELS))
    assert not labels & {'Quick stop', 'Enable', 'Move there'}


@pytest.fixture
def bag_that_rises(tmp_path: Path, ex800: Platform) -> Path:
    """Write three poses in two seconds, from neutral 60 mm up, and a fault in their middle."""
    path = tmp_path / 'rising'
    with BagWriter(path) as writer:
        types = writer.typestore.types
        header, time_of = types['std_msgs/msg/Header'], types['builtin_interfaces/msg/Time']
        point, turn = types['geometry_msgs/msg/Point'], types['geometry_msgs/msg/Quaternion']
        posed = types['geometry_msgs/msg/Pose']
        stamped = types['geometry_msgs/msg/PoseStamped']
        x, y, z = ex800.geometry.neutral_pose.position.tolist()
        for second in range(3):
            place = point(x, y, z + 0.03 * second)
            pose = posed(place, turn(0.0, 0.0, 0.0, 1.0))
            message = stamped(header(time_of(1 + second, 0), 'base_link'), pose)
            writer.write('/platform/pose', (1 + second) * 10**9, message)
        fault = DriverState(state=DriverState.FAULT, simulated=True, reason='leg 3 is late')
        fault.header.stamp.sec = 2
        writer.add_topic('/driver/state', 'stewart_interfaces/msg/DriverState')
        writer.write_raw('/driver/state', 2 * 10**9, serialize_message(fault))
    return path


# test_recording.py moves the slider without a browser.
@pytest.mark.slow
@pytest.mark.installed
def test_the_time_slider_of_a_recording_moves_the_platform(
    browser: Any, bag_that_rises: Path
) -> None:
    words = ['stewart', 'view', bag_that_rises, '--platform', 'ex800', '--port', '0']
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as view:
        try:
            assert view.stderr is not None
            assert view.stderr.readline().startswith('reading ')
            browser.get(view.stderr.readline().strip())
            wait_until(lambda: browser.find_elements('css selector', SLIDER) and drawn(browser))
            slider = browser.find_element('css selector', SLIDER)
            # It plays by itself until somebody takes the tick away.
            assert not browser.execute_script(TICK, 'play')

            def climbs() -> bool:
                rows = []
                for key in (Keys.HOME, Keys.END):
                    slider.send_keys(key)
                    time.sleep(SETTLED)
                    rows.append(plate_rows(picture(browser)))
                return rows[0] - rows[1] > 10.0

            wait_until(climbs)
            for _ in range(2):
                slider.send_keys(Keys.END)
                wait_until(lambda: browser.find_elements('css selector', NO_EVENT))
                browser.find_element('css selector', NO_EVENT).click()
                browser.find_element('xpath', FAULT).click()
                wait_until(lambda: slider.get_attribute('aria-valuenow') == '1.01')
            wait_until(lambda: 'leg 3 is late' in banner(browser))
        finally:
            view.send_signal(signal.SIGINT)
        assert view.wait(PATIENCE) == 0
