# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What verbs share that talk to the ROS graph: its names, and ROS for the time of a verb."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
import re
from typing import Any

WORD = '[a-z_][a-z0-9_]*'
NAMES = re.compile(f'/?{WORD}(/{WORD})*', re.IGNORECASE | re.ASCII)


def graph_name(text: str) -> str:
    """Return the name of a topic or of a namespace."""
    if not NAMES.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f'expected names of letters, digits and _ with / between them, got {text!r}'
        )
    return text


def graph_prefix(text: str) -> str:
    """Return what stands before names, such as a namespace; it may be empty."""
    return text and graph_name(text)


def add_namespace_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--namespace``."""
    parser.add_argument(
        '--namespace', type=graph_prefix, default='', metavar='NAME', help='of the rig'
    )


@contextmanager
def ros_session() -> Iterator[Any]:
    """Start ROS, and shut it down afterwards; yield the stop signals.

    They are heard from before ROS is imported, which takes a second.
    """
    from stewart_node_support.stop_signals import StopSignals

    with StopSignals() as stop:
        from stewart_node_support.running import middleware

        with middleware([]):
            yield stop
