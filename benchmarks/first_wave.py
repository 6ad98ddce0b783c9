# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How long it takes from nothing to a first wave in the browser, as README has it.

    python benchmarks/first_wave.py [FOLDER]

The last commit is cloned and set up in a new folder, then `stewart run --wave jonswap --time
simulated` and `stewart view` are started there, and Chromium opens the page and presses *Enable*
and *Start wave*. It ends when the picture has changed. Without FOLDER the clone is removed. It
fails if all of it takes over ten minutes.

Needs the Debian packages chromium and chromium-driver.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from stewart_kinematics.motion import Array

sys.path.insert(0, str(Path(__file__).parents[1] / 'src' / 'stewart_viewer' / 'test'))
from chromium import banner, chromium, click, DISABLED, drawn, picture

ROOT = Path(__file__).parents[1]
MOST, PATIENCE = 600.0, 1800.0
"""From nothing to the wave, and what is waited for at most [s]."""
PAGE = 'http://127.0.0.1:8080'
RIG = 'stewart run --wave jonswap --time simulated'
CHANGED, STEP = 0.005, 0.1
"""Share of the picture that has changed where the platform moves, and by how much of a colour."""


class Stopwatch:
    """Print how long steps took, from one to the next."""

    def __init__(self) -> None:
        self.begin = self._last = time.monotonic()

    def lap(self, step: str) -> None:
        """Print the time since the last lap."""
        now = time.monotonic()
        print(f'{now - self._last:6.1f} s  {step}', flush=True)
        self._last = now

    def until(self, condition: Callable[[], Any], step: str) -> None:
        """Wait for something, and print how long it took."""
        while not condition():
            if time.monotonic() - self.begin > PATIENCE:
                raise SystemExit(f'first_wave: {PATIENCE:.0f} s are over before this: {step}')
            time.sleep(0.2)
        self.lap(step)


def main() -> int:
    """Clone, set up, start, press, look."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n', maxsplit=1)[0])
    parser.add_argument('folder', nargs='?', type=Path, help='new folder of the clone')
    folder = parser.parse_args().folder
    programs = [shutil.which(name) for name in ('chromium', 'chromedriver')]
    if None in programs:
        raise SystemExit('first_wave: needs the Debian packages chromium and chromium-driver')
    print(f'load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores')
    with tempfile.TemporaryDirectory(prefix='first-wave-') as temporary:
        clone, watch = folder or Path(temporary, 'stewart'), Stopwatch()
        subprocess.run(['git', 'clone', '--quiet', ROOT, clone], check=True)
        subprocess.run(['make', 'setup'], cwd=clone, check=True, stdout=subprocess.DEVNULL)
        watch.lap('make setup')
        rig, view = started(clone, RIG), started(clone, 'stewart view')
        with rig, view, chromium(*map(str, programs)) as page:
            use(page, watch)
    whole = time.monotonic() - watch.begin
    print(f'{whole:6.1f} s  in all ({MOST:.0f} s asked)')
    return int(whole > MOST)


def use(page: Any, watch: Stopwatch) -> None:
    """Do on the page what a person does, until the platform has been seen to move."""

    def seen() -> bool:
        try:
            page.get(PAGE)
        except Exception:  # the viewer is not up yet
            return False
        return drawn(page)

    watch.until(seen, 'the page shows the platform')
    watch.until(lambda: 'DISABLED' in banner(page), 'the drives are there')
    click(page, 'Enable')
    watch.until(lambda: not page.execute_script(DISABLED, 'Start wave'), 'enabled')
    still = picture(page)

    def stands() -> bool:
        nonlocal still
        before, still = still, picture(page)
        return change(before, still) < CHANGED

    watch.until(stands, 'the picture stands still')
    click(page, 'Start wave')
    watch.until(lambda: change(still, picture(page)) > CHANGED, 'the platform moves')


def change(before: Array, after: Array) -> float:
    """Return the share of pixels of two pictures that differ by more than `STEP`."""
    return float(np.mean(np.abs(after - before).max(axis=2) > STEP))


@contextmanager
def started(clone: Path, command: str) -> Iterator[None]:
    """Run a command in the clone's environment, as a shell that has sourced env.sh does."""
    words = ['bash', '-c', f'. ./env.sh && exec {command}']
    with subprocess.Popen(words, cwd=clone, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)


if __name__ == '__main__':
    sys.exit(main())
