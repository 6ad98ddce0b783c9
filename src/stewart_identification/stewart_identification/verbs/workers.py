# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that say where long work runs."""

from __future__ import annotations

import argparse


def add_worker_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--workers`` and ``--dask``.

    Args:
        parser: Parser of the verb.
        what: What is shared out.
    """
    parser.add_argument(
        '--workers',
        type=int,
        default=1,
        metavar='N',
        help=f'processes that share {what}; the result is the same (default: 1)',
    )
    parser.add_argument(
        '--dask',
        default='',
        metavar='ADDRESS',
        help='scheduler of a Dask cluster that shares it instead, like tcp://host:8786',
    )
