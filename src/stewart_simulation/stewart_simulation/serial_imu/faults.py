# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that can be put on the sensor and its line, by call or by name."""

from __future__ import annotations

from stewart_simulation.ethercat.errors import FaultError
from stewart_simulation.fault_table import FaultTable
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.protocol import BAUDS


class ImuFaults(FaultTable):
    """What can be done to the sensor.

    Args:
        imu: What breaks.
    """

    def __init__(self, imu: PluggedSensor) -> None:
        """Break nothing yet."""
        super().__init__()
        self._imu = imu

    def garbage(self, count: int) -> None:
        """Send this many random bytes once."""
        self._imu.line.garbage += _whole('garbage', count)

    def lose(self, count: int) -> None:
        """Lose the next bytes."""
        self._imu.line.lose += _whole('lose', count)

    def checksum(self, count: int) -> None:
        """Give the next frames a wrong sum."""
        self._imu.line.corrupt += _whole('checksum', count)

    def noise(self, probability: float) -> None:
        """Flip one bit of each byte with this probability; 0 ends it."""
        if not 0.0 <= probability <= 1.0:
            raise FaultError('noise', f'probability must be 0 to 1, not {probability!r}')
        self._imu.line.bit_errors = float(probability)

    def baud(self, baud: int) -> None:
        """Let the sensor talk at another speed."""
        if _whole('baud', baud) not in BAUDS.values():
            raise FaultError('baud', f'needs one of {", ".join(map(str, BAUDS.values()))}')
        self._imu.sensor.baud = int(baud)

    def rate(self, hertz: float) -> None:
        """Lower the rate, and tell nobody; 0 ends it."""
        self._imu.sensor.rate_cap = float(hertz) if hertz > 0.0 else float('inf')

    def silence(self, on: bool = True) -> None:
        """Send nothing; 0 ends it."""
        self._imu.sensor.silent = bool(on)

    def freeze(self, on: bool = True) -> None:
        """Never change the values; 0 ends it."""
        self._imu.sensor.frozen = bool(on)

    def unplug(self) -> None:
        """Take the port, and with it the sensor's power."""
        self._imu.unplug()

    def plug(self) -> None:
        """Plug it in again."""
        self._imu.plug()


def _whole(fault: str, number: float) -> int:
    if isinstance(number, str) or number < 0 or number != int(number):
        raise FaultError(fault, f'needs a whole number >= 0, not {number!r}')
    return int(number)
