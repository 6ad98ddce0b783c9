# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the back end ``ethercat``."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.drive_setup import interpolation_time
from stewart_tables.settings import param, positive, require

SHARE_FOR_A_FRAME = 0.75


@dataclass(frozen=True)
class EthercatOptions:
    """Wire, drives and patience; every field is a parameter ``ethercat.<field>``."""

    interface: str = param('', 'network interface; empty: that of rig_file')
    namespace: str = param(
        '', 'network namespace of a virtual rig, such as <rig>/netns; empty: none, real drives'
    )
    drive: str = param('omron_1s', 'type of the drives: a name, or a path to its YAML file')
    rig_file: str = param(
        '', 'calibration file with the zero offsets; empty: strokes are not absolute'
    )
    cycle_time: float = positive(0.002, 'time from one exchange to the next [s]')
    receive_timeout: float = param(
        0.0, 'a frame that takes longer is lost; 0: three quarters of cycle_time [s]', min=0.0
    )
    patience: float = positive(0.06, 'longest time without a complete answer [s]')
    drive_watchdog: float = positive(0.1, 'drives stop by themselves after this silence [s]')
    start_timeout: float = positive(10.0, 'longest way of all drives from SAFEOP to OP [s]')
    sync_shift: float = positive(0.5, 'SYNC0 comes this share of a cycle after the frame')
    home_tolerance: float = positive(0.002, 'at home, legs stand this close to it [m]')
    homing_method: int = param(
        0, 'driver/home lets the drives find home by this method (6098h); 0: it only verifies'
    )
    rate_bandwidth: float = positive(
        100.0, 'corner of measured rates where drives report none that are right [Hz]'
    )

    def __post_init__(self) -> None:
        require(self)
        interpolation_time(self.cycle_time)
        if not self.sync_shift < 1.0:
            raise ConfigurationError('sync_shift', self.sync_shift, 'less than 1')
        if not self.patience < self.drive_watchdog:
            raise ConfigurationError(
                'patience',
                self.patience,
                f'less than drive_watchdog, {self.drive_watchdog:g} s: '
                'afterwards the drives have stopped by themselves',
            )
        if not self.receive_timeout < self.patience:
            raise ConfigurationError(
                'receive_timeout', self.receive_timeout, f'less than patience, {self.patience:g} s'
            )

    @property
    def frame_timeout(self) -> float:
        """Longest wait for a frame [s]; longer than a cycle, one lost frame would cost two."""
        return self.receive_timeout or SHARE_FOR_A_FRAME * self.cycle_time
