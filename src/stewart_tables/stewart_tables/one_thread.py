# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of a process in one thread.

Our matrices are so small that several threads gain nothing: on a machine whose cores are taken
they wait for each other for longer than they work. The libraries look once, as numpy is imported.
"""

from __future__ import annotations

import os

ONE_THREAD = dict.fromkeys(('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'), '1')


def prefer_one_thread() -> None:
    """Say so to the libraries, unless whoever started this process has said something else."""
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
