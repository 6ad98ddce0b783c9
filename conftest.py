# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every test of the workspace relies on."""

from __future__ import annotations

from contextlib import ExitStack
import importlib.util
import os
from pathlib import Path

from hypothesis import settings
import pytest

CACHE = Path(__file__).parent / '.cache'

os.environ['HYPOTHESIS_STORAGE_DIRECTORY'] = str(CACHE / 'hypothesis')
os.environ['MPLBACKEND'] = 'Agg'
os.environ['PYTEST_DEBUG_TEMPROOT'] = str(CACHE / 'tmp')
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
# rclpy sends an int in a float field as garbage unless it is told to look.
os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'
os.environ.setdefault('MPLCONFIGDIR', str(CACHE / 'matplotlib'))
os.environ.setdefault('NUMBA_CACHE_DIR', str(CACHE / 'numba'))

(CACHE / 'tmp').mkdir(parents=True, exist_ok=True)

# The same examples in every run. No deadline: the first example may compile a kernel.
settings.register_profile('stewart', deadline=None, derandomize=True)
settings.load_profile('stewart')


def pytest_configure(config: pytest.Config) -> None:
    """Take a ROS domain that no other test run on this machine has."""
    if importlib.util.find_spec('domain_coordinator'):
        from domain_coordinator import domain_id

        held = ExitStack()
        os.environ['ROS_DOMAIN_ID'] = str(held.enter_context(domain_id()))
        config.add_cleanup(held.close)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow tests out, unless the command line speaks of them."""
    if 'slow' in config.option.markexpr:
        return
    slow = [item for item in items if item.get_closest_marker('slow')]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]
