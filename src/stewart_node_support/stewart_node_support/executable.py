# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Console script of every node.

The nodes of all packages stand in the entry-point group ``stewart.nodes``; the script's own name
says which one is meant. Between the first line below and the node's own code lie a second or two
of imports (rclpy, numba, scipy), and a signal that comes meanwhile has to count.

"""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
import sys
from typing import Any

from stewart_node_support.stop_signals import StopSignals

GROUP = 'stewart.nodes'


def node_class(name: str) -> Any:
    """
    Import the class of a node.

    Parameters
    ----------
    name : str
        Name of its executable.

    Returns
    -------
    type
        The class.

    Raises
    ------
    LookupError
        If no package has such a node.

    """
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in found:
        raise LookupError(f'no node {name!r}, there are {", ".join(sorted(found)) or "none"}')
    return found[name].load()


def main() -> None:
    """Run the node that this script is named after."""
    stop = StopSignals().install()
    from stewart_node_support.running import run  # rclpy: not before the signals are heard

    def build() -> Any:
        return node_class(Path(sys.argv[0]).name)()

    run(build, stop=stop)
