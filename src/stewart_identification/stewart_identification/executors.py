# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where long work runs: here, in processes of this machine, or on a Dask cluster of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
import multiprocessing
from multiprocessing import resource_tracker
import signal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_identification.errors import ConfigurationError, FitError

# Not that of `stewart_kinematics.motion`: every process that is started imports this module, and
# would import SciPy with that one before it can ignore an interrupt.
Array = NDArray[np.float64]


@contextmanager
def executor_of(workers: int = 1, dask: str = '') -> Iterator[Executor | None]:
    """Open what was asked for.

    Args:
        workers: Processes of this machine; 1 for none beside this one.
        dask: Address of a Dask scheduler, which goes before `workers`; empty for none.

    Yields:
        None where the work is to be done in this process.

    Raises:
        ConfigurationError: If `workers` is not at least 1.
        FitError: If there is no cluster, or its optional package is not installed.
    """
    if workers < 1:
        raise ConfigurationError('workers', workers, 'at least 1')
    if dask:
        with dask_executor(dask) as executor:
            yield executor
    elif workers == 1:
        yield None
    else:
        # Ctrl-C reaches every process of a terminal; what it means is decided by this one alone.
        # Fresh processes: a fork would inherit the threads of numpy's libraries half.
        with ProcessPoolExecutor(
            workers, multiprocessing.get_context('spawn'), _ignore_interrupts
        ) as pool:
            # Each starts a process, which cannot ignore anything before it has its imports.
            for _ in range(workers):
                with _interrupts_held():
                    pool.submit(int)
            try:
                yield pool
            except BaseException:
                # Otherwise all that waits would be worked off first.
                pool.shutdown(cancel_futures=True)
                raise


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Connect to the Dask scheduler at an address such as ``tcp://host:8786``.

    Raises:
        FitError: If the optional package ``distributed`` is not installed, or nobody answers.
    """
    try:
        distributed: Any = import_module('distributed')
    except ImportError as error:
        raise FitError(
            'a Dask cluster needs the package distributed: pip install distributed'
        ) from error
    try:
        client = distributed.Client(address)
    except (OSError, ValueError) as error:
        raise FitError(f'no Dask scheduler answers at {address}: {error}') from error
    with client:
        yield client.get_executor()


def spread(
    costs: Callable[[Array], Array], executor: Executor | None, parts: int
) -> Callable[[Array], Array]:
    """Let an executor evaluate the particles of a swarm, which changes no value.

    Args:
        costs: Positions, shape (k, p), to costs, shape (k,), each from its own position alone; it
            has to survive pickling.
        executor: None to evaluate them here.
        parts: Into how many tasks the particles of one iteration are cut.
    """
    if executor is None:
        return costs

    def spread_out(positions: Array) -> Array:
        pieces = np.array_split(positions, min(parts, len(positions)))
        return np.concatenate(list(executor.map(costs, pieces)))

    return spread_out


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back; processes that are started meanwhile never hear of it."""
    # Started by the first process otherwise, and then it lets signals through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
