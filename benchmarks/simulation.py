# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How much faster than real time a rig runs in simulated time, without ROS and as a graph.

``python benchmarks/simulation.py [seconds]``: the chain of `stewart simulate` for Vigo at 200 Hz
(control loop 400 Hz), without and with its bag, and with an IMU and the state estimator; the EX800
behind card and IMU; Vigo behind EtherCAT frames; and the whole graph of Vigo with its recorder in
lock-step, while the wave is played. The peer, in the same run, is Vigo's plant alone: servo drives
and bodies, advanced by the same steps. What is above it is Python, messages and the bag. Processor
time beside wall-clock time tells a busy machine from a slow one. A bag costs some 0.05 s to open
and to close, however long it is. It fails if the graph is not five times as fast as real time, by
processor time. Of the core twenty times are asked; whether a line has them is told.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
import time

import numpy as np
from stewart_bags.whole_bags import whole_bag
from stewart_bags.writing import Storage
from stewart_bringup.demo.scenarios import Scenario, SIMULATED, WAVES
from stewart_bringup.demo.session import play
from stewart_bringup.rigs import config_file
from stewart_bringup.simulation.bags import SeriesWriter
from stewart_bringup.simulation.motions import files_of, source_of
from stewart_bringup.simulation.pipeline import Pipeline
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_node_support.stop_signals import StopSignals
from stewart_simulation.simulated_backend import SimulatedBackend, SimulatedOptions

SECONDS = 20.0
CYCLE = 0.0025
LEAST_OF_GRAPH, ASKED_OF_CORE = 5.0, 20.0


@dataclass(frozen=True)
class Speed:
    """Simulated time over wall-clock time, and over processor time."""

    name: str
    simulated_s: float
    real_time_factor: float
    per_processor_second: float


def rig(motion: str, name: str, seconds: float, *, estimate: bool | None = None) -> Pipeline:
    """Make a rig with its motion; everything is compiled then."""
    files, overrides = files_of(motion)
    source = source_of(files, overrides)
    parameters = RigParameters([config_file('rig', name), *files], overrides)
    return Pipeline(parameters, source, duration=seconds, estimate=estimate)


def timed(name: str, run: Callable[[], float]) -> Speed:
    """Time a run that returns how much time it simulated [s]."""
    wall, processor = time.perf_counter(), time.process_time()
    simulated = run()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Speed(name, simulated, simulated / wall, simulated / processor)


def chain(made: Pipeline) -> float:
    """Run without keeping anything."""
    return made.run(made.series.clear).duration


def recorded(made: Pipeline) -> float:
    """Run into a bag."""
    with TemporaryDirectory() as folder, whole_bag(Path(folder, 'bag'), Storage.MCAP) as writer:
        series = SeriesWriter(writer)
        return made.run(lambda: series.write(made.series)).duration


def graph(seconds: float) -> Speed:
    """Play a sea on the whole graph in lock-step, recorded."""
    scenario = Scenario('vigo', WAVES['jonswap'], seconds, 1, SIMULATED)
    marks: list[tuple[float, float, float]] = []

    def watch(_: str, played: float) -> None:
        if played > 0.0:
            marks.append((played, time.perf_counter(), time.process_time()))

    with TemporaryDirectory() as folder, StopSignals() as stop:
        play(scenario, Path(folder, 'bag'), watch, stop)
    simulated, wall, processor = np.subtract(marks[-1], marks[0]).tolist()
    return Speed('Vigo, whole graph', simulated, simulated / wall, simulated / processor)


def plant(seconds: float) -> float:
    """Advance the powered plant alone."""
    backend = SimulatedBackend(SimulatedOptions())
    backend.open(0.0)
    drives = backend.mechanics.drives
    drives.on = True
    for _ in range(round(seconds / CYCLE)):
        drives.advance(CYCLE)
    return seconds


def main() -> int:
    """Measure and print."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    machine = harness.machine(('numpy', 'numba', 'rosbags'))
    # What runs for the first time is compiled, or read from the cache.
    chain(rig('random', 'vigo', 0.5, estimate=True))
    vigo = [rig('random', 'vigo', seconds, estimate=wanted) for wanted in (False, False, True)]
    ex800 = rig('eq18', 'ex800_daq', seconds)
    frames = rig('random', 'vigo_ethercat', seconds)
    speeds = [
        timed('Vigo, plant alone', lambda: plant(seconds)),
        timed('Vigo, chain', lambda: chain(vigo[0])),
        timed('Vigo, chain and bag', lambda: recorded(vigo[1])),
        timed('Vigo, chain, IMU, estimator and bag', lambda: recorded(vigo[2])),
        timed('EX800 behind card and IMU, and bag', lambda: recorded(ex800)),
        timed('Vigo behind EtherCAT, and bag', lambda: recorded(frames)),
        graph(seconds),
    ]
    print(machine)
    for speed in speeds:
        reached = speed.per_processor_second > ASKED_OF_CORE
        print(
            f'{speed.name:<38} {speed.simulated_s:7.2f} s  {speed.real_time_factor:6.2f} x real '
            f'time  {speed.per_processor_second:6.2f} x processor time'
            f'{"" if reached or speed is speeds[-1] else f", not the {ASKED_OF_CORE:g} asked for"}'
        )
    rows = [asdict(speed) for speed in speeds]
    harness.save('simulation', {'machine': machine, 'speeds': rows})
    return 0 if speeds[-1].per_processor_second > LEAST_OF_GRAPH else 1


if __name__ == '__main__':
    sys.exit(main())
