# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A card on an EX800, in this process and on a clock of its own: for tests and for trying."""

from __future__ import annotations

from dataclasses import replace
import datetime
from pathlib import Path
from typing import Any

import numpy as np
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.calibration import fit_table, merged
from stewart_driver.daq.card_type import CardAccess
from stewart_driver.daq.options import DaqOptions
from stewart_driver.legs import Array
from stewart_driver.rig_file import Rig, save_rig
from stewart_kinematics.model.platform import Platform
from stewart_simulation.daq_card.analog_rig import AnalogRig, AnalogSettings, Mode
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.faults import CardFaults
from stewart_simulation.daq_card.gauge import measure_points
from stewart_simulation.daq_card.inline_wire import InlineWire
from stewart_simulation.daq_card.library import SimulatedComedi
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.start import leg_limits, start_pose

DAY = datetime.date(2026, 11, 21)
# The wall clock is so far ahead of the steady one [s].
WALL = 1.8e9
# The motors have none: for tests that are about something else than how legs sink without power.
BRAKES = {'brake': True, 'brake_apply_s': 0.0, 'brake_release_s': 0.0}


def teaching_rig(
    mode: Mode = Mode.POSITION, card_late_share: float = 1e-3, **others: Any
) -> RigSettings:
    """Return a rig with the card alone, and the small, soft drives of a teaching rig; assumed."""
    return RigSettings(
        platform='ex800',
        moved_by='card',
        card_mode=mode.value,
        ethercat=False,
        imu=False,
        card_late_share=card_late_share,
        force_limit=200.0,
        rated_force=50.0,
        position_gain=30.0,
        rate_loop_bandwidth=20.0,
        integral_time=0.05,
        viscous_friction=5.0,
        coulomb_friction=0.3,
        **others,
    )


def calibrate(path: Path, platform: str, settings: AnalogSettings, *, seed: int = 0) -> None:
    """Write the rig file that a calibration of these sensors and amplifiers gives."""
    table = measure_points(settings, np.random.default_rng(seed))
    mode = settings.mode.value
    fits = [item for item, _ in fit_table(table, mode, np.inf, np.inf)]
    save_rig(path, Rig(platform, daq=merged(None, fits, mode, DAY)))


class Bench:
    """Card, plant and back end; time passes only by `wait`, and the plant moves when asked.

    Args:
        folder: Where the rig file is written.
        mode: What the amplifiers take.
        brakes: Whether the legs stay where they are without power.
        options: Options of the back end.

    Attributes:
        now: Time [s].
        wires: All that was opened so far.
    """

    def __init__(
        self, folder: Path, mode: Mode = Mode.POSITION, *, brakes: bool = False, **options: Any
    ) -> None:
        """Calibrate, and open nothing."""
        rig = teaching_rig(mode, **(BRAKES if brakes else {}))
        platform = Platform.from_yaml(rig.platform)
        self.now = self._plant_at = 100.0
        self.limits = leg_limits(platform)
        self.card = Card(CardSettings(), lambda: WALL + self._plant_at)
        self.faults = CardFaults(self.card)
        plant = rig.plant(platform, start_pose(platform, rig.start))
        self.drives = rig.drives(plant, self.limits, hold_after=rig.hold_after)
        wired = {'enable_channel': 0, **options}
        self.settings = replace(
            AnalogSettings.for_legs(self.limits, mode, seed=3),
            enable_channel=wired['enable_channel'],
        )
        self._rig = AnalogRig(self.card, self.drives, self.settings, np.random.default_rng(1))
        self.wires: list[InlineWire] = []
        self.library = SimulatedComedi(self._connect, self.wait)
        path = folder / 'rig.yaml'
        calibrate(path, rig.platform, self.settings)
        self.options = DaqOptions(
            card='simulated',
            device='bench',
            rig_file=str(path),
            mode=mode.value,
            **wired,
        )
        self.backend = DaqBackend(
            self.options,
            CardAccess(self.library, lambda: self.now, lambda: WALL + self.now),
        )

    def _connect(self, _: str) -> InlineWire:
        self.wires.append(InlineWire(self.card, self.advance))
        return self.wires[-1]

    def amplified(self) -> Array:
        """Return what the amplifiers make of their volts, shape (6,) [m] or [m/s]."""
        settings = self.settings
        return np.asarray(settings.command_gains * self.card.outputs + settings.command_offsets)

    def wait(self, duration: float) -> None:
        """Let time pass [s]; the plant follows with the next call of the card."""
        self.now += duration

    def advance(self) -> None:
        """Bring the plant up to now."""
        if self.now > self._plant_at:
            self._rig.advance(self.now - self._plant_at)
            self._plant_at = self.now
