# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Console script of every node.

The nodes of all packages stand in the entry-point group ``stewart.nodes``; the script's own name
says which one is meant. Between the first line below and the node's own code lie a second or two
of imports (rclpy, numba, scipy), half a minute where kernels are compiled for the first time, and
a signal that comes meanwhile has to count at once: launch kills who does not end in time.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import EntryPoint
import os
from pathlib import Path
import sys
from typing import Any

from stewart_node_support.errors import StartUpError, told_if_missing
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.installed import installed
from stewart_tables.one_thread import prefer_one_thread

GROUP = 'stewart.nodes'


def node_entry(name: str) -> EntryPoint:
    """Return the entry point of the node whose executable has a name.

    Raises:
        StartUpError: If none is installed.
    """
    found = {entry.name: entry for entry in installed(GROUP)}
    if name not in found:
        names = ', '.join(sorted(found)) or 'none'
        raise StartUpError(f'no node {name!r} is installed, there are {names}')
    return found[name]


def node_class(name: str) -> Any:
    """Import the class of the node whose executable has a name; the errors of `node_entry`."""
    return node_entry(name).load()


def main() -> None:
    """Run the node that this script is named after."""
    prefer_one_thread()
    stop = StopSignals().install()
    # Nothing is there yet that would have to end in order.
    stop.on_request(partial(os._exit, 0))
    name = Path(sys.argv[0]).name
    with told_if_missing(name):
        from stewart_node_support.running import run

        node = node_class(name)
    stop.on_request(None)
    run(node, stop=stop)
