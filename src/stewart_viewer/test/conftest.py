# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A page to draw on, and a browser to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import shutil
import sys
from typing import Any, TYPE_CHECKING

import pytest

# Every run of pytest reads this file.
if TYPE_CHECKING:
    from stewart_kinematics.model.platform import Platform
    import viser

# Tests are imported by path, and their helpers have to be found.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope='session')
def ex800() -> Platform:
    """Return the small platform."""
    from stewart_kinematics.model.platform import Platform

    return Platform.from_yaml('ex800')


@pytest.fixture
def server() -> Iterator[viser.ViserServer]:
    """Serve an empty page at a free port of this machine."""
    from stewart_viewer.server import open_server

    opened = open_server('127.0.0.1', 0)
    yield opened
    opened.stop()


@pytest.fixture(scope='module')
def browser() -> Iterator[Any]:
    """Run Debian's Chromium."""
    programs = [shutil.which(name) for name in ('chromium', 'chromedriver')]
    if None in programs:
        pytest.skip('needs the Debian packages chromium, chromium-driver')
    from chromium import chromium

    with chromium(*programs) as opened:
        yield opened
