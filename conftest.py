# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every test of the workspace relies on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
import fcntl
import gc
from importlib.metadata import entry_points
import importlib.util
import os
from pathlib import Path
import signal
import threading
import time

from hypothesis import settings
import pytest

CACHE = Path(__file__).parent / '.cache'
# Of the test before.
FILE = pytest.StashKey[Path]()

# For those that start ROS by themselves; `stewart_node_support.running` chooses the same.
PROFILES = Path(__file__).parent / 'src/stewart_node_support/stewart_node_support/fast_dds.xml'
os.environ['FASTRTPS_DEFAULT_PROFILES_FILE'] = str(PROFILES)
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


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """Hear signals again after a test of what ignores them, because its process is to end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heard = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in heard.items():
        signal.signal(number, handler)


@pytest.fixture
def lateness() -> Iterator[Callable[[], float]]:
    """Measure the machine during a test that judges the real clock.

    Threads sleep for a millisecond again and again, one for each core, and take down how much
    longer it was: of a virtual machine one core may stand still for a third of a second.

    Yields:
        Returns by how much one was woken too late at worst since the test began [s]: what a busy
        machine may add to every step of whatever the test has timed.
    """
    begin, over = time.monotonic(), threading.Event()
    cores = os.sched_getaffinity(0)
    worst, due = dict.fromkeys(cores, 0.0), dict.fromkeys(cores, begin)

    def watch(core: int) -> None:
        # Of this thread alone: a core that stands still is seen by nobody on another one.
        os.sched_setaffinity(0, {core})
        while not over.is_set():
            due[core] = time.monotonic() + 1e-3
            time.sleep(1e-3)
            worst[core] = max(worst[core], time.monotonic() - due[core])

    threads = [threading.Thread(target=watch, args=(n,), name='lateness') for n in cores]
    for thread in threads:
        thread.start()
    # One that has not been woken yet counts, too.
    yield lambda: max(*worst.values(), time.monotonic() - min(due.values()))
    over.set()
    for thread in threads:
        thread.join()


@pytest.fixture
def context() -> Iterator[None]:
    """Start ROS in this process, and shut it down after the test."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    yield
    rclpy.try_shutdown()


def pytest_configure(config: pytest.Config) -> None:
    """Take a ROS domain that no other test run on this machine has."""
    if importlib.util.find_spec('domain_coordinator'):
        from domain_coordinator import domain_id

        held = ExitStack()
        os.environ['ROS_DOMAIN_ID'] = str(held.enter_context(domain_id()))
        config.add_cleanup(held.close)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test that is marked `realtime` have the machine for itself, beside other workers.

    Every test is in the room for as long as it runs. Whoever waits for an empty room stands in
    the door, so that nobody else enters.
    """
    run = os.environ.get('PYTEST_XDIST_TESTRUNUID')
    if run is None:
        return (yield)
    names = [CACHE / 'tmp' / f'{run}.{place}' for place in ('door', 'room')]
    with names[0].open('w') as door, names[1].open('w') as room:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if item.get_closest_marker('realtime') else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        try:
            return (yield)
        finally:
            # A child that a test has left behind holds the file, too.
            fcntl.flock(room, fcntl.LOCK_UN)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare a run of the marked tests alone the import of every file that has none of them."""
    mark = config.option.markexpr
    if mark not in {'realtime', 'slow'} or collection_path.suffix != '.py':
        return None
    return f'mark.{mark}' not in collection_path.read_text(encoding='utf-8') or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow tests out, unless the command line speaks of them, and what cannot run."""
    if not entry_points(group='stewart.nodes'):
        reason = 'the packages are not installed here, only their sources are'
        for item in items:
            if item.get_closest_marker('installed'):
                item.add_marker(pytest.mark.skip(reason=reason))
    if 'slow' in config.option.markexpr:
        return
    slow = [item for item in items if item.get_closest_marker('slow')]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the garbage collector away from what is there when the tests begin.

    Modules and tests stay until the end. Walking them takes 0.3 s, again and again.
    """
    from stewart_tables.short_collections import short_collections

    gc.collect()
    held = ExitStack()
    held.enter_context(short_collections())
    session.config.add_cleanup(held.close)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let what the tests of a file have loaded stay: each walk would pass it.

    Not at the end of the file: its last test holds its fixtures until it is over, and what is
    frozen is never collected.
    """
    if item.config.stash.get(FILE, None) != item.path:
        item.config.stash[FILE] = item.path
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Leave no participant of the middleware to the next test.

    Nodes, clients and tasks refer to each other, so they are there until they are collected. With
    several participants in a process Fast DDS may wait for ever as it destroys one.
    """
    try:
        return (yield)
    finally:
        if item.get_closest_marker('ros'):
            gc.collect()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let no run that says it is CI go without EtherCAT frames: it has to permit them."""
    report = yield
    reason = str(report.longrepr)
    if report.skipped and os.environ.get('CI') and 'What permits it' in reason:
        report.outcome, report.longrepr = 'failed', f'CI has to permit this, no skip: {reason}'
    return report
