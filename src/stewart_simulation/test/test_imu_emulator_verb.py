# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""`stewart imu-emulator`: a port by its name, faults from stdin, an end."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.witmotion.frames import FrameType
from stewart_driver.witmotion.samples import Decoder
from stewart_driver.witmotion.transport import PortError, SerialTransport
from stewart_simulation.verbs import imu_emulator


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    imu_emulator.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Stand in for stdin; return the end to write to."""
    read, write = os.pipe()
    with os.fdopen(read) as stream:
        monkeypatch.setattr(sys, 'stdin', stream)
        yield write


def test_a_sensor_runs_at_the_link_and_obeys_its_script(
    tmp_path: Path,
    script: int,
    capsys: pytest.CaptureFixture[str],
    lateness: Callable[[], float],
) -> None:
    link = tmp_path / 'imu'
    words = ('--link', str(link), '--baud', '115200', '--rate', '50', '--duration', '2.0')
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(imu_emulator.main(parsed(*words))))
    thread.start()
    while not link.exists():
        time.sleep(0.01)
    transport = SerialTransport(str(link), 115200)
    os.write(script, b'explode\nnoise 2\nbaud 123\n\n@1.2 unplug\n')
    decoder, types = Decoder(), []
    with contextlib.suppress(PortError):
        while thread.is_alive():
            types += [item.type for item in decoder.feed(transport.read(0.1))]
    transport.close()
    gone_while_running = thread.is_alive()
    os.close(script)
    thread.join()
    told = capsys.readouterr()

    # Nine frames a cycle, at 50 Hz for 1.2 s, its first and last instant included, and for as long
    # as a busy machine reads its script later; what was sent before the port was open may be lost.
    places = [place for place, kind in enumerate(types) if kind == FrameType.ACCELERATION]
    assert set(np.diff(places)) == {9}
    assert 25 <= len(places) <= 61 + 50.0 * lateness()
    assert gone_while_running
    assert codes == [0]
    assert told.out == f'{link}\n'
    assert "got 'explode'" in told.err
    assert "fault 'baud': needs one of 4800" in told.err
    assert ' s: unplug 0' in told.err


def test_what_the_sensor_cannot_be_set_to_is_a_usage_error() -> None:
    with pytest.raises(SystemExit):
        parsed('--baud', '1234')


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('--seed', '-1', 'a whole number not below 0'),
        ('--latency', '-0.1', '0 to 1 s'),
        ('--latency', 'nan', '0 to 1 s'),
        ('--duration', '-1', 'a time above 0 s'),
    ],
)
def test_numbers_that_are_none_are_refused(name: str, value: str, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=f'{name}: expected {expected}, got {value}'):
        imu_emulator.main(parsed(name, value))


# As a shell without job control starts what runs in its background.
DEAF = ('sh', '-c', 'trap "" INT; exec "$@"', 'sh')
VERB = (
    'import argparse; from stewart_simulation.verbs import imu_emulator as verb; '
    'p = argparse.ArgumentParser(); verb.add_arguments(p); '
    'raise SystemExit(verb.main(p.parse_args()))'
)


@pytest.mark.parametrize(
    'number', [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_it_ends_on_a_signal_though_its_shell_ignores_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    link = tmp_path / 'imu'
    process = subprocess.Popen(
        [*DEAF, sys.executable, '-c', VERB, '--link', str(link)],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f'{link}\n'
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, 'ended\n')
    assert not link.is_symlink()


def test_a_file_with_the_name_of_the_link_stays(tmp_path: Path) -> None:
    path = tmp_path / 'log.csv'
    path.write_text('kept')
    with pytest.raises(ConfigurationError, match=r'link: expected a free name .*log\.csv'):
        imu_emulator.main(parsed('--link', str(path), '--duration', '0.1'))
    assert path.read_text() == 'kept'
