# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One row per question and peer: how long we take, how long the peer takes, and the ratio.

A ratio is that of the peer's time to ours in the same round, of which every benchmark has eleven
or as many as it says: the median, and in brackets the least and the largest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Result = Mapping[str, Any]
HEAD = '| question | ours | peer | ratio | machine, load, date |'


@dataclass(frozen=True)
class Question:
    """A task of ours and the same task of a peer, by their names in a result with timings."""

    text: str
    ours: str
    peer: str


QUESTIONS: Mapping[str, tuple[Question, ...]] = {
    'inverse_kinematics': (
        Question('inverse kinematics, batch', 'leg_lengths(), batch', 'numpy and scipy, batch'),
        Question(
            'inverse kinematics, one pose', 'leg_lengths(), one pose', 'numpy and scipy, one pose'
        ),
    ),
    'forward_kinematics': tuple(
        Question('forward kinematics, one pose', 'forward(), from neutral', peer)
        for peer in ('scipy fsolve', 'Pinocchio closed-loop Newton')
    ),
    'dynamics': tuple(
        Question('actuator forces, one sample', 'actuator_forces(), one sample', peer)
        for peer in ('MuJoCo, rigid closed chain', 'Pinocchio, closed chain')
    ),
    'estimation': (
        Question(
            'state estimation, live',
            'live, sample by sample, from Python',
            'predict + update, filterpy, 16 states',
        ),
    ),
    'identification': (
        Question(
            'identification, Levenberg-Marquardt',
            'Levenberg-Marquardt, Eq. 29',
            'scipy.optimize.least_squares alone',
        ),
        Question('identification, swarm', 'swarm, 30 x 300', 'pyswarms alone, 30 x 300'),
        Question(
            'identification, linear',
            'least squares, ten parameters',
            'its rows and numpy.linalg.lstsq',
        ),
    ),
    'ethercat_peer': (
        Question('EtherCAT cycle', 'whole cycle of the driver', 'bare pysoem exchange'),
    ),
    'executor': (
        Question(
            'one message to twelve nodes',
            'spin, LoneExecutor',
            'spin, SingleThreadedExecutor of rclpy',
        ),
    ),
}


def rows(name: str, result: Result) -> Iterator[tuple[str, str, str, str]]:
    """Yield question, our time, peer with its time, and ratio, for a result by its name."""
    if 'timings' in result:
        yield from _timed(name, result)
    if name == 'forward_dynamics':
        yield from _as_accurate(result)
    for row in result.get('results', ()):
        ours, theirs = np.array(row['ours_s']), np.array(row['peer_s'])
        count = row['messages']
        yield (
            f'bag, {row["storage"]}, {row["operation"]}',
            f'{1e6 * np.median(ours) / count:.3g} µs per message',
            f'{row["peer"]}: {1e6 * np.median(theirs) / count:.3g} µs',
            _spread(theirs / ours),
        )
    yield from _graphs(result.get('graph', ()))


def _graphs(runs: Sequence[Result]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the graph in one process beside its peer, round by round."""
    for rate in dict.fromkeys(run['rate_hz'] for run in runs):
        ours, theirs = (
            np.array(
                [run['core'] for run in runs if (run['kind'], run['rate_hz']) == (kind, rate)]
            )
            for kind in ('composed', 'fields')
        )
        if 0 < len(ours) == len(theirs):
            yield (
                f'graph at {rate:g} Hz',
                f'{100 * np.median(ours):.0f} % of a core',
                f"rclpy's executor, field by field: {100 * np.median(theirs):.0f} %",
                _spread(theirs / ours),
            )


def _timed(name: str, result: Result) -> Iterator[tuple[str, str, str, str]]:
    tasks = {row['name']: row for row in result['timings']}
    for question in QUESTIONS.get(name, ()):
        ours, peer = tasks[question.ours], tasks[question.peer]
        yield (
            question.text,
            f'{ours["median_us"]:.3g} µs',
            f'{question.peer}: {peer["median_us"]:.3g} µs',
            _spread(np.array(peer['rounds_us']) / np.array(ours['rounds_us'])),
        )


def _as_accurate(result: Result) -> Iterator[tuple[str, str, str, str]]:
    """Yield the best run of each peer beside our cheapest that is at least as accurate."""
    runs = list(zip(result['runs'], result['timings'], strict=True))
    for method in ('MuJoCo, RK4', 'MuJoCo, Euler', 'Pinocchio, Runge-Kutta 4'):
        peer, peer_times = min(
            (item for item in runs if item[0]['method'] == method),
            key=lambda item: item[0]['pose_error_m'],
        )
        ours, our_times = min(
            (
                item
                for item in runs
                if item[0]['method'].startswith('ours')
                and item[0]['pose_error_m'] <= peer['pose_error_m']
            ),
            key=lambda item: item[0]['cost_ms_per_s'],
        )
        scale = ours['step_ms'] / peer['step_ms']
        yield (
            f'forward dynamics, pose error at most {peer["pose_error_m"]:.0e} m',
            f'{ours["step_ms"]:g} ms steps: {ours["cost_ms_per_s"]:.3g} ms/s',
            f'{method}, {peer["step_ms"]:g} ms steps: {peer["cost_ms_per_s"]:.3g} ms/s',
            _spread(scale * np.array(peer_times['rounds_us']) / np.array(our_times['rounds_us'])),
        )


def _spread(ratios: NDArray[np.float64]) -> str:
    return f'{np.median(ratios):.3g} ({ratios.min():.3g} to {ratios.max():.3g})'
