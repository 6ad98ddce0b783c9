# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A page in Debian's Chromium, which draws with its software renderer: its pixels and clicks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import io
from pathlib import Path
import time
from typing import Any

from matplotlib.colors import rgb_to_hsv
from matplotlib.image import imread
import numpy as np
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionBuilder

FLAGS = (
    '--headless',
    '--no-sandbox',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--window-size=1000,700',
    '--force-device-scale-factor=0.5',
)
PATIENCE = 60.0
# For a whole test, which is patient several times. Beside a load of 14 on two cores one was
# looking at its pictures for six minutes [s].
LIMIT = 15.0 * PATIENCE
# In this time a node hears all that was said, so that nothing piles up [s].
HEARD = 0.2
# The panel begins here [pixel].
PANEL = 600
SLIDER = '[role=slider]'
# The sliders of target and speed; that of jogging is below them.
SLIDERS = 7
VALUES = (
    'return [...document.querySelectorAll(arguments[0])]'
    ".map(item => item.getAttribute('aria-valuenow'));"
)
BUTTON = (
    "const found = [...document.querySelectorAll('button')]"
    '.find(item => item.innerText.trim() === arguments[0]);'
)
CLICK = BUTTON + 'const live = !found.disabled; found.click(); return live;'
DISABLED = BUTTON + 'return found.disabled;'
UNFOLD = """
[...document.querySelectorAll('.mantine-Paper-root > .mantine-Paper-root')]
    .find(item => item.innerText.trim() === arguments[0]).click();
"""
TICK = """
const label = [...document.querySelectorAll('label')].find(item => item.innerText == arguments[0]);
const tick = document.getElementById(label.htmlFor);
tick.click();
return tick.checked;
"""
LABELS = "return [...document.querySelectorAll('button')].map(item => item.innerText.trim());"
# viser warns of the software renderer; that would lie over what is looked for.
DISMISS = 'document.querySelector(".mantine-Notification-closeButton")?.click()'


# As many pictures a second as it can, the software renderer would take a core for; these suffice.
FEW_PICTURES = """
const draw = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = call => setTimeout(() => draw(call), 400);
window.cancelAnimationFrame = clearTimeout;
"""


@contextmanager
def chromium(program: str, driver: str, *, all_pictures: bool = False) -> Iterator[Any]:
    """Run the browser without a screen; with few pictures a second, unless these are counted."""
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS:
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        few = '' if all_pictures else FEW_PICTURES
        browser.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': few})
        yield browser
    finally:
        browser.quit()


def picture(browser: Any, keep: Path | None = None) -> Any:
    """Return the pixels beside the panel, shape (rows, columns, 3)."""
    browser.execute_script(DISMISS)
    png = screenshot(browser)
    if keep is not None:
        keep.write_bytes(png)
    small = imread(io.BytesIO(png), format='png')
    return small.repeat(2, 0).repeat(2, 1)[:, :PANEL, :3]


def screenshot(browser: Any) -> bytes:
    """Photograph the page; the driver gives up after 10 s, and a busy machine may take longer."""
    for _ in range(5):
        with suppress(TimeoutException):
            return bytes(browser.get_screenshot_as_png())
    return bytes(browser.get_screenshot_as_png())


def drawn(browser: Any) -> bool:
    """Tell whether there is a picture beside the panel."""
    scene = picture(browser)
    return bool((scene.max(axis=(0, 1)) - scene.min(axis=(0, 1))).max() > 0.5)


def coloured(pixels: Any, first: float, last: float) -> int:
    """Count the pixels whose hue is between two, each from 0 to 1; grey ones have none."""
    hue, saturation, _ = np.moveaxis(rgb_to_hsv(pixels), -1, 0)
    return int(np.count_nonzero((hue >= first) & (hue < last) & (saturation > 0.06)))


def plate_rows(pixels: Any) -> float:
    """Return the mean row of the moving plate, which is orange."""
    red, green, blue = np.moveaxis(pixels, -1, 0)
    orange = (red > 0.6) & (red > green + 0.1) & (green > blue + 0.15)
    rows = np.nonzero(orange)[0]
    assert len(rows) > 500, 'no plate to be seen'
    return float(rows.mean())


def banner(browser: Any) -> str:
    """Return what the banner says; React may replace it at any moment."""
    return str(browser.execute_script('return document.getElementById("drives")?.innerText ?? ""'))


def click(browser: Any, label: str) -> bool:
    """Press a button; return whether it was live."""
    return bool(browser.execute_script(CLICK, label))


def press(browser: Any, slider: int, key: str) -> None:
    """Give a key to a slider of the target, counted from the top."""
    browser.find_elements('css selector', SLIDER)[slider].send_keys(key)


def values(browser: Any) -> list[float]:
    """Return where the sliders of target and speed stand, from the top."""
    # In one go: between two questions the page may have drawn the sliders anew.
    return [float(value) for value in browser.execute_script(VALUES, SLIDER)[:SLIDERS]]


def drag(browser: Any, column: int, row: int, up: int) -> None:
    """Take hold of a pixel and move it up."""
    actions = ActionBuilder(browser)
    mouse = actions.pointer_action
    mouse.move_to_location(column, row).pointer_down()
    for step in range(1, 5):
        mouse.move_to_location(column, row - step * up // 4)
    mouse.pointer_up()
    actions.perform()


def wait_until(condition: Callable[[], bool]) -> None:
    """Ask until it is true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
