# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The option that says what a topic of this suite is called in a foreign bag."""

from __future__ import annotations

import argparse


def add_topic_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--topic OURS=THEIRS``, for `renamed` of `stewart_bags.reading.Bag`."""
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        type=_pair,
        metavar='OURS=THEIRS',
        help='what a topic is called in the bag, such as imu/data=/sensor/imu; may be repeated',
    )


def _pair(text: str) -> tuple[str, str]:
    """Return a name of ours and one of theirs."""
    ours, equals, theirs = text.partition('=')
    if not (ours and equals and theirs):
        raise argparse.ArgumentTypeError(f'expected OURS=THEIRS, got {text!r}')
    return ours, theirs
