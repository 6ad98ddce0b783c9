# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart imu-emulator``: a WitMotion sensor on a pseudo terminal."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import select
import sys
import time
from typing import NamedTuple

import numpy as np
from stewart_driver.errors import ConfigurationError, StewartError
from stewart_simulation.rig.faults import ImuFaults
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.emulator import SerialImu
from stewart_simulation.serial_imu.inertial import resting, rocking
from stewart_simulation.serial_imu.measurement import EXACT, Imperfections
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.protocol import BAUDS, RATES
from stewart_simulation.serial_imu.pty_port import PtyPort
from stewart_tables.numbers import number_from, positive, whole_from
from stewart_tables.progress import tell

HELP = 'emulate a WitMotion sensor on a pseudo terminal, with faults from stdin'
MOTIONS = {'rest': resting, 'rock': rocking()}
LOOK = 0.05
# No adapter keeps bytes longer [s].
LONGEST_LATENCY = 1.0

EXAMPLES = """

examples:
  stewart imu-emulator --link build/imu
  stewart imu-emulator --motion rock --rate 100 --baud 115200 --duration 30
"""


TABLE = ImuFaults.describe()
MEANINGS = {f'{name} {words}'.strip(): meaning for name, (words, meaning) in TABLE.items()}


class Fault(NamedTuple):
    """A line of a script: when since the start [s], which of `ImuFaults`, and its number.

    Without a number (None) the fault's own default counts.
    """

    time: float
    name: str
    value: float | None

    def cause(self, imu: PluggedSensor) -> None:
        """Let it happen now; raises `FaultError` for a number that does not fit."""
        name = TABLE[self.name][0].partition('=')[0]
        ImuFaults(imu).apply(self.name, **({} if self.value is None else {name: self.value}))

    def __str__(self) -> str:
        return self.name if self.value is None else f'{self.name} {self.value:g}'


def parse(line: str) -> Fault:
    """Read ``[@seconds] fault [number]``; raises `ConfigurationError`."""
    words = line.split()
    try:
        time = float(words.pop(0)[1:]) if words[:1] and words[0].startswith('@') else 0.0
        name, *numbers = words
        (value,) = map(float, numbers) if numbers else (None,)
    except ValueError:
        raise ConfigurationError('fault', line, '[@seconds] fault [number]') from None
    if name not in TABLE:
        raise ConfigurationError('fault', name, f'one of {", ".join(TABLE)}')
    argument, _, default = TABLE[name][0].partition('=')
    if value is None and argument and not default:
        raise ConfigurationError('fault', line, f'a number, as in {name} {argument}')
    if value is not None and not argument:
        raise ConfigurationError('fault', line, f'no number: {name} takes none')
    return Fault(time, name, value)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = 'faults, one a line on stdin, "@seconds" before it to wait:\n' + '\n'.join(
        f'  {words:18} {meaning}' for words, meaning in MEANINGS.items()
    )
    parser.epilog += EXAMPLES
    parser.add_argument('--link', type=Path, help='symbolic link that keeps pointing at the port')
    parser.add_argument(
        '--motion', choices=MOTIONS, default='rest', help='of the sensor (default: %(default)s)'
    )
    parser.add_argument(
        '--baud',
        type=int,
        choices=BAUDS.values(),
        default=9600,
        help='at first (default: %(default)s)',
    )
    parser.add_argument(
        '--rate',
        type=float,
        choices=[rate for rate in RATES.values() if rate],
        default=10.0,
        help='at first, Hz (default: %(default)s)',
    )
    parser.add_argument(
        '--latency',
        type=number_from(0.0, LONGEST_LATENCY),
        default=0.0,
        help=f'of a USB adapter, up to {LONGEST_LATENCY:g} [s]',
    )
    parser.add_argument('--exact', action='store_true', help='without noise')
    parser.add_argument(
        '--seed', type=whole_from(0), default=0, help='of the noise (default: %(default)s)'
    )
    parser.add_argument('--duration', type=positive, help='end after this time [s]')


def main(arguments: argparse.Namespace) -> int:
    """Run until the time is over or Ctrl-C; raises `ConfigurationError`."""
    from stewart_node_support.stop_signals import StopSignals

    sensor = Sensor(
        flaws=EXACT if arguments.exact else Imperfections(),
        rng=np.random.default_rng(arguments.seed),
    )
    sensor.rate = arguments.rate
    sensor.baud = arguments.baud
    sensor.saved = dict(sensor.registers)
    imu = SerialImu(
        MOTIONS[arguments.motion],
        now=time.monotonic,
        sensor=sensor,
        port=PtyPort(arguments.link),
        latency=arguments.latency,
    )
    with StopSignals() as stop, imu:
        print(imu.path, flush=True)
        _play(imu, arguments.duration, lambda: stop.requested)
    if stop.requested:
        tell('ended')
    return 0


def _play(imu: SerialImu, duration: float | None, stopped: Callable[[], bool]) -> None:
    """Cause the faults that come on stdin, each at its time, until the time is over."""
    start = time.monotonic()
    pending: list[Fault] = []
    for lines in _lines(sys.stdin.fileno()):
        if stopped() or (duration is not None and time.monotonic() - start >= duration):
            return
        for line in lines:
            with _told():
                pending.append(parse(line))
        elapsed = time.monotonic() - start
        for fault in [fault for fault in pending if fault.time <= elapsed]:
            pending.remove(fault)
            tell(f'{elapsed:.1f} s: {fault}')
            with _told():
                fault.cause(imu)


@contextmanager
def _told() -> Iterator[None]:
    """Say what is wrong with a fault, and go on."""
    try:
        yield
    except StewartError as error:
        tell(error)


def _lines(descriptor: int) -> Iterator[list[str]]:
    """Yield whole lines, if there are any, again and again; the descriptor may end."""
    rest, ended = '', False
    while True:
        lines: list[str] = []
        if ended:
            time.sleep(LOOK)
        elif select.select([descriptor], [], [], LOOK)[0]:
            data = os.read(descriptor, 4096)
            ended = not data
            lines = (rest + data.decode(errors='replace')).split('\n')
            # The last line may lack its end.
            rest = '' if ended else lines.pop()
        yield [line for line in lines if line.strip()]
