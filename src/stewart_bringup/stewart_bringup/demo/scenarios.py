# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the demo plays, as data: platform, wave, who makes it, and what has to hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stewart_kinematics.model.leg_kinds import LegKind


@dataclass(frozen=True)
class Bounds:
    """What has to hold for a scenario to pass.

    Attributes:
        real_time: Whether time is the machine's, which then may spoil rates, latency and the path.
        rate: Nominal rate of setpoints, commands, actuator states and poses [Hz].
        least_rate_share: Smallest mean rate, as a share of `rate`.
        path_position, path_rotation: Largest tracking error along the path [m], [rad].
        latency: Largest 99th percentile from setpoint stamp to the state that has executed it [s].
    """

    real_time: bool = True
    rate: float = 200.0
    least_rate_share: float = 0.95
    path_position: float = 1e-3
    path_rotation: float = 2e-3
    latency: float = 0.08


# In simulated time nothing comes late, and a figure is the same on every machine. What is left of
# the path is physics: at most 0.50 mm, the sag of the EX800's soft drives that still swings out
# when the wave begins, and 0.008 deg without feed-forward. 50 ms of playout delay, up to 10 ms of
# drives and one sample of 5 ms are the latency.
SIMULATED_TIME = Bounds(
    real_time=False, least_rate_share=1.0, path_position=6e-4, path_rotation=2e-4, latency=0.065
)
# A bus brings a target, and the measurement back, a cycle of 2.5 ms later each.
SIMULATED_WIRES = replace(SIMULATED_TIME, latency=0.070)
REAL_TIME = Bounds()


@dataclass(frozen=True)
class Wave:
    """A motion that can be asked for.

    Attributes:
        name: Also the name of its configuration, ``config/wave_<name>.yaml``.
        platform: Platform it is played on unless another one is asked for.
        node: Trajectory node that plays it.
        seeded: Whether a seed changes it.
    """

    name: str
    title: str
    platform: str
    node: str
    seeded: bool = False


WAVES = {
    wave.name: wave
    for wave in (
        Wave(
            'jonswap',
            'JONSWAP sea, scaled to 60 % of the workspace',
            'vigo',
            'ocean_trajectory',
            seeded=True,
        ),
        Wave('random', 'random wave of the paper, Eq. 37', 'vigo', 'ocean_trajectory'),
        Wave('eq18', 'wave of the paper, Eq. 18 with 0.029 rad', 'ex800', 'excitation_trajectory'),
    )
}


SIMULATED = 'simulated'
# Unless a back end is asked for, these are played over the wires of the papers' machines, which a
# virtual rig answers: drives on EtherCAT, and a card with the IMU on a serial line.
WIRED = {('vigo', 'random'): 'ethercat', ('ex800', 'eq18'): 'daq'}

# What is played a second time without feed-forward, and for how long [s].
UNAIDED, UNAIDED_DURATION = ('ex800', 'eq18'), 6.0

# How long a wave is played unless that is asked for [s]: what runs against the real clock takes
# as long as it lasts.
DURATION, WIRED_DURATION = 15.0, 8.0


@dataclass(frozen=True)
class Scenario:
    """One run of the demo.

    Attributes:
        duration: How long the wave is played before it is asked to fade out [s].
        backend: Back end of the driver; with the platform it names the rig's file, see `rig`.
        feed_forward: Whether the drives are told the forces that the motion needs, as the rig's
            configuration has it; False switches it off.
        fallback: Why the back end is not the one that was chosen; empty if it is.
        time: ``simulated``: the machine behind wires is in this process; ``real``; None: simulated
            where there are no wires.
        speed: Simulated seconds per second; 0 for as many as the machine can.
    """

    platform: str
    wave: Wave
    duration: float
    seed: int
    backend: str
    feed_forward: bool = True
    fallback: str = ''
    time: str | None = None
    speed: float = 0.0

    @property
    def rig(self) -> str:
        """Name of the rig's file, ``config/rig_<rig>.yaml``."""
        return self.platform if self.backend == SIMULATED else f'{self.platform}_{self.backend}'

    @property
    def simulated(self) -> bool:
        """Whether nothing but this process takes part, and its time is simulated."""
        return self.time == SIMULATED if self.time else self.backend == SIMULATED

    @property
    def kind(self) -> LegKind:
        """Family of the platform's legs."""
        # Late: a command line that asks for help needs no platform.
        from stewart_kinematics.model.platform import Platform

        return Platform.from_yaml(self.platform).kind

    @property
    def bounds(self) -> Bounds:
        """What has to hold."""
        if not self.simulated:
            return REAL_TIME
        if self.backend != SIMULATED:
            return SIMULATED_WIRES
        # Late, as above.
        from stewart_bringup.demo.resolution import hidden_by_steps
        from stewart_bringup.rigs import config_file, setting
        from stewart_kinematics.model.platform import Platform

        drives = setting([config_file('rig', self.rig)], 'driver', 'simulated') or {}
        if not (step := drives.get('encoder_resolution', 0.0)):
            return SIMULATED_TIME
        way, turn = hidden_by_steps(Platform.from_yaml(self.platform), step)
        return replace(
            SIMULATED_TIME,
            path_position=SIMULATED_TIME.path_position + way,
            path_rotation=SIMULATED_TIME.path_rotation + turn,
        )

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f'{self.rig}_{self.wave.name}{"" if self.feed_forward else "_unaided"}'

    @property
    def title(self) -> str:
        """Return one line for people."""
        aid = '' if self.feed_forward else ', without feed-forward'
        return f'{self.platform}, {self.backend}: {self.wave.title}{aid}'

    def overrides(self) -> dict[str, dict[str, object]]:
        """Return the parameters that win over the files, by node."""
        chosen: dict[str, dict[str, object]] = {}
        if not self.feed_forward:
            chosen['feed_forward'] = {'enabled': False}
        if self.wave.seeded:
            chosen[self.wave.node] = {'seed': self.seed}
        return chosen


def choose(
    platform: str | None,
    wave: str | None,
    duration: float | None,
    seed: int,
    backend: str | None,
    time: str | None = None,
) -> list[Scenario]:
    """Return what is played, in this order, those over wires at the end; never empty.

    A platform that no wave calls its own gets the sea. If no wave was chosen, the EX800's is
    played on simulated drives with and, shorter, without feed-forward, so that the report can
    tell what feed-forward is worth.

    Args:
        platform: The only platform; None for each wave's own.
        wave: The only wave; None for all of the platform's.
        duration: How long each wave is played [s]; None for `DURATION`, over wires
            `WIRED_DURATION`.
        backend: The only back end; None for that of `WIRED`, elsewhere the simulated one.
        time: ``simulated`` or ``real`` for all; None for each scenario's own.
    """
    waves = [WAVES[wave]] if wave else list(WAVES.values())
    if platform and not wave:
        waves = [item for item in waves if item.platform == platform] or [WAVES['jonswap']]
    chosen = []
    for item in waves:
        where = platform or item.platform
        wire = backend or WIRED.get((where, item.name), SIMULATED)
        length = duration or (DURATION if wire == SIMULATED else WIRED_DURATION)
        chosen.append(Scenario(where, item, length, seed, wire, time=time))
    if wave or backend not in {None, SIMULATED}:
        return chosen
    short = min(duration or DURATION, UNAIDED_DURATION)
    for scenario in list(chosen):
        if (scenario.platform, scenario.wave.name) == UNAIDED:
            aided = scenario
            if scenario.backend != SIMULATED:
                aided = replace(scenario, backend=SIMULATED, duration=short)
                chosen.append(aided)
            chosen.append(replace(aided, feed_forward=False, duration=short))
    return sorted(chosen, key=lambda scenario: not scenario.simulated)


def ends_with_identification(platform: str | None, wave: str | None, backend: str | None) -> bool:
    """Tell whether the demo of these options, as of `choose`, ends with the identification."""
    return platform in {None, UNAIDED[0]} and wave is None and backend in {None, SIMULATED}
