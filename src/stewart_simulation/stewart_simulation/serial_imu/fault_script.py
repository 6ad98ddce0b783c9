# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Faults of the sensor as words, so that a person or a script can cause them.

A line is a fault and, for most, a number: ``garbage 50``, ``unplug``. A line may begin with the
time at which it counts, in seconds since the start: ``@2.5 unplug``.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from stewart_driver.errors import ConfigurationError
from stewart_driver.witmotion.commands import baud_code
from stewart_simulation.serial_imu.emulator import SerialImu


@dataclass(frozen=True)
class Fault:
    """
    One line of a script.

    Attributes
    ----------
    time : float
        Since the start of the emulator [s].
    name : str
        One of FAULTS.
    value : float
        Its number; 0 if it takes none.

    """

    time: float
    name: str
    value: float

    def cause(self, imu: SerialImu) -> None:
        """Let it happen now."""
        FAULTS[self.name](imu, self.value)


def _garbage(imu: SerialImu, value: float) -> None:
    imu.line.garbage += int(value)


def _lose(imu: SerialImu, value: float) -> None:
    imu.line.lose += int(value)


def _checksum(imu: SerialImu, value: float) -> None:
    imu.line.corrupt += int(value)


def _noise(imu: SerialImu, value: float) -> None:
    imu.line.bit_errors = value


def _baud(imu: SerialImu, value: float) -> None:
    baud_code(int(value))
    imu.sensor.baud = int(value)


def _rate(imu: SerialImu, value: float) -> None:
    imu.sensor.rate_cap = value if value > 0.0 else float('inf')


def _silence(imu: SerialImu, value: float) -> None:
    imu.sensor.silent = bool(value)


def _freeze(imu: SerialImu, value: float) -> None:
    imu.sensor.frozen = bool(value)


def _unplug(imu: SerialImu, _: float) -> None:
    imu.unplug()


def _plug(imu: SerialImu, _: float) -> None:
    imu.plug()


FAULTS: MappingProxyType[str, Callable[[SerialImu, float], None]] = MappingProxyType(
    {
        'garbage': _garbage,
        'lose': _lose,
        'checksum': _checksum,
        'noise': _noise,
        'baud': _baud,
        'rate': _rate,
        'silence': _silence,
        'freeze': _freeze,
        'unplug': _unplug,
        'plug': _plug,
    }
)
MEANINGS: MappingProxyType[str, str] = MappingProxyType(
    {
        'garbage N': 'N random bytes once',
        'lose N': 'the next N bytes get lost',
        'checksum N': 'the next N frames have a wrong sum',
        'noise P': 'each byte has one bit flipped with probability P',
        'baud N': 'the sensor talks at another speed',
        'rate F': 'the rate is lowered to F Hz, and nobody is told; 0: no more',
        'silence 1': 'nothing is sent; 0: again',
        'freeze 1': 'the values never change; 0: again',
        'unplug': 'the port goes, and the sensor loses its power',
        'plug': 'the port is back',
    }
)


def parse(line: str) -> Fault:
    """
    Read one line.

    Parameters
    ----------
    line : str
        ``[@seconds] fault [number]``.

    Returns
    -------
    Fault
        What it says.

    Raises
    ------
    ConfigurationError
        If it is not understood.

    """
    words = line.split()
    try:
        time = float(words.pop(0)[1:]) if words[:1] and words[0].startswith('@') else 0.0
        name, *numbers = words
        (value,) = map(float, numbers or ['0'])
    except ValueError:
        raise ConfigurationError('fault', line, '[@seconds] fault [number]') from None
    if name not in FAULTS:
        raise ConfigurationError('fault', name, f'one of {", ".join(FAULTS)}')
    return Fault(time, name, value)
