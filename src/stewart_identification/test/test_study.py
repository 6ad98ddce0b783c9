# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import importlib.util
import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
from stewart_identification.errors import ConfigurationError, FitError
from stewart_identification.executors import dask_executor, executor_of, spread
from study import run_study


def throw(number: int, rng: np.random.Generator) -> tuple[int, float]:
    return number, float(rng.normal())


def test_a_study_repeats_exactly_whatever_the_number_of_workers():
    alone = run_study(throw, 24, 7).outcomes
    context = multiprocessing.get_context('fork')
    for workers in (1, 3):
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            assert run_study(throw, 24, 7, executor=pool).outcomes == alone
    with ThreadPoolExecutor(4) as pool:
        assert list(run_study(throw, 24, 7, executor=pool).outcomes) == list(range(24))
    assert run_study(throw, 24, 8).outcomes != alone


def test_a_stopped_study_keeps_what_is_done():
    with ThreadPoolExecutor(2) as pool:
        study = run_study(throw, 50, 1, executor=pool, progress=lambda done, planned: done < 5)
    assert len(study.outcomes) == 5
    assert not study.complete
    whole = run_study(throw, 50, 1)
    assert whole.complete
    assert all(whole.outcomes[k] == study.outcomes[k] for k in study.outcomes)


def test_a_study_without_runs_is_refused():
    with pytest.raises(ConfigurationError, match='runs: expected at least 1, got 0'):
        run_study(throw, 0, 1)


def squares(positions: np.ndarray) -> np.ndarray:
    return np.array([float(item @ item) for item in positions])


def test_particles_are_shared_out_and_no_cost_changes():
    positions = np.random.default_rng(0).normal(size=(7, 5))
    for parts in (1, 3, 20):
        with ThreadPoolExecutor(2) as pool:
            assert np.array_equal(spread(squares, pool, parts)(positions), squares(positions))
    assert spread(squares, None, 4) is squares


def test_executors_are_what_was_asked_for():
    with executor_of(1) as executor:
        assert executor is None
    with executor_of(2) as executor:
        assert list(executor.map(abs, [-1, 2])) == [1, 2]
    with pytest.raises(ConfigurationError, match='workers'), executor_of(0):
        pass


def test_ctrl_c_while_processes_start_is_heard_by_this_one_alone():
    """The group of a terminal's processes is signalled; workers wrote pages about it."""
    code = (
        'import os, signal\n'
        'from stewart_identification.executors import executor_of\n'
        'if __name__ == "__main__":\n'
        '    heard = []\n'
        '    signal.signal(signal.SIGINT, lambda *_: heard.append(1))\n'
        '    with executor_of(2) as pool:\n'
        '        futures = [pool.submit(abs, -k) for k in range(4)]\n'
        '        for _ in range(40):\n'
        '            os.killpg(0, signal.SIGINT)\n'
        '            __import__("time").sleep(0.02)\n'
        '        print([future.result() for future in futures], bool(heard))\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        start_new_session=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ('[0, 1, 2, 3] True\n', '')


@pytest.mark.skipif(
    importlib.util.find_spec('distributed') is not None, reason='distributed is installed'
)
def test_without_dask_its_package_is_named():
    with pytest.raises(FitError, match='pip install distributed'), dask_executor('tcp://x:1'):
        pass


@pytest.mark.skipif(
    importlib.util.find_spec('distributed') is None,
    reason='the optional package distributed (Dask) is not installed',
)
def test_a_local_dask_cluster_gives_the_same_study():
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, processes=False, dashboard_address='127.0.0.1:0') as cluster,
        dask_executor(cluster.scheduler_address) as executor,
    ):
        found = run_study(throw, 8, 7, executor=executor).outcomes
    assert found == run_study(throw, 8, 7).outcomes
