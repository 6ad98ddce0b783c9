# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every YAML file that a person has written, read by libyaml within bounds."""

from __future__ import annotations

from collections.abc import Hashable
import re
from typing import Any

import yaml

DEEPEST = 50
"""libyaml's composer calls itself for every level, without a bound of its own."""

ERRORS = (
    *(yaml.YAMLError, ValueError, RecursionError, LookupError),
    *(AttributeError, TypeError, OverflowError),
)
"""What reading raises, with dates that do not exist, `!!int ''` and aliases in a ring."""

PLAIN = re.compile(
    r'[-+]?(0x[0-9A-Fa-f]+|0|[1-9]\d*|(\d+\.\d*|\.\d+)([eE][-+]?\d+)?|\d+[eE][-+]\d+'
    r'|\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN',
    re.ASCII,
)
"""Numbers that everybody reads alike. YAML takes 010 for 8, 1:30 for 90 and 1_000 for 1000."""

SCIENTIFIC = re.compile(r'[-+]?((\d+\.\d*|\.\d+)[eE]\d+|\d+[eE][-+]\d+)', re.ASCII)
"""Those that people and later YAML take for numbers; 12e45, which may be a name, is none here."""

MERGE = 'tag:yaml.org,2002:merge'
INTEGER, FLOAT = 'tag:yaml.org,2002:int', 'tag:yaml.org,2002:float'
MOST_MERGED = 10_000
"""Keys that `<<` copies in one document: each level of aliases may have ten times as many."""


class Loader(yaml.CSafeLoader):
    """Refuse endless merging, and a key given twice, of which YAML would keep the last."""

    _merging, _merged = False, 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put what is merged into a mapping, which calls this for every mapping that is."""
        outer, self._merging = self._merging, True
        super().flatten_mapping(node)
        self._merging = outer
        self._merged += len(node.value) if outer else 0
        if self._merged > MOST_MERGED:
            problem = f'more than {MOST_MERGED} merged keys'
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build the mapping after looking at its keys."""
        seen = set()
        for name, _ in node.value:
            key = self.construct_object(name, deep=True) if name.tag != MERGE else None
            if not isinstance(key, Hashable) or key is None:
                continue  # refused by the base class, or merged by it
            if key in seen:
                problem = f'the key {key} more than once, again'
                raise yaml.constructor.ConstructorError(None, None, problem, name.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_plain_number(self, node: yaml.ScalarNode) -> float:
        """Build a number, if it is written as people write numbers."""
        text = self.construct_scalar(node)
        whole = node.tag == INTEGER
        value = (self.construct_yaml_int if whole else self.construct_yaml_float)(node)
        if not PLAIN.fullmatch(text):
            problem = (
                f'the number {text}, which YAML takes for {value:g}: write it in plain digits'
            )
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return value


for tag in (INTEGER, FLOAT):
    Loader.add_constructor(tag, Loader.construct_plain_number)
Loader.add_implicit_resolver(FLOAT, SCIENTIFIC, list('-+.0123456789'))


def parsed(text: str, loader: type[Loader] = Loader) -> Any:
    """Return what YAML makes of a text.

    Raises:
        yaml.YAMLError: If it is no YAML, gives a key twice, nests deeper than `DEEPEST` or merges
            more than `MOST_MERGED` keys.
        ValueError, LookupError, …: See `ERRORS`.
    """
    depth = 0
    for event in yaml.parse(text, loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            problem = f'more than {DEEPEST} levels of nesting'
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)  # type: ignore[arg-type]
    return yaml.load(text, loader)


def in_words(error: Exception) -> str:
    """Say what is wrong with a file, and where."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f'{error.problem} in line {mark.line + 1}, column {mark.column + 1}'
    return ' '.join(str(error).split()) or type(error).__name__
