# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""After the warm-up nothing is compiled any more."""

import subprocess
import sys

PROBE = """
import sys
import time

import numpy as np

from stewart_kinematics.warming import warm_up
from stewart_kinematics.platform import Platform

platform = Platform.from_yaml('vigo')
geometry = platform.geometry
warm_up(geometry)
assert 'stewart_kinematics.trajectories.wave_kernels' in sys.modules
assert 'stewart_kinematics.guard_kernels' in sys.modules

from stewart_kinematics.forward import forward, forward_twist
from stewart_kinematics.inverse import inverse
from stewart_kinematics.motion import Motion, Pose

pose = Pose.from_rpy([0.01, 0.02, 1.7], (0.1, 0.0, 0.1))
start = time.perf_counter()
legs = inverse(geometry, Motion.at_rest(pose))
result = forward(geometry, legs.length, pose)
forward_twist(geometry, result, legs.rate)
print(time.perf_counter() - start)
"""


def test_first_solution_after_the_warm_up_takes_no_compile_pause():
    # A process of its own: in this one everything is warm. Compiling takes seconds, and what is
    # warm takes some 50 microseconds; 50 ms leave room for a busy machine.
    path = [entry for entry in sys.path if entry]
    run = subprocess.run(
        [sys.executable, '-c', f'import sys; sys.path[:0] = {path!r}\n{PROBE}'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(run.stdout) < 0.05
