# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig that was asked to end is there until its driver has made the outputs safe."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from card_bench import teaching_rig
import ethercat_rig
import pytest
from stewart_driver.control.configuration import CycleConfiguration, InterpolationSettings
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.control.state_machine import Request, State
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.options import DaqOptions
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.errors import RigError
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.launcher import LONGEST, RigProcess
from stewart_simulation.rig.process import Lingering, QUIET
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.rig.truth import TruthReader

PATIENT = InterpolationSettings(playout_delay=0.1, extrapolation_time=0.2)
until = partial(ethercat_rig.until, nap=2e-3)


def test_a_rig_that_nobody_uses_ends_when_it_is_asked_to() -> None:
    lingering = Lingering()

    assert not lingering.over(10.0, asked=False, in_use=False)
    assert lingering.over(10.1, asked=True, in_use=False)


def test_a_rig_in_use_waits_until_its_wires_were_quiet_for_a_while() -> None:
    lingering = Lingering()
    lingering.over(10.0, asked=False, in_use=True)

    assert not lingering.over(10.0 + 0.9 * QUIET, asked=True, in_use=False)
    # Whoever makes the outputs safe after a crash opens the card anew.
    assert not lingering.over(10.1 + QUIET, asked=True, in_use=True)
    assert not lingering.over(10.1 + 1.9 * QUIET, asked=True, in_use=False)
    assert lingering.over(10.11 + 2.0 * QUIET, asked=True, in_use=False)


def test_a_rig_that_is_used_for_ever_ends_all_the_same() -> None:
    lingering = Lingering()

    assert not lingering.over(10.0, asked=True, in_use=True)
    assert not lingering.over(9.9 + LONGEST, asked=True, in_use=True)
    assert lingering.over(10.0 + LONGEST, asked=True, in_use=True)


def test_the_readme_has_both_times() -> None:
    readme = (Path(__file__).parents[1] / 'README.md').read_text(encoding='utf-8')

    assert f'segment for {QUIET:g} s, and {LONGEST:g} s later at the latest' in readme


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[RigProcess]:
    with RigProcess(teaching_rig(), tmp_path / 'd') as process:
        yield process


@pytest.mark.installed
def test_the_driver_ends_in_order_on_a_rig_that_was_asked_to_end_before(rig: RigProcess) -> None:
    backend = DaqBackend(
        DaqOptions(
            card='simulated',
            device=rig.ends['card'],
            rig_file=rig.ends['rig_file'],
            enable_channel=0,
            longest_call=5.0,
        )
    )
    client = CycleClient(backend, CycleConfiguration(backend.limits, PATIENT), 90.0)
    truth = rig.truth()
    assert client.request(Request.ENABLE, timeout=30.0)[0]
    until(lambda: truth.read().powered.all())

    os.kill(rig.pid, signal.SIGTERM)
    time.sleep(2.0 * QUIET)
    assert rig.alive
    assert truth.read().powered.all()
    client.end(60.0)

    until(lambda: not rig.alive)
    assert not truth.read().powered.any()
    assert State.FAULT not in [change.state for change in client.state_changes()]
    assert not rig.directory.exists()


@pytest.mark.slow
@pytest.mark.installed
def test_a_rig_waits_for_a_master_that_is_delayed_with_the_drives_on(tmp_path: Path) -> None:
    try:
        rig = RigProcess(
            RigSettings(platform='vigo', drive='omron_1s_free', sync_error_limit=0), tmp_path / 'd'
        )
    except RigError as error:
        if 'What permits it' in str(error):
            pytest.skip(str(error))
        raise
    with rig:
        backend = EthercatBackend(
            EthercatOptions(
                interface=rig.ends['interface'],
                namespace=rig.ends['namespace'],
                drive='omron_1s_free',
                rig_file=rig.ends['rig_file'],
                cycle_time=0.01,
                receive_timeout=0.2,
                patience=4.0,
                drive_watchdog=5.0,
                start_timeout=30.0,
            )
        )
        client = CycleClient(backend, CycleConfiguration(backend.limits, PATIENT), 90.0)
        truth = rig.truth()
        assert client.request(Request.ENABLE, timeout=30.0)[0]
        until(lambda: truth.read().powered.all())

        # As on a busy machine: the rig is asked to end, and the driver gets no turn for a while.
        os.kill(client.pid, signal.SIGSTOP)
        os.kill(rig.pid, signal.SIGTERM)
        time.sleep(2.0 * QUIET)
        assert rig.alive
        os.kill(client.pid, signal.SIGCONT)
        client.end(60.0)

        until(lambda: not rig.alive)
        assert State.FAULT not in [change.state for change in client.state_changes()]


# Owns both, as `stewart run` does.
OWNER = """
from pathlib import Path
import signal, sys
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.state_machine import Request
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.options import DaqOptions
from card_bench import teaching_rig
from stewart_simulation.errors import RigError
from stewart_simulation.rig.launcher import RigProcess

rig = RigProcess(teaching_rig(), Path(sys.argv[1]))
card = {'card': 'simulated', 'device': rig.ends['card'], 'rig_file': rig.ends['rig_file']}
backend = DaqBackend(DaqOptions(**card, enable_channel=0, longest_call=5.0))
client = CycleClient(backend, CycleConfiguration(backend.limits), 90.0)
assert client.request(Request.ENABLE, timeout=30.0)[0]
print(rig.pid, client.pid, flush=True)
signal.pause()
"""


@pytest.mark.installed
def test_a_killed_owner_of_rig_and_driver_leaves_no_power_and_no_process(tmp_path: Path) -> None:
    place = tmp_path / 'd'
    with subprocess.Popen(
        [sys.executable, '-c', OWNER, str(place)],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        children = owner.stdout.readline().split()
        truth = TruthReader(place / places.TRUTH)
        until(lambda: truth.read().powered.all())
        owner.kill()

    assert len(children) == 2
    until(lambda: not any(Path('/proc', child).exists() for child in children))
    assert not truth.read().powered.any()
    assert not place.exists()


# Ten seconds, which `Lingering` counts above.
@pytest.mark.slow
def test_a_program_that_holds_the_card_keeps_the_rig_no_longer_than_the_limit(
    rig: RigProcess,
) -> None:
    library = SimulatedComedi()
    device = library.comedi_open(rig.ends['card'])
    assert device is not None
    assert library.comedi_lock(device, 0) == 0
    asked = time.monotonic()
    rig.end()
    took = time.monotonic() - asked
    library.comedi_close(device)

    assert took > 0.9 * LONGEST
    assert rig._process.returncode == 0
