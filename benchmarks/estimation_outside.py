# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What `stewart estimate` and `stewart consistency` say of machines that the suite did not make.

Forty machines of ``outside_machine.py`` for each case, every one with other joints, noises, IMU
and motion. Their recordings are files (two tables, or a bag by rosbags where a tracker is beside),
and what is judged is what the command prints.

    python benchmarks/estimation_outside.py [--seeds 40] [--case NAME]
"""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

import argparse
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
import io
import json
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from outside_machine import Array, OutsideMachine, REST
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores
from scipy.stats import binom, norm
from stewart_bringup.main import main as stewart

SECONDS = 30.0
FAR = 3.5
"""No estimate may be further from the truth, in its own standard deviations."""
REST_WORDS = ('--noise-from-rest', f'{REST - 0.2:g}', '--settled', f'{REST:g}')
IMU_HEAD = 'time_s,fx_mps2,fy_mps2,fz_mps2,p_radps,q_radps,r_radps'
LEG_HEAD = 'time_s,' + ','.join(f'leg_{leg}_m' for leg in range(1, 7))
START_NS = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class Case:
    """One kind of recording, and what the command must say of it.

    Attributes:
        name: For the table.
        verb, words: The command, without its input.
        spoilt: Keywords of `OutsideMachine`, given the seed.
        least, most: Of forty, so many answers have to be yes.
        tracked: Whether a tracker is beside, which takes a bag.
    """

    name: str
    verb: str
    words: tuple[str, ...]
    least: int
    most: int = 40
    spoilt: Callable[[int], dict[str, Any]] = field(default=lambda seed: {})
    tracked: bool = False


def _late(seed: int) -> dict[str, Any]:
    """An IMU 2 to 50 ms late."""
    return {'imu_late': 0.002 + 0.048 * (seed % 10) / 9.0}


def _tracked(position: float) -> Callable[[int], dict[str, Any]]:
    """A tracker 5 to 150 ms late."""

    def spoilt(seed: int) -> dict[str, Any]:
        late = 0.005 + 0.145 * (seed % 8) / 7.0
        return {'pose_late': late, 'pose_noise': (position, 2.0 * position)}

    return spoilt


def _turned(angle: float) -> Callable[[int], dict[str, Any]]:
    return lambda seed: {'turned': angle}


ESTIMATE = REST_WORDS[:2]
RIGHT = 'consistency, right model'
CASES = (
    Case('misalignment, IMU not turned', 'estimate', (*ESTIMATE, '--misalignment'), 38),
    Case(
        'misalignment, IMU turned by 20 mrad',
        'estimate',
        (*ESTIMATE, '--misalignment'),
        38,
        spoilt=_turned(0.02),
    ),
    Case('delay of the IMU', 'estimate', (*ESTIMATE, '--delay'), 38, spoilt=_late),
    Case(
        'delay of a tracker, 1 mm', 'estimate', ESTIMATE, 38, spoilt=_tracked(1e-3), tracked=True
    ),
    Case(
        'delay of a tracker, 0.05 mm',
        'estimate',
        ESTIMATE,
        38,
        spoilt=_tracked(5e-5),
        tracked=True,
    ),
    Case(
        'delays of IMU and tracker',
        'estimate',
        (*ESTIMATE, '--delay'),
        38,
        spoilt=lambda seed: _late(seed) | _tracked(1e-3)(seed),
        tracked=True,
    ),
    Case(f'{RIGHT}, noise from rest', 'consistency', REST_WORDS, 37),
    Case(
        f'{RIGHT}, noise from rest, IMU late, --delay',
        'consistency',
        (*REST_WORDS, '--delay'),
        37,
        spoilt=_late,
    ),
    Case(
        'consistency, legs 1.5 times as noisy as at rest',
        'consistency',
        REST_WORDS,
        0,
        0,
        spoilt=lambda seed: {'leg_noise_grows': 1.5},
    ),
    Case(
        'consistency, the same with --delay and an IMU late',
        'consistency',
        (*REST_WORDS, '--delay'),
        0,
        0,
        spoilt=lambda seed: {'leg_noise_grows': 1.5} | _late(seed),
    ),
    Case(
        'consistency, IMU 10 ms late, without --delay',
        'consistency',
        REST_WORDS,
        0,
        0,
        spoilt=lambda seed: {'imu_late': 0.01},
    ),
    Case(
        'consistency, IMU turned by 20 mrad, not said',
        'consistency',
        REST_WORDS,
        0,
        0,
        spoilt=_turned(0.02),
    ),
    Case(
        'exit code 0 with --gate, IMU 50 ms late, not said',
        'estimate',
        (*ESTIMATE, '--gate'),
        0,
        0,
        spoilt=lambda seed: {'imu_late': 0.05},
    ),
)


def record(machine: OutsideMachine, folder: Path, tracked: bool) -> list[str]:
    """Write a recording and what its owner believes; return the words that name them."""
    description = folder / 'machine.yaml'
    machine.write_description(description)
    time, lengths = machine.legs(SECONDS)
    imu = np.column_stack(machine.imu(SECONDS))
    words = ['--platform', str(description)]
    if tracked:
        write_bag(folder / 'bag', machine, imu, np.column_stack([time, lengths]))
        return [str(folder / 'bag'), *words]
    tables = folder / 'imu.csv', folder / 'legs.csv'
    np.savetxt(tables[0], imu, delimiter=',', header=IMU_HEAD, comments='')
    legs = np.column_stack([time, lengths])
    np.savetxt(tables[1], legs, delimiter=',', header=LEG_HEAD, comments='')
    return ['--imu', str(tables[0]), '--legs', str(tables[1]), *words]


def write_bag(path: Path, machine: OutsideMachine, imu: Array, legs: Array) -> None:
    """Write IMU, strokes and the poses of a tracker, by rosbags alone."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    vector, turn = types['geometry_msgs/msg/Vector3'], types['geometry_msgs/msg/Quaternion']
    position, sigma = machine.pose_noise
    covariance = np.diag(np.repeat([position, sigma], 3) ** 2).ravel()
    messages = []
    for row in imu.tolist():
        message = types['sensor_msgs/msg/Imu'](
            _header(types, row[0]),
            turn(0.0, 0.0, 0.0, 1.0),
            np.append(-1.0, np.zeros(8)),
            vector(*row[4:]),
            np.zeros(9),
            vector(*row[1:4]),
            np.zeros(9),
        )
        messages.append((row[0], '/imu/data', message))
    for row in legs:
        message = types['sensor_msgs/msg/JointState'](
            _header(types, row[0]),
            [f'leg_{leg}' for leg in range(1, 7)],
            row[1:] - 0.4,
            np.empty(0),
            np.empty(0),
        )
        messages.append((row[0], '/actuator_states', message))
    for stamp, place, axes in zip(*machine.poses(SECONDS), strict=True):
        pose = types['geometry_msgs/msg/Pose'](
            types['geometry_msgs/msg/Point'](*place.tolist()), turn(*quaternion(axes))
        )
        message = types['geometry_msgs/msg/PoseWithCovarianceStamped'](
            _header(types, stamp),
            types['geometry_msgs/msg/PoseWithCovariance'](pose, covariance),
        )
        messages.append((stamp, '/platform/external_pose', message))
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        known = {}
        for stamp, topic, message in sorted(messages, key=lambda item: item[0]):
            kind = message.__msgtype__
            if topic not in known:
                known[topic] = writer.add_connection(topic, kind, typestore=store)
            data = store.serialize_cdr(message, kind)
            writer.write(known[topic], START_NS + round(stamp * 1e9), data)


def _header(types: Any, stamp: float) -> Any:
    time = types['builtin_interfaces/msg/Time'](*divmod(START_NS + round(stamp * 1e9), 10**9))
    return types['std_msgs/msg/Header'](time, '')


def quaternion(turn: Array) -> list[float]:
    """Return x, y, z, w of a turn of less than half a circle."""
    w = 0.5 * np.sqrt(1.0 + np.trace(turn))
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return [*(skew / (4.0 * w)).tolist(), float(w)]


def ask(words: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """Type the command; return its exit code and what it printed as JSON."""
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        code = stewart([*words, '--json'])
    if not out.getvalue():
        raise SystemExit(f'stewart {" ".join(words)}: {error.getvalue()}')
    return code, json.loads(out.getvalue())


def scores(said: dict[str, Any], machine: OutsideMachine) -> dict[str, list[float]]:
    """Return how far estimates lie from the truth, in their own standard deviations."""
    truth = {
        'accelerometer bias': ('accelerometer_bias', '_mps2', machine.force_bias),
        'gyroscope bias': ('gyroscope_bias', '_radps', machine.rate_bias),
        'misalignment': ('misalignment', '_rad', machine.misalignment),
        'delay of the IMU': ('imu_delay', '_s', machine.imu_late),
        'delay of the tracker': ('external_delay', '_s', machine.pose_late),
    }
    return {
        name: np.atleast_1d(
            (np.asarray(said[key + unit]) - true) / np.asarray(said[f'{key}_sigma{unit}'])
        ).tolist()
        for name, (key, unit, true) in truth.items()
        if key + unit in said
    }


def study(case: Case, seeds: int) -> dict[str, Any]:
    """Run a case; return how often the answer was yes, and how the estimates lie."""
    yes, found, sigmas = 0, dict[str, list[float]](), dict[str, list[float]]()
    broken = dict[str, int]()
    for seed in range(seeds):
        machine = OutsideMachine(seed, **case.spoilt(seed))
        with TemporaryDirectory() as folder:
            source = record(machine, Path(folder), case.tracked)
            code, said = ask([case.verb, *source, *case.words])
        if case.most == 0 and case.verb == 'estimate':
            yes += code == 0
            continue
        for name in said.get('broken_tests') or [
            item['name'] for item in said.get('verdicts', ()) if not item['held']
        ]:
            broken[name] = broken.get(name, 0) + 1
        if case.verb == 'consistency':
            yes += said['consistent']
            continue
        away = scores(said, machine)
        worst = max(abs(value) for values in away.values() for value in values)
        yes += bool(said['consistent'] and worst < FAR)
        for name, values in away.items():
            found.setdefault(name, []).extend(values)
        for name, key in (('delay of the IMU', 'imu'), ('delay of the tracker', 'external')):
            if f'{key}_delay_sigma_s' in said:
                sigmas.setdefault(name, []).append(1e3 * said[f'{key}_delay_sigma_s'])
    limit = float(norm.ppf(0.975))
    rows = [
        {
            'name': name,
            'inside': int(np.sum(np.abs(values) < limit)),
            'count': len(values),
            'band': binom.ppf([0.005, 0.995], len(values), 0.95).tolist(),
            'rms': float(np.sqrt(np.mean(np.square(values)))),
            'worst': float(np.max(np.abs(values))),
            'sigma_ms': float(np.median(sigmas[name])) if name in sigmas else None,
        }
        for name, values in found.items()
    ]
    share = seeds / 40.0
    held = np.ceil(case.least * share - 1e-9) <= yes <= case.most * share
    held &= all(row['band'][0] <= row['inside'] for row in rows)
    return {
        'name': case.name,
        'command': ' '.join(['stewart', case.verb, *case.words]),
        'seeds': seeds,
        'yes': yes,
        'least': case.least,
        'most': case.most,
        'held': bool(held),
        'broken': broken,
        'estimates': rows,
    }


def main() -> int:
    """Run the cases, print and write; 1 if a count is not held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=40)
    parser.add_argument('--case', default='', metavar='NAME', help='only those with it')
    arguments = parser.parse_args()
    found = []
    for case in CASES:
        if arguments.case not in case.name:
            continue
        row = study(case, arguments.seeds)
        found.append(row)
        word = 'held' if row['held'] else 'NOT HELD'
        print(
            f'{row["name"]}: {row["yes"]} of {row["seeds"]}, {word}, {row["broken"]}', flush=True
        )
        for item in row['estimates']:
            print(
                f'    {item["name"]}: {item["inside"]} of {item["count"]} inside 95 %, '
                f'RMS {item["rms"]:.2f} sigma, worst {item["worst"]:.2f}, '
                f'sigma {item["sigma_ms"]} ms',
                flush=True,
            )
    if not arguments.case:
        about = {**harness.machine(('numpy', 'scipy', 'numba')), 'seeds': str(arguments.seeds)}
        harness.save('estimation_outside', {'machine': about, 'outside': found})
    return 0 if all(row['held'] for row in found) else 1


if __name__ == '__main__':
    sys.exit(main())
