# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that ``identify`` and ``excite`` share."""

from __future__ import annotations

import argparse

from stewart_bags.verbs.numbers import not_negative, whole


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--platform``, ``--friction``, ``--joint-tolerance`` and ``--seed``."""
    parser.add_argument('--platform', default='ex800', help='name or YAML file (default: ex800)')
    parser.add_argument(
        '--friction',
        choices=['none', 'common', 'per leg'],
        default='per leg',
        help='viscous and dry friction identified along (default: per leg)',
    )
    parser.add_argument(
        '--joint-tolerance',
        type=not_negative,
        default=1e-4,
        metavar='M',
        help='standard deviation of joint coordinates, allowed for [m] (default: 1e-4)',
    )
    parser.add_argument('--seed', type=whole, default=0, help='of all that is random (default: 0)')


def add_worker_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--workers`` and ``--dask``, between which `what` is shared out."""
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
