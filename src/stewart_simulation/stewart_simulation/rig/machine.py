# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is particular to a simulated machine: zeros and gains, as its rig.yaml has it."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
import datetime

import numpy as np
from stewart_driver.legs import LegLimits, LEGS
from stewart_driver.rig_file import (
    Channel,
    DaqCalibration,
    DriveCalibration,
    DriveIdentity,
    Rig,
)
from stewart_driver.rig_platform import geometry_digest
from stewart_kinematics.model.platform import Platform
from stewart_simulation.daq_card.analog_rig import AnalogSettings, Mode
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.start import start_pose, strokes_at

# The encoders stand anywhere within this at stroke zero [count].
FURTHEST_ZERO = 100_000_000


@dataclass(frozen=True, eq=False)
class Machine:
    """One machine as it was built.

    Attributes:
        platform: Its type.
        limits: Of its legs.
        zeros: Readings of the encoders at stroke zero [count].
        analog: Position sensors and amplifiers.
    """

    platform: Platform
    limits: LegLimits
    zeros: tuple[int, ...]
    analog: AnalogSettings

    @classmethod
    def build(cls, platform: Platform, limits: LegLimits, settings: RigSettings) -> Machine:
        """Return the machine of a seed: no two of its parts are quite alike."""
        rng = np.random.default_rng(settings.seed)
        zeros = rng.integers(-FURTHEST_ZERO, FURTHEST_ZERO, LEGS, endpoint=True)
        analog = replace(
            AnalogSettings.for_legs(limits, Mode(settings.card_mode), seed=settings.seed),
            sensor_noise=settings.sensor_noise,
            enable_channel=settings.enable_channel,
        )
        return cls(platform, limits, tuple(int(value) for value in zeros), analog)

    def sheet(self, settings: RigSettings, today: datetime.date) -> Rig:
        """Return the rig.yaml that a perfect calibration of this machine would write.

        Args:
            settings: What the machine consists of.
            today: Date of the calibration.

        Returns:
            Its sections for the wires that there are.
        """
        pose = start_pose(self.platform, settings.start)
        strokes = tuple(float(value) for value in strokes_at(self.platform, pose))
        identities = tuple(
            DriveIdentity(*astuple(kind.identity)) for kind in settings.drive_types()
        )
        analog = self.analog
        drives = daq = None
        if settings.ethercat:
            # Dates of their own, for YAML would write the second as a reference to the first.
            drives = DriveCalibration(
                self.zeros, today.replace(), settings.start, strokes, identities
            )
        if settings.card:
            daq = DaqCalibration(
                _channels(analog.sensor_gains, analog.sensor_offsets),
                _channels(analog.command_gains, analog.command_offsets),
                today,
                settings.card_mode,
            )
        return Rig(settings.platform, drives, daq, geometry=geometry_digest(settings.platform))


def _channels(gains: np.ndarray, offsets: np.ndarray) -> tuple[Channel, ...]:
    return tuple(
        Channel(float(gain), float(offset), 0.0)
        for gain, offset in zip(gains, offsets, strict=True)
    )
