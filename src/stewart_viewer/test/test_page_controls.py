# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a person does on the page reaches the rig: every button, the sliders, the gizmo."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('selenium')

from chromium import (
    banner,
    BUTTON,
    click,
    coloured,
    DISABLED,
    drag,
    drawn,
    HEARD,
    LABELS,
    LIMIT,
    PATIENCE,
    picture,
    plate_rows,
    press,
    TICK,
    UNFOLD,
    values,
)
from geometry_msgs.msg import TwistStamped
from matplotlib.colors import rgb_to_hsv
from matplotlib.image import imread
from node_harness import Harness
from probe_rig import ProbeRig
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from stewart_bags.reading import Bag
from stewart_interfaces.msg import DriverState, Jog
from stewart_kinematics.limits.waypoints import WaypointList
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_node_support.qos import COMMAND_QOS
from stewart_viewer.looks import HEIGHT, WIDTH
from stewart_viewer.nodes.web_viewer import WebViewer
from stewart_viewer.status import Status

BOTTOM = BUTTON + 'return found.getBoundingClientRect().bottom;'
CENTRE = "arguments[0].scrollIntoView({block: 'center'});"
SCROLL_BACK = "document.querySelectorAll('*').forEach(item => item.scrollTop = 0);"
BOTTOM_OF_TEXT = """
const begins = item => item.innerText.startsWith(arguments[0]);
const found = [...document.querySelectorAll('p')].find(begins);
return found ? found.getBoundingClientRect().bottom : 0;
"""
pytestmark = [pytest.mark.ros, pytest.mark.timeout(LIMIT)]
Z, ROLL = 2, 3
# Where the hue of trail, section and plate lies, see looks.py.
BLUE, TEAL, ORANGE = (0.6, 0.65), (0.48, 0.52), (0.03, 0.13)
BUTTONS = {
    'Enable': 'driver/enable',
    'Start wave': 'ocean/start',
    'Stop wave': 'ocean/stop',
    'Quick stop': 'driver/quick_stop',
    'Disable': 'driver/disable',
    'Reset fault': 'driver/reset_fault',
}


def until(harness: Harness, condition: Callable[[], Any]) -> None:
    """Wait for something on the page; callbacks must not pile up while the page is asked.

    For a live button, too: it is dead until the page has heard that the drives are on, and on a
    busy machine again where the page has heard nothing for seconds.
    """

    def told() -> Any:
        harness.spin(HEARD)
        return condition()

    harness.until(told, PATIENCE)


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the page writes."""
    return tmp_path_factory.mktemp('written')


@pytest.fixture(scope='module')
def open_page(browser: Any, ex800: Platform, folder: Path) -> Iterator[tuple[Harness, ProbeRig]]:
    """Open the live page of a rig."""
    with Harness(real=True) as harness:
        rig = ProbeRig(harness)
        places = {'taught_to': f'{folder / "taught.yaml"}', 'record_to': f'{folder}'}
        viewer = harness.add(WebViewer, platform='ex800', port=0, rate=5.0, **places)
        browser.get(viewer.view.url)

        def seen() -> bool:
            rig.say(ex800.geometry.neutral_pose, DriverState.ENABLED, 'all drives are on')
            return drawn(browser) and len(values(browser)) == 7

        until(harness, seen)
        yield harness, rig


@pytest.fixture
def page(
    browser: Any, open_page: tuple[Harness, ProbeRig], ex800: Platform
) -> Iterator[tuple[Harness, ProbeRig]]:
    """Lend the page, with a rig that has not been asked for anything."""
    harness, rig = open_page
    rig.called.clear()
    rig.goals.clear()
    rig.say(ex800.geometry.neutral_pose, DriverState.ENABLED, 'all drives are on')
    yield harness, rig
    rig.lasting = False
    browser.execute_script(SCROLL_BACK)
    until(harness, lambda: click(browser, 'Target to neutral'))
    until(harness, lambda: not any(values(browser)[:6]))


def test_a_person_sees_the_platform_and_stops_it(
    browser: Any, page: tuple[Harness, ProbeRig], ex800: Platform, tmp_path: Path
) -> None:
    harness, rig = page
    neutral = ex800.geometry.neutral_pose
    high = Pose.from_rpy(np.add(neutral.position, [0.0, 0.0, 0.06]), (0.0, 0.0, 0.0))
    heard: list[str] = []

    def says(text: str) -> bool:
        rig.say(neutral, DriverState.FAULT, 'leg 3: following error')
        harness.spin(HEARD)
        heard[:] = [banner(browser)]
        return text in heard[0]

    harness.until(lambda: says('leg 3: following error'), PATIENCE)
    assert 'FAULT' in heard[0]
    assert 'SIMULATED' in heard[0]

    def seen() -> bool:
        rig.say(neutral, DriverState.ENABLED, 'all drives are on')
        harness.spin(HEARD)
        return drawn(browser)

    harness.until(seen, PATIENCE)
    low_row = plate_rows(picture(browser, tmp_path / 'neutral.png'))

    def risen() -> bool:
        rig.say(high, DriverState.ENABLED, 'all drives are on')
        harness.spin(HEARD)
        return plate_rows(picture(browser)) < low_row - 10.0

    harness.until(risen, PATIENCE)

    until(harness, lambda: click(browser, 'Quick stop'))
    harness.until(lambda: 'driver/quick_stop' in rig.called, PATIENCE)
    assert rig.called == ['driver/quick_stop']
    harness.until(lambda: 'as you wish' in browser.page_source, PATIENCE)


def test_every_button_calls_its_service(browser: Any, page: tuple[Harness, ProbeRig]) -> None:
    harness, rig = page
    for label, service in BUTTONS.items():
        until(harness, lambda label=label: click(browser, label))
        until(harness, lambda service=service: service in rig.called)
    assert rig.called == [*BUTTONS.values()]
    until(harness, lambda: 'driver/reset_fault: done: as you wish' in browser.page_source)


def arrived(browser: Any) -> bool:
    """Tell whether the verdict is on the target that the sliders show."""
    shown = [f'{value:.1f}' for value in values(browser)[:6]]
    return f'{", ".join(shown[:3])} mm, {", ".join(shown[3:])}°' in browser.page_source


@pytest.mark.slow
def test_sliders_move_the_platform_inside_its_limits(
    browser: Any, page: tuple[Harness, ProbeRig], ex800: Platform
) -> None:
    harness, rig = page
    # A page sends one slider at a time, at most every 50 ms; whoever uses two is slower.
    for slider, key in ((Z, Keys.ARROW_UP), (ROLL, Keys.ARROW_DOWN)):
        for _ in range(5):
            press(browser, slider, key)
        until(harness, lambda: arrived(browser))
    chosen = values(browser)
    assert chosen[Z] > 0.0 > chosen[ROLL]
    until(harness, lambda: click(browser, 'Move there'))
    until(harness, lambda: rig.goals)
    (goal,) = rig.goals
    neutral = ex800.geometry.neutral_pose.position
    place = goal.target.position
    away = np.subtract([place.x, place.y, place.z], neutral)
    np.testing.assert_allclose(1e3 * away, [0.0, 0.0, chosen[Z]], atol=1e-6)
    half = 0.5 * np.radians(chosen[ROLL])
    assert goal.target.orientation.x == pytest.approx(np.sin(half), abs=1e-6)
    assert goal.speed_scale == pytest.approx(0.1)
    until(harness, lambda: 'reached the target. that was quick' in browser.page_source)

    # As far up and to the side as the sliders go is out of reach.
    press(browser, Z, Keys.END)
    press(browser, 0, Keys.END)
    until(harness, lambda: browser.execute_script(DISABLED, 'Move there'))
    until(harness, lambda: 'Refused:' in browser.page_source)
    until(harness, lambda: click(browser, 'Target to neutral'))
    until(harness, lambda: not any(values(browser)[:6]))
    until(harness, lambda: not browser.execute_script(DISABLED, 'Move there'))
    assert len(rig.goals) == 1


@pytest.mark.slow
def test_a_move_is_stopped_on_its_way(browser: Any, page: tuple[Harness, ProbeRig]) -> None:
    harness, rig = page
    rig.lasting = True
    until(harness, lambda: click(browser, 'Stop moving'))
    until(harness, lambda: 'no move is running' in browser.page_source)
    until(harness, lambda: click(browser, 'Move there'))
    until(harness, lambda: 'move_platform: moving' in browser.page_source)
    # A move that is refused meanwhile does not make the page forget the one that runs.
    until(harness, lambda: click(browser, 'Move there'))
    until(harness, lambda: 'cycloidal_trajectory says why' in browser.page_source)
    until(harness, lambda: click(browser, 'Stop moving'))
    until(harness, lambda: 'before the target. that was long' in browser.page_source)
    assert len(rig.goals) == 2


@pytest.mark.slow
def test_a_held_button_steers_towards_the_target(
    browser: Any, page: tuple[Harness, ProbeRig]
) -> None:
    harness, _ = page
    asked = harness.listen(TwistStamped, 'teleop/twist', COMMAND_QOS)
    for _ in range(5):
        press(browser, Z, Keys.ARROW_UP)
    until(harness, lambda: arrived(browser))

    def upwards() -> bool:
        # The first velocities may be from where the test before has left the platform.
        return bool(asked) and asked[-1].twist.linear.z > 0.0

    until(harness, lambda: held(browser, page, 'Follow the target while held', upwards))
    assert asked[-1].header.frame_id == 'base_link'
    until(harness, lambda: silent(harness, asked))


def unfold_jog(browser: Any) -> None:
    """Unfold the buttons for a leg; a second press would fold what another test has unfolded."""
    if not browser.find_element('xpath', '//button[normalize-space()="+"]').is_displayed():
        browser.execute_script(UNFOLD, 'Jog while a button is held')


def held(
    browser: Any, page: tuple[Harness, ProbeRig], label: str, heard: Callable[[], bool]
) -> bool:
    """Hold a button until something is heard; tell whether it was."""
    harness, _ = page
    button = browser.find_element('xpath', f'//button[normalize-space()="{label}"]')
    # A folder unfolds by and by.
    if not button.is_displayed():
        return False
    # Half of it may lie below the panel, and whatever moves it from under the mouse lets go.
    browser.execute_script(CENTRE, button)
    ActionChains(browser).click_and_hold(button).perform()
    # A page that takes a second for a picture sees a shorter press as none.
    for _ in range(8):
        harness.spin(HEARD)
        if heard():
            break
    ActionChains(browser).release().perform()
    return heard()


def silent(harness: Harness, asked: Sequence[Any]) -> bool:
    """Tell whether nothing is asked for any more."""
    count = len(asked)
    harness.spin(0.5)
    return len(asked) == count


def test_a_held_button_jogs_a_leg(browser: Any, page: tuple[Harness, ProbeRig]) -> None:
    harness, _ = page
    asked = harness.listen(Jog, 'driver/jog', COMMAND_QOS)
    unfold_jog(browser)
    until(harness, lambda: held(browser, page, '+', lambda: bool(asked)))
    assert list(asked[-1].rates) == [5e-3, 0.0, 0.0, 0.0, 0.0, 0.0]
    until(harness, lambda: silent(harness, asked))


QUICK_STOP = """
const label = 'Quick stop';
[...document.querySelectorAll('button')].find(item => item.innerText.trim() == label).click();
"""


def test_a_quick_stop_while_another_button_is_held_is_never_lost(
    browser: Any, page: tuple[Harness, ProbeRig]
) -> None:
    """Of eighteen presses by another finger not one came through viser's own page."""
    harness, rig = page
    asked = harness.listen(Jog, 'driver/jog', COMMAND_QOS)
    unfold_jog(browser)

    pressed = 0

    def press() -> bool:
        nonlocal pressed
        # The other button tells all the while.
        while asked and pressed < 20:
            browser.execute_script(QUICK_STOP)
            pressed += 1
            harness.spin(0.11)
        return pressed == 20

    until(harness, lambda: held(browser, page, '+', press))
    until(harness, lambda: silent(harness, asked))
    assert rig.called.count('driver/quick_stop') == pressed


def test_a_waypoint_and_a_recording_are_on_the_disk(
    browser: Any,
    page: tuple[Harness, ProbeRig],
    folder: Path,
    ex800: Platform,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness, rig = page
    # A busy machine may take longer to close a bag than a person waits.
    monkeypatch.setattr('stewart_viewer.bag_recorder.PATIENCE', PATIENCE)

    def pressed(label: str) -> bool:
        return label in browser.execute_script(LABELS) and click(browser, label)

    def taught() -> bool:
        # Refused until the platform has been seen to rest, which takes a busy machine long.
        pressed('Record waypoint')
        harness.spin(1.0)
        return 'waypoint 1 is in' in browser.page_source

    until(harness, taught)
    (waypoint,) = WaypointList.from_yaml(folder / 'taught.yaml', ex800).waypoints
    neutral = ex800.geometry.neutral_pose.position
    np.testing.assert_allclose(waypoint.pose.position, neutral, atol=1e-6)

    subscribed = rig.poses.get_subscription_count()
    until(harness, lambda: pressed('Record'))
    # The recorder, beside the page: before that it has found no topic.
    until(harness, lambda: rig.poses.get_subscription_count() > subscribed)
    until(harness, lambda: pressed('Stop recording'))
    (bag,) = folder.glob('bag_*')
    until(harness, lambda: f'recorded: {bag}' in browser.page_source)
    with Bag(bag) as recorded:
        assert '/platform/pose' in recorded.topics
    until(harness, lambda: 'Record' in browser.execute_script(LABELS))


def test_a_page_whose_connection_is_dead_says_so(
    browser: Any, page: tuple[Harness, ProbeRig], monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, _ = page

    def silent() -> bool:
        return bool(browser.execute_script('return !!document.getElementById("silent")'))

    until(harness, lambda: not silent())
    with monkeypatch.context() as patch:
        patch.setattr(Status, 'beat', lambda _: None)
        until(harness, silent)
    until(harness, lambda: not silent())


# test_controls.py moves it without a browser.
@pytest.mark.slow
def test_the_gizmo_moves_the_sliders(browser: Any, page: tuple[Harness, ProbeRig]) -> None:
    harness, _ = page
    # The tip of its upright arrow is the topmost that has a colour.
    _, depth, _ = np.moveaxis(rgb_to_hsv(picture(browser)), -1, 0)
    rows, columns = np.nonzero(depth > 0.2)
    column, row = int(columns[rows == rows.min()].mean()), int(rows.min()) + 10

    def risen() -> bool:
        drag(browser, column, row, 40)
        return values(browser)[Z] > 0.0

    until(harness, risen)


# test_looks.py has it without a browser.
@pytest.mark.slow
def test_a_person_looks_around(
    browser: Any, page: tuple[Harness, ProbeRig], ex800: Platform, tmp_path: Path
) -> None:
    harness, rig = page
    neutral = ex800.geometry.neutral_pose
    angles = count()

    def seen(hue: tuple[float, float]) -> int:
        angle = next(angles)
        place = np.add(neutral.position, [0.03 * np.sin(angle), 0.03 * np.cos(angle), 0.0])
        rig.say(Pose(place, neutral.quaternion_xyzw), DriverState.ENABLED, 'all drives are on')
        harness.spin(HEARD)
        return coloured(picture(browser), *hue)

    harness.until(lambda: seen(ORANGE) > 1000, PATIENCE)
    browser.execute_script(UNFOLD, 'View')
    flat = seen(ORANGE)
    click(browser, 'Top')
    harness.until(lambda: seen(ORANGE) > 2 * flat, PATIENCE)
    for label, hue in (('trail of the last 10 s', BLUE), ('section of the workspace', TEAL)):
        bare = seen(hue)
        assert browser.execute_script(TICK, label)
        harness.until(lambda hue=hue, bare=bare: seen(hue) > bare + 100, PATIENCE)

    downloads = {'behavior': 'allow', 'downloadPath': f'{tmp_path}'}
    browser.execute_cdp_cmd('Browser.setDownloadBehavior', downloads)
    click(browser, 'Photograph')
    harness.until((tmp_path / 'platform.png').exists, PATIENCE)
    pixels = imread(tmp_path / 'platform.png')
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    np.testing.assert_array_equal(pixels[0, 0], 1.0)
    assert coloured(pixels, *ORANGE) > 2 * flat


# The last one: a page that was narrow lays out its panel anew.
@pytest.mark.parametrize(
    ('width', 'height', 'labels'),
    [(820, 900, ('Quick stop', 'Move there', 'Stop moving')), (390, 844, ('Quick stop',))],
)
def test_what_matters_is_seen_without_scrolling(
    browser: Any, page: tuple[Harness, ProbeRig], width: int, height: int, labels: tuple[str, ...]
) -> None:
    harness, _ = page
    size = {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False}
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', size)
    try:
        until(harness, lambda: click(browser, 'Stop moving'))
        until(harness, lambda: browser.execute_script(BOTTOM_OF_TEXT, 'no move is running'))

        # A page that has just become narrow is laid out by and by.
        def seen() -> bool:
            bottoms = [browser.execute_script(BOTTOM, label) for label in labels]
            bottoms.append(browser.execute_script(BOTTOM_OF_TEXT, 'no move is running'))
            return all(0.0 < bottom <= height for bottom in bottoms)

        until(harness, seen)
    finally:
        browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
