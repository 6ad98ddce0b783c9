# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the verbs of the ``stewart`` command without importing a single one.

A package offers a verb by naming a module in the entry-point group ``stewart.verbs`` of its
``setup.py``. The module has ``HELP`` (one line), ``add_arguments(parser)`` and
``main(arguments) -> int``. numpy, numba and rclpy take a second to import, so the list of verbs
that ``stewart --help`` prints comes from the module's source text; only the verb that is called
gets imported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

GROUP = 'stewart.verbs'


class VerbError(Exception):
    """The installed packages do not agree on what a verb is."""


@dataclass(frozen=True)
class Verb:
    """One verb of the command, and the dotted name of the module that does it."""

    name: str
    module: str

    @property
    def help(self) -> str:
        """One line from the module's ``HELP``, read from its source; empty if there is none."""
        path = _source_of(self.module)
        if path is None:
            return ''
        for node in ast.parse(path.read_text(encoding='utf-8')).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == 'HELP':
                return str(ast.literal_eval(node.value))
        return ''

    def load(self) -> ModuleType:
        """Import the module of the verb."""
        return import_module(self.module)


def find_verbs() -> dict[str, Verb]:
    """Return all verbs that the installed packages offer, by name and sorted by it.

    Raises:
        VerbError: If two packages offer the same name with different modules.
    """
    verbs: dict[str, Verb] = {}
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda item: item.name):
        known = verbs.setdefault(entry.name, Verb(entry.name, entry.value))
        if known.module != entry.value:
            raise VerbError(
                f'two modules offer the verb {entry.name}: {known.module} and {entry.value}'
            )
    return verbs


def _source_of(module: str) -> Path | None:
    """Locate a module's file below its top package; finding a top package imports nothing."""
    root, *rest = module.split('.')
    spec = find_spec(root)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder, *rest).with_suffix('.py')
        if path.is_file():
            return path
    return None
