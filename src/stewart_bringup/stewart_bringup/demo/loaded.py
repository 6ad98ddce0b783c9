# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The EX800 with a payload that its description does not know: what is played to find it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_bringup.demo.scenarios import Scenario, SIMULATED, WAVES
from stewart_identification.models.platform import CENTROIDAL_NAMES
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import read_only

PLATFORM = 'ex800'
PAYLOAD_MASS, PAYLOAD_POSITION = 2.0, (0.05, -0.03, 0.08)
JOINT_ERROR, FORCE_NOISE = 1e-4, 0.5
# The optimal motion turns at 2 rad/s: what the supervisor allows the waves [rad] it would pass in
# a pause of 25 ms, which an ordinary scheduler makes.
TRACKING_ROTATION = 0.2
# The wave's time is that of its fade-in and a little more than one period of the motion.
EXCITATION, EXCITATION_TIME, WAVE_TIME = 'ex800_identification', 13.5, 6.0


@dataclass(frozen=True)
class LoadedScenario(Scenario):
    """A run of the loaded EX800 on simulated drives.

    Attributes:
        label: Tells it from the others: end of its folder's name.
        motion: What is played, by name.
        description: Platform that the feed-forward believes in, by name or path.
    """

    label: str = ''
    motion: str = 'ex800_wave'
    description: str = PLATFORM

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f'{self.rig}_loaded_{self.label}'

    @property
    def title(self) -> str:
        """Return one line for people."""
        return f'{self.platform} with an unknown payload: {self.label}'

    def overrides(self) -> dict[str, dict[str, object]]:
        """Return the parameters that win over the files, by node."""
        return {
            'driver': {
                'tracking_rotation': TRACKING_ROTATION,
                'simulated.payload_mass': PAYLOAD_MASS,
                'simulated.payload_position': list(PAYLOAD_POSITION),
                'simulated.joint_error': JOINT_ERROR,
                'simulated.force_noise': FORCE_NOISE,
            },
            'excitation_trajectory': {'motion': self.motion},
            'feed_forward': {'platform': self.description},
        }


def excitation() -> LoadedScenario:
    """Return the run from which the parameters are found."""
    return _scenario(EXCITATION_TIME, 'excitation', motion=EXCITATION)


def waves(description: str) -> tuple[LoadedScenario, LoadedScenario]:
    """Return the wave with the wrong feed-forward and with that of a description's path."""
    return (
        _scenario(WAVE_TIME, 'described'),
        _scenario(WAVE_TIME, 'identified', description=description),
    )


def loaded() -> tuple[LoadedScenario, ...]:
    """Return all runs, as far as they are known before anything was found."""
    return (excitation(), *waves(PLATFORM))


def _scenario(
    duration: float, label: str, motion: str = 'ex800_wave', description: str = PLATFORM
) -> LoadedScenario:
    return LoadedScenario(
        PLATFORM,
        WAVES['eq18'],
        duration,
        0,
        SIMULATED,
        label=label,
        motion=motion,
        description=description,
    )


def truth() -> dict[str, float]:
    """Return the ten parameters that the simulated rig has.

    Returns:
        By name: mass [kg], centre of mass [m], inertia about it [kg m²], platform_link axes.
    """
    # Late, for it loads the plant's kernels.
    from stewart_simulation.differences import Differences

    masses = Platform.from_yaml(PLATFORM).masses
    assert masses is not None
    radius = Differences.payload_radius
    ball = RigidBody(
        PAYLOAD_MASS,
        read_only(PAYLOAD_POSITION),
        read_only(0.4 * PAYLOAD_MASS * radius**2 * np.eye(3)),
    )
    body = masses.platform.joined(ball)
    if masses.payload is not None:
        body = body.joined(masses.payload)
    upper = body.inertia[np.triu_indices(3)]
    values = body.mass, *body.centre_of_mass, *upper
    return dict(zip(CENTROIDAL_NAMES, map(float, values), strict=True))
