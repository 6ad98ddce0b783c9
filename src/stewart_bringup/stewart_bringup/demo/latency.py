# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""When a setpoint shows in the measured strokes.

A setpoint counts as executed by the first actuator state that is stamped after it and whose six
strokes, seen along the setpoint's own leg rates, have come to the commanded strokes or beyond:
(q_measured - q_commanded) . rate >= 0. The latency is the time from the setpoint's stamp to the
arrival of that actuator state at the recorder. So it contains everything: two hops of DDS, the
driver's playout delay, the lag of the drives, the wait for the next sample and its way back.
Where the legs hardly move the condition says nothing; such setpoints are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_bags.series import JointSeries

Array = NDArray[np.float64]

NS = 1e9
# Slower than this share of the root mean square speed, encoder noise would decide.
SLOW_SHARE = 0.3
SEARCH_TIME = 0.5
BLOCK = 500


@dataclass(frozen=True)
class Latency:
    """Latencies of the setpoints of one scenario.

    Attributes:
        executed (n,): From stamp to the arrival of the state that has executed the setpoint [s].
        commanded (m,): From stamp to the arrival of the joint command at the recorder [s].
        slow: Setpoints left out because the legs hardly moved.
        unreached: Setpoints that no actuator state has executed within 0.5 s.
    """

    executed: Array
    commanded: Array
    slow: int
    unreached: int


def latencies(commands: JointSeries, actuators: JointSeries) -> Latency:
    """Measure the latency of every setpoint that moves the legs.

    Args:
        commands: Commanded strokes [m] and rates [m/s], stamped as their setpoints.
        actuators: Measured strokes [m].
    """
    commanded = (commands.bag_time_ns - commands.stamp_ns) / NS
    speed = np.linalg.norm(commands.velocity, axis=1)
    moving = speed > SLOW_SHARE * np.sqrt(np.mean(np.square(speed))) if len(speed) else speed > 0
    rows = np.flatnonzero(moving)
    reached = [
        _reached(commands, actuators, rows[start : start + BLOCK])
        for start in range(0, len(rows), BLOCK)
    ]
    indices = np.concatenate(reached) if reached else np.empty(0, np.intp)
    found = indices >= 0
    executed = (actuators.bag_time_ns[indices[found]] - commands.stamp_ns[rows[found]]) / NS
    return Latency(
        executed=executed,
        commanded=commanded,
        slow=int(np.count_nonzero(~moving)),
        unreached=int(np.count_nonzero(~found)),
    )


def _reached(
    commands: JointSeries, actuators: JointSeries, rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return for each row the index of the first state that has executed it, or -1."""
    first = np.searchsorted(actuators.stamp_ns, commands.stamp_ns[rows])
    last = np.searchsorted(actuators.stamp_ns, commands.stamp_ns[rows] + int(SEARCH_TIME * NS))
    width = max(int(np.max(last - first, initial=0)), 1)
    window = first[:, None] + np.arange(width)
    inside = window < last[:, None]
    window = np.minimum(window, len(actuators) - 1)
    ahead = actuators.position[window] - commands.position[rows, None]
    advance = np.einsum('kij,kj->ki', ahead, commands.velocity[rows])
    done = (advance >= 0.0) & inside
    index = np.take_along_axis(window, done.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(done.any(axis=1), index, -1)
