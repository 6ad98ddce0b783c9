# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that ``identify`` and ``excite`` share."""

from __future__ import annotations

import argparse
import os
from typing import Any

from stewart_identification.identify import Options
from stewart_tables.numbers import whole_from
from stewart_tables.settings import rules

MODEL = 'friction', 'joint_tolerance', 'force_delay', 'force_gain', 'base_lean'
"""What is unknown beside the body, by name."""

PER_CORE = 4
"""Most worker processes for each core of the machine: more would only fill its memory."""


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--platform``, ``--seed`` and what is unknown beside the body."""
    parser.add_argument('--platform', default='ex800', help='name or YAML file (default: ex800)')
    add_settings(parser, Options, *MODEL, 'seed')


def model_options(arguments: argparse.Namespace) -> Options:
    """Return the options of which `Options.model` makes a model."""
    return Options(**{name: getattr(arguments, name) for name in MODEL})


def add_settings(parser: argparse.ArgumentParser, cls: type, *names: str) -> None:
    """Add an option for each of some settings, with its limits, default and meaning."""
    known = {rule.name: rule for rule in rules(cls)}
    for name in names:
        option, rule = f'--{name.replace("_", "-")}', known[name]
        text, choices = rule.metadata['description'], rule.metadata['choices']
        if rule.scalar is bool:
            parser.add_argument(option, action='store_true', help=text)
            continue
        usual = 'all' if rule.is_array else f'{rule.default}'
        what: dict[str, Any] = {'nargs': '*'} if rule.is_array else {}
        if choices:
            what['choices'] = [choice for choice in choices if choice]
        else:
            what |= {'type': rule.typed, 'metavar': 'N' if rule.scalar is int else 'X'}
        parser.add_argument(
            option, default=rule.default, help=f'{text} (default: {usual})', **what
        )


def add_worker_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--workers`` and ``--dask``, between which `what` is shared out."""
    most = PER_CORE * (os.cpu_count() or 1)
    parser.add_argument(
        '--workers',
        type=whole_from(1, most),
        default=1,
        metavar='N',
        help=f'processes that share {what}, up to {PER_CORE} for each core; the result is the '
        'same (default: 1)',
    )
    parser.add_argument(
        '--dask',
        default='',
        metavar='ADDRESS',
        help='scheduler of a Dask cluster that shares it instead, like tcp://host:8786',
    )
