# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""`INTERNALS` names everything that we use of rclpy's inside, and a missing name is no failure."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('context')]
pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from stewart_node_support import courier, entities, executor, listing, publishers

SOURCES = [
    Path(str(module.__file__)) for module in (courier, entities, executor, listing, publishers)
]
NAMED = {name for names in executor.INTERNALS.values() for name in names}
ALL = [(owner, name) for owner, names in executor.INTERNALS.items() for name in names]


def nodes_of(kind: type[Any]) -> list[Any]:
    trees = [ast.parse(path.read_text()) for path in SOURCES]
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, kind)]


def own_names() -> set[str]:
    """Return the private names that our sources define themselves."""
    stored = {node.attr for node in nodes_of(ast.Attribute) if isinstance(node.ctx, ast.Store)}
    stored |= {
        node.target.attr
        for node in nodes_of(ast.AnnAssign)
        if isinstance(node.target, ast.Attribute)
    }
    return stored | {node.name for node in nodes_of(ast.FunctionDef)}


def test_every_private_attribute_of_rclpy_is_named() -> None:
    used = {node.attr for node in nodes_of(ast.Attribute)}
    private = {name for name in used if name.startswith('_') and not name.startswith('__')}
    assert private - own_names() == {name for name in NAMED if name.startswith('_')}


def test_every_use_of_the_compiled_part_is_named() -> None:
    """Handles and wait sets, under the names that our sources have for them."""
    used = set()
    for node in nodes_of(ast.Attribute):
        owner = node.value
        name = owner.id if isinstance(owner, ast.Name) else getattr(owner, 'attr', '')
        if name in {'handle', 'wait_set', '_rclpy'}:
            used.add(node.attr)
    assert used >= {'take_message', 'wait'}
    assert used <= NAMED | set(executor.INTERNALS)


def test_our_private_names_hide_none_of_rclpys() -> None:
    usual = SingleThreadedExecutor()
    ours = {name for name in own_names() if name.startswith('_') and not name.startswith('__')}
    assert {name for name in ours if hasattr(usual, name)} == set()
    usual.shutdown()


def test_nothing_is_missing_here() -> None:
    made = executor.make_executor()
    assert isinstance(made, executor.LoneExecutor)
    made.shutdown()


@pytest.mark.parametrize(('owner', 'name'), ALL, ids='.'.join)
def test_without_one_name_rclpys_executor_is_used(
    owner: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    logger = SimpleNamespace(warning=lambda text, *, once: said.append(text))
    monkeypatch.setattr(executor, 'get_logger', lambda _: logger)
    usual = SingleThreadedExecutor()
    if owner == 'Executor':
        lacking = SimpleNamespace(
            **{key: None for key in executor.INTERNALS[owner] if key != name}
        )
        monkeypatch.setattr(executor, 'SingleThreadedExecutor', lambda **_: lacking)
        assert executor.make_executor() is lacking
    else:
        whole = getattr(_rclpy, owner)
        lacking = SimpleNamespace(**{key: None for key in dir(whole) if key != name})
        monkeypatch.setattr(
            executor, '_rclpy', SimpleNamespace(**{**vars(_rclpy), owner: lacking})
        )
        made = executor.make_executor()
        assert type(made) is SingleThreadedExecutor
        made.shutdown()
    usual.shutdown()
    assert said == [
        f'this rclpy has no {owner}.{name}: using its SingleThreadedExecutor, which is slower with'
        ' many nodes'
    ]
