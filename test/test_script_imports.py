# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What benchmarks, papers and pages import of ours is there: most of them run for minutes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = [
    ROOT / name for name in ('benchmarks', 'papers', 'docs', 'scripts', 'scripts/bootstrap')
]
SCRIPTS = sorted(path for folder in FOLDERS for path in folder.glob('*.py'))


@cache
def names_of(module: str) -> set[str] | None:
    """Return what a module of ours has at its top level; None if there is no such file."""
    relative = Path(*module.split('.'))
    places = [*FOLDERS, *ROOT.glob('src/*/'), *ROOT.glob('src/*/test/')]
    for path in (
        place / file
        for place in places
        for file in (relative.with_suffix('.py'), relative / '__init__.py')
    ):
        if path.exists():
            return set(defined(ast.parse(path.read_text(encoding='utf-8')).body)) | {
                item.stem for item in path.parent.iterdir() if path.name == '__init__.py'
            }
    return None


def defined(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements bind."""
    for node in body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.FunctionDef | ast.ClassDef):
                yield inner.name
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.Import | ast.ImportFrom):
                yield from (alias.asname or alias.name for alias in inner.names)


@pytest.mark.parametrize('script', SCRIPTS, ids=lambda path: f'{path.parent.name}/{path.name}')
def test_what_a_script_imports_is_there(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = names_of(node.module)
            ours = node.module.split('.')[0].startswith('stewart_')
            if names is None:
                assert not ours or node.module.startswith('stewart_interfaces'), node.module
                continue
            missing = {alias.name for alias in node.names} - names
            assert not missing, f'{node.module} has no {", ".join(sorted(missing))}'
