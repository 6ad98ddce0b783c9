# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the sensor as words, so that a person or a script can cause them.

A line is a fault and, for most, a number: ``garbage 50``, ``unplug``. A line may begin with the
time at which it counts, in seconds since the start: ``@2.5 unplug``.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from stewart_driver.errors import ConfigurationError
from stewart_simulation.serial_imu.faults import ImuFaults
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor


@dataclass(frozen=True)
class Fault:
    """One line of a script.

    Attributes:
        time: Since the start of the emulator [s].
        name: Of a method of `ImuFaults`.
        value: Its number; 0 if it takes none.
    """

    time: float
    name: str
    value: float

    def cause(self, imu: PluggedSensor) -> None:
        """Let it happen now; raises `FaultError` or `ConfigurationError` for its number."""
        arguments, _ = TABLE[self.name]
        name = arguments.partition('=')[0]
        ImuFaults(imu).apply(self.name, **({name: self.value} if name else {}))


TABLE = ImuFaults.describe()
MEANINGS: MappingProxyType[str, str] = MappingProxyType(
    {f'{name} {arguments}'.strip(): meaning for name, (arguments, meaning) in TABLE.items()}
)


def parse(line: str) -> Fault:
    """Read one line.

    Args:
        line: ``[@seconds] fault [number]``.

    Returns:
        What it says.

    Raises:
        ConfigurationError: If it is not understood.
    """
    words = line.split()
    try:
        time = float(words.pop(0)[1:]) if words[:1] and words[0].startswith('@') else 0.0
        name, *numbers = words
        (value,) = map(float, numbers or ['0'])
    except ValueError:
        raise ConfigurationError('fault', line, '[@seconds] fault [number]') from None
    if name not in TABLE:
        raise ConfigurationError('fault', name, f'one of {", ".join(TABLE)}')
    return Fault(time, name, value)
