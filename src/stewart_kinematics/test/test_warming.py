# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels load what they need and no more, and after the warm-up nothing is compiled any more."""

import subprocess
import sys

PROBE = """
import sys

# Whoever measures the lines of this process has loaded coverage before.
needless = {'coverage', 'scipy.linalg', 'scipy.spatial'} - sys.modules.keys()
import stewart_kinematics.kernels.legs
assert not needless & sys.modules.keys()
import stewart_kinematics.kernels.guard
assert 'scipy.linalg.cython_lapack' in sys.modules

import numba
from numba.core import event

from stewart_kinematics.solvers.warming import warm_up
from stewart_kinematics.model.platform import Platform

platform = Platform.from_yaml('vigo')
geometry = platform.geometry
warm_up(geometry)
assert 'stewart_kinematics.kernels.waves' not in sys.modules

from stewart_kinematics.solvers.forward import forward, forward_twist
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.motion import Motion, Pose

pose = Pose.from_rpy([0.01, 0.02, 1.7], (0.1, 0.0, 0.1))
with event.install_recorder('numba:compile') as compiled:
    legs = inverse(geometry, Motion.at_rest(pose))
    result = forward(geometry, legs.length, pose)
    forward_twist(geometry, result, legs.rate)
print(len(compiled.buffer))
with event.install_recorder('numba:compile') as compiled:
    numba.njit(lambda x: x + 1)(1)
print(len(compiled.buffer))
"""


def test_kernels_load_only_what_they_need_and_after_the_warm_up_nothing_is_compiled():
    # A process of its own: in this one everything is warm.
    path = [entry for entry in sys.path if entry]
    run = subprocess.run(
        [sys.executable, '-c', f'import sys; sys.path[:0] = {path!r}\n{PROBE}'],
        capture_output=True,
        text=True,
        check=True,
    )
    during, control = (int(line) for line in run.stdout.split())
    assert during == 0
    # The recorder sees what is compiled.
    assert control > 0
