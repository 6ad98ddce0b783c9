# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What we touch of rclpy's inside is written down, and all of it is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
# Of named tuples and of the standard library: private by spelling only.
SPELLED = {'_asdict', '_exit', '_fields', '_make', '_replace'}


SOURCES = [
    path
    for path in sorted(ROOT.glob('src/stewart_*/stewart_*/**/*.py'))
    if 'rclpy' in path.read_text()
]


def private_names(path: Path) -> tuple[set[str], set[str]]:
    """Return the private names that a module defines, and those that it asks for."""
    tree = ast.parse(path.read_text())
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    defined = {node.name for node in ast.walk(tree) if isinstance(node, functions)}
    defined |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    asked = {node.attr for node in attributes} - SPELLED
    return _private(defined), _private(asked)


def _private(names: set[str]) -> set[str]:
    return {name for name in names if name.startswith('_') and not name.startswith('__')}


@pytest.fixture
def probe() -> Iterator[Any]:
    rclpy = pytest.importorskip('rclpy')
    from rclpy.lifecycle import LifecycleNode

    rclpy.init()
    node = LifecycleNode('probe')
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


def test_nodes_ask_for_no_private_name_but_those_of_the_tables(probe: Any) -> None:
    from stewart_node_support.executor import INTERNALS
    from stewart_node_support.lifecycle import STATE_MACHINE

    names = [private_names(path) for path in SOURCES]
    ours = set().union(*(defined for defined, _ in names))
    asked = set().union(*(asked for _, asked in names))
    assert asked - ours <= {name for names in INTERNALS.values() for name in names}
    assert hasattr(probe, STATE_MACHINE)


def test_our_nodes_hide_no_private_name_of_rclpys(probe: Any) -> None:
    theirs = {*vars(probe), *dir(type(probe))}
    hidden = {
        path.stem: private_names(path)[0] & theirs for path in SOURCES if 'nodes' in str(path)
    }
    assert {stem: names for stem, names in hidden.items() if names} == {}
