# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How punctual the EtherCAT cycle is at 1, 2 and 4 ms, beside a process that keeps a core busy.

``python benchmarks/ethercat_cycle.py [seconds] [priority]``: six drives of the software segment,
in a private network, follow a wave for 60 s a cycle time, then a quick stop. The segment is Python
on the same machine, so a round trip is its work too. The priority is SCHED_FIFO, 0 is none.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
import datetime
import json
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import numpy as np
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.control.cycle_statistics import percentile
from stewart_driver.control.state_machine import Request, State
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.path.motion import LegMotion
from stewart_driver.rig_file import DriveCalibration, DriveIdentity, EthercatSection, Rig, save_rig

SECONDS = 60.0
CYCLES = (0.001, 0.002, 0.004)
SETPOINT_PERIOD = 0.005
AMPLITUDES = np.array([0.02, 0.015, -0.02, 0.01, 0.018, -0.015])
OMEGA = 2.0 * np.pi * 0.5
IDENTITY = DriveIdentity(0x83, 0xB0, 0x00010004, 0)
ZERO = round(0.3 * 2**23 / 0.01)
MICROSECONDS, MILLIMETRES = 1e6, 1e3
# Slower than this a leg is at rest [m/s].
STANDSTILL = 2e-3
# A wave shall not be stopped by what is being measured.
PATIENCE = {'receive_timeout': 0.02, 'patience': 0.5, 'drive_watchdog': 0.8}
PATH = InterpolationSettings(playout_delay=0.1, extrapolation_time=0.3)
WATCH = SupervisionSettings(command_timeout=0.8, following_error=0.05, overrun_share=1.0)


@dataclass(frozen=True)
class Result:
    """One run; times in µs, the worst following error in mm."""

    cycle_us: float
    cycles: int
    round_trip_p50_us: float
    round_trip_p99_us: float
    round_trip_max_us: float
    wake_up_p50_us: float
    wake_up_p99_us: float
    wake_up_max_us: float
    bad_working_counters: int
    lost_frames: int
    overruns: int
    following_error_p99_mm: float
    following_error_max_mm: float
    quick_stop_seen_us: float
    quick_stop_to_rest_us: float
    ended: str


def run(folder: Path, namespace: str, cycle: float, seconds: float, priority: int) -> Result:
    """Follow the wave, then stop."""
    start = zero(folder)
    options = EthercatOptions(
        **PATIENCE, namespace=namespace, rig_file=str(folder / 'rig.yaml'), cycle_time=cycle
    )
    backend = EthercatBackend(options)
    settings = CycleConfiguration(backend.limits, PATH, WATCH, realtime_priority=priority)
    client = CycleClient(backend, settings)
    try:
        accepted, why = client.request(Request.ENABLE)
        assert accepted, why
        time.sleep(1.0)
        # A quarter of a wave more, where it is fastest.
        errors = _follow(client, start, seconds + 0.5 * np.pi / OMEGA)
        begin = time.monotonic()
        client.quick_stop()
        seen = time.monotonic() - begin
        at_rest, ended = _until_rest(client, begin)
        now = client.counters()
        times = {
            f'{name}_{label}_us': MICROSECONDS * percentile(counts, share)
            for name, counts in (('round_trip', now.round_trips), ('wake_up', now.lateness))
            for label, share in (('p50', 0.5), ('p99', 0.99))
        }
        return Result(
            cycle_us=MICROSECONDS * cycle,
            cycles=now.cycles,
            round_trip_max_us=MICROSECONDS * now.longest_round_trip,
            wake_up_max_us=MICROSECONDS * now.latest,
            bad_working_counters=now.bad_working_counters,
            lost_frames=now.lost_frames,
            overruns=now.overruns,
            following_error_p99_mm=MILLIMETRES * float(np.percentile(errors, 99)),
            following_error_max_mm=MILLIMETRES * float(np.max(errors)),
            quick_stop_seen_us=MICROSECONDS * seen,
            quick_stop_to_rest_us=MICROSECONDS * at_rest,
            ended=ended,
            **times,
        )
    finally:
        client.end()


def zero(folder: Path) -> np.ndarray:
    """Write a rig file that has all strokes at 0.3 m; return them."""
    calibration = DriveCalibration(
        (-ZERO,) * 6, datetime.date(2026, 11, 21), 'all strokes 0.3 m', (0.3,) * 6, (IDENTITY,) * 6
    )
    save_rig(
        folder / 'rig.yaml', Rig('vigo', drives=calibration, ethercat=EthercatSection('ecat0'))
    )
    return np.full(6, 0.3)


def _follow(client: CycleClient, start: np.ndarray, seconds: float) -> list[float]:
    """Send the wave; return the largest distance of any leg from its command, every cycle."""
    errors: list[float] = []
    begin = due = time.monotonic()
    while (elapsed := time.monotonic() - begin) < seconds:
        phase = OMEGA * elapsed
        strokes = start + AMPLITUDES * (1.0 - np.cos(phase))
        rates = AMPLITUDES * OMEGA * np.sin(phase)
        client.offer(LegMotion(begin + elapsed, strokes, rates, np.zeros(6)))
        for item in client.samples():
            if item.commanded_strokes is not None:
                errors.append(float(np.abs(item.strokes - item.commanded_strokes).max()))
        due = max(due + SETPOINT_PERIOD, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0.0))
    return errors


def _until_rest(client: CycleClient, begin: float) -> tuple[float, str]:
    """Return when the last leg came to rest after the quick stop [s], and why the motion ended."""
    reasons, moved_at = [], begin
    limit = time.monotonic() + 5.0
    while time.monotonic() < limit:
        for item in client.samples():
            if item.stamp > begin and np.abs(item.rates).max() > STANDSTILL:
                moved_at = item.stamp
        for change in client.state_changes():
            reasons.append(f'{change.state.name}: {change.reason}')
            if change.state in {State.DISABLED, State.FAULT} and change.stamp > begin:
                return moved_at - begin, reasons[-1]
        time.sleep(0.002)
    return float('nan'), reasons[-1]


@contextmanager
def segment(folder: Path, seconds: float, priority: int = 0) -> Iterator[str]:
    """Run six drives for so long at most; yield their network namespace."""
    control = folder / 'control'
    # The drives are processes of this machine, so they get about the same priority.
    first = ['chrt', '--fifo', str(priority)] if priority else []
    command = [*first, sys.executable, '-m', 'stewart_simulation.ethercat']
    command += ['--sync-error-limit', '0', '--control', str(control), '--', 'sleep', str(seconds)]
    process = subprocess.Popen(command)
    try:
        while not control.exists():
            assert process.poll() is None, 'the segment did not start'
            time.sleep(0.01)
        yield f'/proc/{process.pid}/ns/net'
    finally:
        process.kill()
        process.wait()


def main() -> int:
    """Run all cycle times and write the JSON file."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    priority = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    results = []
    for cycle in CYCLES:
        with tempfile.TemporaryDirectory(prefix='ecat') as name:
            folder = Path(name)
            # Drives with a load beside them: a process that never waits.
            hog = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
            try:
                with segment(folder, 10 * seconds + 100, priority) as network:
                    results.append(run(folder, network, cycle, seconds, priority))
            finally:
                hog.kill()
                hog.wait()
        print(json.dumps(asdict(results[-1]), indent=1), flush=True)
    about = harness.machine(['numpy', 'pysoem'])
    content = {
        'machine': about,
        'seconds': seconds,
        'realtime_priority': priority,
        'load': 'one process that keeps a core busy, and whatever else runs',
        'cycles': [asdict(result) for result in results],
    }
    harness.save(f'ethercat_cycle{f"_fifo{priority}" if priority else ""}', content)
    return 0


if __name__ == '__main__':
    sys.exit(main())
