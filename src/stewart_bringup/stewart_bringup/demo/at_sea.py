# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Two rigs in simulated time: one makes the sea, the other lives on its platform and keeps level.

The deck rig knows of the sea only what the IMU on its base tells. The platform of the sea rig does
not feel what stands on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from stewart_bags.reading import Bag
from stewart_bags.series import OdometrySeries, read_series
from stewart_bringup.demo.analysis import Check, FAULTS, LOST, STOPPED
from stewart_bringup.demo.recording import driver_history
from stewart_bringup.demo.report import Chapter, checks_table
from stewart_bringup.rigs import config_file
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.page import drawing, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Watch = Callable[[str, float], None]

NAME, TITLE = 'two_rigs', 'Two vigos: one makes the sea, the other keeps level on it'
SEA, DECK = 'sea', 'deck'
PEAK_PERIOD, FELT_PERIOD = 3.0, 2.0
"""Of the swell that the one platform makes, and of its slope, which tilts the base [s]."""

SWELL: dict[str, Any] = {
    'peak_period': PEAK_PERIOD,
    'significant_height': 0.3,
    'peak_enhancement': 7.0,
    'attack_angle_deg': 35.0,
}
# On a base that moves, legs without voltage would be shaken into their ends.
OF_THE_SEA: dict[str, dict[str, Any]] = {'virtual_rig': {'imu': False, 'brake': True}}
OF_THE_DECK: dict[str, dict[str, Any]] = {
    'virtual_rig': {'brake': True, 'base': 'still', 'base_on': f'/{SEA}/simulation/truth'},
    'stabilisation': {'peak_period': FELT_PERIOD},
}
SETTLED, DURATION, MARGIN = 14.0, 26.0, 2.0
"""The deck is judged so long after its start, until so long after it; the sea lasts longer [s]."""

WATCH_PERIOD = 0.1
NAMES, BOUNDS = ('roll', 'pitch', 'heave'), (5.0, 5.0, 25.0)
"""What may be left of each [%]."""

UNITS = 'mrad', 'mrad', 'mm'
MEANING = (
    'the motion of the base is predicted badly, or legs and drives do not follow; look at the '
    'curves, and at what "stewart diagnostics" tells of stabilisation in the bag'
)


@dataclass(frozen=True, eq=False)
class Levelled:
    """Roll, pitch [rad] and heave [m] of a base and of the platform on it, in the world.

    Attributes:
        time (n,): [s].
        base, left (n, 3): Heave is counted from its mean.
    """

    time: Array
    base: Array
    left: Array

    @classmethod
    def of_bag(cls, bag: Path, begin: float, end: float) -> Levelled:
        """Read the truths of a virtual rig between two instants [s]."""
        with Bag(bag) as opened:
            base, own = (
                read_series(opened, f'simulation/{name}', OdometrySeries)
                for name in ('base_truth', 'truth')
            )
        _, here, there = np.intersect1d(base.stamp_ns, own.stamp_ns, return_indices=True)
        time = base.stamp_ns[here] / 1e9
        inside = (time >= begin) & (time <= end)
        here, there = here[inside], there[inside]
        carrier = Rotation.from_quat(base.quaternion_xyzw[here])
        attitude = carrier * Rotation.from_quat(own.quaternion_xyzw[there])
        place = base.position[here] + carrier.apply(own.position[there])
        motions = _motion(carrier, base.position[here, 2]), _motion(attitude, place[:, 2])
        return cls(time[inside], *motions)

    @property
    def rms(self) -> tuple[Array, Array]:
        """Root mean squares of base and platform, (3,) each."""
        base, left = (np.sqrt(np.mean(np.square(x), axis=0)) for x in (self.base, self.left))
        return base, left


def _motion(rotation: Rotation, height: Array) -> Array:
    angles = rotation.as_euler('ZYX')
    return np.column_stack([angles[:, 2], angles[:, 1], height - height.mean()])


def play(bag: Path, watch: Watch, stop: StopSignals, seed: int) -> Chapter | None:
    """Let the deck rig level out the sea rig's motion and tell of it; None after a stop.

    Args:
        bag: Where the deck rig is recorded; must not exist.
        watch: Told the present phase and for how long the deck has been played [s].
        seed: Of the sea.

    Raises:
        RequestRefused: If a driver or a node refuses; both platforms were brought to rest.
        StartUpError: If other rigs run in one of their namespaces.
    """
    # Late, because it imports rclpy: what was asked is checked before.
    from stewart_bringup.composition import compose_alone, Ledger, simulated_pace
    from stewart_bringup.demo.session import CHAIN, fall_silent
    from stewart_bringup.nodes.wave_operator import operator_of
    from stewart_node_support.only_here import only_here
    from stewart_node_support.running import middleware, spin
    from stewart_simulation.nodes.simulation_clock import AS_FAST_AS_POSSIBLE

    sea_files = [config_file('rig', 'vigo_ethercat'), config_file('wave', 'jonswap')]
    deck_files = [config_file('rig', 'vigo_at_sea')]
    judged: list[float] = []
    make = partial(compose_alone, lean=True, simulated=True)
    with (
        middleware(['--ros-args', '--log-level', 'warn']),
        only_here(DECK),
        only_here(SEA),
    ):
        deck = make(
            deck_files,
            names=(*CHAIN, 'stabilisation'),
            namespace=DECK,
            overrides=OF_THE_DECK,
            record=bag,
        )
        sea = make(
            sea_files,
            names=(*(name for name in CHAIN if name != 'imu'), 'ocean_trajectory'),
            namespace=SEA,
            overrides={**OF_THE_SEA, 'ocean_trajectory': {**SWELL, 'seed': seed}},
        )
        ledger, nodes = Ledger(deck), [*deck, *sea]
        waves = operator_of(sea_files, DURATION + MARGIN, stop, namespace=SEA)
        level = operator_of(deck_files, DURATION, stop, namespace=DECK)

        def look() -> None:
            watch(level.phase, level.played)
            if level.played > SETTLED:
                judged.append(level.now())

        level.create_timer(WATCH_PERIOD, look)

        async def work() -> bool:
            assert level.executor is not None
            beneath = level.executor.create_task(waves.play)
            finished = await level.play()
            finished = bool(await beneath) and finished
            fall_silent(deck)
            return finished

        pace = simulated_pace(nodes, AS_FAST_AS_POSSIBLE, stop)
        if not spin([*nodes, waves, level], task=work, stop=StopSignals(), pace=pace):
            return None
    faults = [reason for _, state, reason in driver_history(bag) if state == 'FAULT']
    # /diagnostics is shared by both rigs.
    with Bag(bag) as opened:
        recorded = {name: topic.count for name, topic in opened.topics.items()}
    lost = sum(max(n - recorded.get(name, 0), 0) for name, n in ledger.counts().items())
    return judge(Levelled.of_bag(bag, judged[0], judged[-1]), lost, faults)


def judge(found: Levelled, lost: int, faults: Sequence[str]) -> Chapter:
    """Hold what is left of the base's motion, lost messages and faults against their bounds."""
    base, left = found.rms
    share = 100.0 * left / base
    checks = [
        Check('lost messages', str(lost), '0', lost == 0, LOST),
        Check(FAULTS, '; '.join(faults) or '0', '0', not faults, STOPPED),
        *(
            Check.bounded(f'{name} that is left', value, bound, '%', MEANING, digits=1)
            for name, value, bound in zip(NAMES, share.tolist(), BOUNDS, strict=True)
        ),
    ]
    rows = [
        [f'{name} [{unit}]', *(f'{1e3 * value:.2f}' for value in pair), f'{part:.1f} %']
        for name, unit, part, *pair in zip(NAMES, UNITS, share, base, left, strict=True)
    ]
    body = [
        f'<p>{np.ptp(found.time):.0f} s of simulated time, a JONSWAP swell with a peak period of '
        f'{PEAK_PERIOD:g} s, scaled to 60 % of the workspace. The deck rig knows of the sea only '
        'what an IMU with noise and biases on its base tells; the platform of the sea rig does '
        'not feel what stands on it.</p>',
        table(['RMS', 'platform of the sea rig', 'platform of the deck rig', 'left'], rows),
        '<p>From what the simulation knows of both (<code>simulation/base_truth</code> and '
        '<code>simulation/truth</code> in the bag), not from estimates; heave is counted from its '
        'mean. What is left is the one RMS in percent of the other.</p>',
        '<h3>What had to hold</h3>',
        checks_table(checks),
    ]
    picture = drawing('Base (grey) and the platform on it', _curves(found), wide=False)
    return Chapter(NAME, TITLE, '\n'.join(body), checks, cover=picture, simulated=True)


def _curves(found: Levelled) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout='constrained')
    axes = figure.subplots(3, 1, sharex=True)
    time = found.time - found.time[0]
    for column, (axis, name, unit) in enumerate(zip(axes, NAMES, UNITS, strict=True)):
        axis.plot(time, 1e3 * found.base[:, column], color='tab:gray', linewidth=1.0)
        axis.plot(time, 1e3 * found.left[:, column], color='tab:cyan', linewidth=1.5)
        axis.set_ylabel(f'{name} [{unit}]')
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel('time [s]')
    return figure
