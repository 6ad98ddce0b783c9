# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels of the core work in an empty environment, with old numpy and new, without ROS."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[1]
PINS = ROOT / 'requirements'
CHECK = """
import importlib.util, sys
import numpy as np
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.solvers.inverse import leg_lengths
assert sys.prefix in importlib.util.find_spec('stewart_kinematics').origin
assert importlib.util.find_spec('rclpy') is None
geometry = Platform.from_yaml('vigo').geometry
turn = np.array([0.0, 0.0, np.sin(0.05), np.cos(0.05)])
place = geometry.neutral_pose.position + [0.01, -0.02, 0.03]
c, s = np.cos(0.1), np.sin(0.1)
tips = place + geometry.platform_joints @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
lengths = leg_lengths(geometry, place, turn)
assert np.allclose(lengths, np.linalg.norm(tips - geometry.base_joints, axis=1), atol=1e-12)
assert np.allclose(forward(geometry, lengths).position, place, atol=1e-9)
print('numpy', np.__version__)
"""
# What others import is imported by MODULES: here it would compile the kernels of all.
FRIENDS = """
import importlib.util, pathlib, sys
import numpy as np
from stewart_bags.reading import Bag
from stewart_bags.whole_bags import whole_bag
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.models.platform import PlatformModel
from stewart_identification.experiment import Experiment
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml
for name in ('bags', 'cueing', 'dynamics', 'estimation', 'identification'):
    assert sys.prefix in importlib.util.find_spec('stewart_' + name).origin
assert importlib.util.find_spec('rclpy') is None
with whole_bag(pathlib.Path('bag')) as writer:
    text = writer.typestore.types['std_msgs/msg/String']
    writer.write('/note', 1, text('it works'))
with Bag('bag') as bag:
    assert [item.message.data for item in bag.messages()] == ['it works']
model = PlatformModel.from_platform(Platform.from_yaml('ex800'), friction='none')
time = 0.01 * np.arange(1000)
motion = from_yaml('ex800_identification', model.geometry.neutral_pose).sample(time)
still = Experiment(time, motion, np.zeros((1000, 6)))
moved = still.with_forces(model.predict(model.nominal, still))
found = LeastSquares().fit(model, moved, rng=np.random.default_rng(0))
assert np.allclose(found.parameters, model.nominal, rtol=1e-6, atol=1e-9)
print('numpy', np.__version__)
"""

MODULES = """
import importlib, os, pkgutil
# To import is the question, and to compile every kernel takes a minute.
os.environ['NUMBA_DISABLE_JIT'] = '1'
names = ('bags', 'cueing', 'dynamics', 'estimation', 'identification', 'kinematics', 'tables')
found = []
for package in (importlib.import_module('stewart_' + name) for name in names):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):
        # Nodes alone may need ROS.
        if module.name.split('.')[1] != 'nodes':
            found.append(importlib.import_module(module.name))
assert len(found) > 200, len(found)
"""


@pytest.fixture(scope='module')
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('wheels')
    subprocess.run([ROOT / 'scripts' / 'wheels', folder], check=True, timeout=300)
    return folder


@pytest.mark.slow
# Installs, and compiles every kernel anew.
@pytest.mark.timeout(1800)
@pytest.mark.parametrize('pins', ['compat-noble.txt', 'core.txt'])
@pytest.mark.parametrize(
    ('packages', 'check'),
    [
        (['stewart_kinematics'], CHECK),
        (['stewart_cueing', 'stewart_estimation', 'stewart_identification'], FRIENDS),
    ],
    ids=['kinematics', 'friends'],
)
def test_wheels_work_in_an_empty_environment(
    wheels: Path, tmp_path: Path, packages: list[str], check: str, pins: str
) -> None:
    """Installs from the package index."""
    if pins == 'compat-noble.txt' and sys.version_info >= (3, 13):
        pytest.skip('numpy 1.26 needs Python 3.12 or older')
    clean = {'PATH': os.defpath, 'HOME': str(tmp_path), 'NUMBA_CACHE_DIR': str(tmp_path / 'numba')}
    outside = {name: text for name, text in os.environ.items() if name.startswith('PIP_')}
    python = tmp_path / 'venv' / 'bin' / 'python'

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            command,
            check=False,
            env=clean | outside,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, '-m', 'venv', python.parents[1])
    pip = python, '-m', 'pip', '--disable-pip-version-check'
    run(
        *pip,
        'install',
        '--quiet',
        '--no-compile',
        '--only-binary=:all:',
        f'--find-links={wheels}',
        f'--constraint={PINS / pins}',
        *packages,
    )
    run(*pip, 'check')
    assert 'numpy' in run(python, '-c', check)
    if check is FRIENDS:
        run(python, '-c', MODULES)
