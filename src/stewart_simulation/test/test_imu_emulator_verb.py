# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""`stewart imu-emulator`: a port by its name, faults from stdin, an end."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
import signal
import subprocess
import sys

import numpy as np
import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.witmotion.frames import FrameType
from stewart_driver.witmotion.samples import Decoder
from stewart_driver.witmotion.transport import PortError, SerialTransport
from stewart_simulation.serial_imu.emulator import SerialImu
from stewart_simulation.verbs import imu_emulator
from typed_words import parsed, typed


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Stand in for stdin; return the end to write to."""
    read, write = os.pipe()
    with os.fdopen(read) as stream:
        monkeypatch.setattr(sys, 'stdin', stream)
        yield write


def test_the_last_line_of_a_script_needs_no_end() -> None:
    read, write = os.pipe()
    os.write(write, b'garbage 3\n\n@2 freeze')
    os.close(write)
    lines = imu_emulator._lines(read)
    assert [line for _ in range(3) for line in next(lines)] == ['garbage 3', '@2 freeze']
    os.close(read)


class Clock:
    """Time that passes while the verb looks for lines and sleeps; sensor and reader go with it.

    Attributes:
        frames: Types of what a reader of the port has received.
        gone: When the port broke, on this clock; None while it is there.
    """

    def __init__(self, link: Path) -> None:
        self.now, self._link = 100.0, link
        self.frames: list[int] = []
        self.gone: float | None = None
        self._imu: SerialImu | None = None
        self._transport: SerialTransport | None = None
        self._decoder = Decoder()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.01)):
            self.now += 0.01
            self._listen()

    def run(self, imu: SerialImu) -> SerialImu:
        """Stand for the thread of a sensor."""
        imu.begin()
        self._imu = imu
        self._transport = SerialTransport(str(self._link), 115200)
        return imu

    def end(self, imu: SerialImu) -> None:
        imu.port.unplug()
        os.close(imu._stop_read)
        os.close(imu._stop_write)

    def _listen(self) -> None:
        if self._imu is None or self._transport is None:
            return
        self._imu.turn(self.now)
        try:
            self.frames += [item.type for item in self._decoder.feed(self._transport.read(0.0))]
        except PortError:
            self._transport.close()
            self._transport, self.gone = None, self.now


def test_a_sensor_runs_at_the_link_and_obeys_its_script(
    tmp_path: Path,
    script: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = tmp_path / 'imu'
    clock = Clock(link)
    monkeypatch.setattr(imu_emulator, 'time', clock)
    monkeypatch.setattr(SerialImu, '__enter__', lambda imu: clock.run(imu))
    monkeypatch.setattr(SerialImu, '__exit__', lambda imu, *_: clock.end(imu))
    os.write(script, b'explode\nnoise 2\nbaud 123\n\n@1.2 unplug\n')
    os.close(script)
    words = ('--link', str(link), '--baud', '115200', '--rate', '50', '--duration', '2.0')
    begin = clock.now
    code = typed(imu_emulator, *words)
    told = capsys.readouterr()

    # Nine frames a cycle, at 50 Hz for 1.2 s.
    places = [place for place, kind in enumerate(clock.frames) if kind == FrameType.ACCELERATION]
    assert set(np.diff(places)) == {9}
    assert len(places) == pytest.approx(60, abs=3)
    assert clock.gone is not None
    assert 1.2 <= clock.gone - begin < 1.3
    assert clock.now - begin >= 2.0
    assert code == 0
    assert told.out == f'{link}\n'
    assert "got 'explode'" in told.err
    assert "fault 'baud': needs one of 4800" in told.err
    assert ' s: unplug\n' in told.err


def test_what_the_sensor_cannot_be_set_to_is_a_usage_error() -> None:
    with pytest.raises(SystemExit):
        parsed(imu_emulator, '--baud', '1234')


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('--seed', '-1', 'a whole number of at least 0'),
        ('--latency', '-0.1', 'a number from 0 to 1'),
        ('--latency', 'nan', 'a number from 0 to 1'),
        ('--duration', '-1', 'a number above 0'),
    ],
)
def test_numbers_that_are_none_are_refused(
    name: str, value: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match='2'):
        parsed(imu_emulator, name, value)
    assert f"{name}: expected {expected}, got '{value}'" in capsys.readouterr().err


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
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, 'ended\n')
    assert not link.is_symlink()


def test_a_file_with_the_name_of_the_link_stays(tmp_path: Path) -> None:
    path = tmp_path / 'log.csv'
    path.write_text('kept')
    with pytest.raises(ConfigurationError, match=r'link: expected a free name .*log\.csv'):
        typed(imu_emulator, '--link', str(path), '--duration', '0.1')
    assert path.read_text() == 'kept'
