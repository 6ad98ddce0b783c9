# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Refuse what a parameter file says to a node that has no such parameter: ROS ignores it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from rclpy.node import Node
from stewart_description.suggestion import unknown_name
from stewart_node_support.errors import ParameterError
from stewart_node_support.lifecycle import AUTOSTART
import yaml

PARAMETERS = 'ros__parameters'
# Names that are resolved to a topic or belong to rclpy itself.
FOREIGN = ('qos_overrides.',)


class _Loader(yaml.SafeLoader):
    """Read what launch writes, too: its lists have Python's tag for a tuple, which ROS ignores."""


def _list(loader: yaml.SafeLoader, node: yaml.SequenceNode) -> list[Any]:
    return loader.construct_sequence(node)


_Loader.add_constructor('tag:yaml.org,2002:python/tuple', _list)


def require_known(node: Node, files: Iterable[Path]) -> None:
    """Refuse parameters that the files have for a node by its name and that it does not declare.

    What stands below ``/**`` is meant for several nodes and is not looked at. A node with the
    attribute ``unused_parameters`` names prefixes that are meant for another of its modes.

    Raises:
        ParameterError: If there is one; the message says which parameter may be meant.
    """
    ignored = FOREIGN + tuple(getattr(node, 'unused_parameters', ()))
    for path in files:
        for name, value in parameters_of(path, node.get_name()).items():
            known = known_to(node)
            if name in known or name.startswith(ignored):
                continue
            expected = unknown_name(name, known, 'parameter')
            raise ParameterError(f'{name} of {node.get_name()} in {path}', value, expected)


def known_to(node: Node) -> set[str]:
    """Return the names of a node's parameters, with what a lifecycle node is asked for later."""
    return {*node.list_parameters([], 0).names, AUTOSTART}


def parameters_of(path: Path, node: str) -> dict[str, Any]:
    """Return the parameters, with dots, that a file has for the name of a node."""
    content = yaml.load(path.read_text(encoding='utf-8'), _Loader)
    return {
        name: value
        for key, section in _sections(content)
        if key.rpartition('/')[2] == node
        for name, value in flattened(section)
    }


def flattened(values: Mapping[str, Any], prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Yield name with dots, and value, of the parameters of nested sections."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


def files_of(arguments: Sequence[str]) -> list[Path]:
    """Return the parameter files that a command line names."""
    return [Path(value) for option, value in pairwise(arguments) if option == '--params-file']


def _sections(content: Any, prefix: str = '') -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield full key and parameters of every section; namespaces may be nested."""
    if not isinstance(content, Mapping):
        return
    for key, value in content.items():
        if not isinstance(value, Mapping):
            continue
        if isinstance(value.get(PARAMETERS), Mapping):
            yield f'{prefix}{key}', value[PARAMETERS]
        else:
            yield from _sections(value, f'{prefix}{key}/')
