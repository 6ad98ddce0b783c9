# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The workspace as its sources tell it: packages, modules and what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
import shutil
import xml.etree.ElementTree as ET

import places
import pytest

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Import:
    """One imported module.

    Who imports it, whether only when a function runs, whether for type checkers alone.
    """

    name: str
    path: Path
    late: bool
    typing: bool = False

    @property
    def root(self) -> str:
        return self.name.split('.')[0]

    def __str__(self) -> str:
        return f'{self.path.relative_to(ROOT)} imports {self.name}'


@dataclass(frozen=True)
class SourcePackage:
    """A folder of src/ with a package.xml."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def manifest(self) -> ET.Element:
        return ET.parse(self.folder / 'package.xml').getroot()

    def depends(self, *tags: str) -> set[str]:
        return {str(item.text) for tag in tags for item in self.manifest.findall(tag)}

    @property
    def modules(self) -> list[Path]:
        return sorted((self.folder / self.name).rglob('*.py'))

    def room_of(self, path: Path) -> str:
        """Return ``nodes``, ``verbs`` or ``core``."""
        parts = path.relative_to(self.folder / self.name).parts
        return parts[0] if parts[0] in {'nodes', 'verbs'} else 'core'

    def dotted(self, path: Path) -> str:
        name = '.'.join(path.relative_to(self.folder).with_suffix('').parts)
        return name.removesuffix('.__init__')


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    """Return every absolute import of a file; ruff forbids nobody the relative ones, we do."""
    found = []
    for node, late, typing in _walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, path, late, typing) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f'{path}: import {"." * node.level}{node.module} absolutely'
            # `from package import module` names a module, too; a name that is none does no harm.
            found += [
                Import(f'{node.module}.{alias.name}', path, late, typing) for alias in node.names
            ]
    return tuple(found)


def _walk(
    node: ast.AST, late: bool = False, typing: bool = False
) -> Iterator[tuple[ast.AST, bool, bool]]:
    for child in ast.iter_child_nodes(node):
        # No import is within an expression, and most of a tree is.
        if isinstance(child, ast.expr):
            continue
        inside = late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        checked = typing or (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == 'TYPE_CHECKING'
        )
        yield child, inside, checked
        yield from _walk(child, inside, checked)


@pytest.fixture(scope='session')
def packages() -> dict[str, SourcePackage]:
    """Every package of the workspace by its name."""
    found = [SourcePackage(path.parent) for path in sorted((ROOT / 'src').glob('*/package.xml'))]
    return {package.name: package for package in found}


@pytest.fixture(scope='session')
def imports(packages: dict[str, SourcePackage]) -> dict[str, list[Import]]:
    """Every import of a package's own modules by the package's name; tests are excepted."""
    return {
        name: [item for path in package.modules for item in imports_of(path)]
        for name, package in packages.items()
    }


@pytest.fixture(scope='session')
def test_imports(packages: dict[str, SourcePackage]) -> dict[str, list[Import]]:
    """Every import of a package's tests but those of a neighbouring file."""
    found = {}
    for name, package in packages.items():
        paths = sorted(package.folder.glob('test/**/*.py'))
        local = {path.stem for path in paths}
        every = [item for path in paths for item in imports_of(path)]
        found[name] = [item for item in every if item.root not in local]
    return found


@pytest.fixture(scope='session')
def launch_imports(packages: dict[str, SourcePackage]) -> dict[str, list[Import]]:
    """Every import of a package's launch files."""
    return {
        name: [
            item
            for path in sorted(package.folder.glob('launch/*.launch.py'))
            for item in imports_of(path)
        ]
        for name, package in packages.items()
    }


@pytest.fixture
def empty_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder with the requirements, in which scripts/bootstrap works."""
    for name in ('VENV', 'CACHE', 'BEFORE', 'TEMPORARY', 'LOG', 'KERNEL_LOG'):
        monkeypatch.setattr(places, name, tmp_path / getattr(places, name).relative_to(ROOT))
    monkeypatch.setattr(places, 'ROOT', tmp_path)
    shutil.copytree(ROOT / 'requirements', tmp_path / 'requirements')
    for folder in (places.TEMPORARY, places.LOG.parent):
        folder.mkdir(parents=True)
    return tmp_path
