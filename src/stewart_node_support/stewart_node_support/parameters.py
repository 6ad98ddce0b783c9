# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Declare a frozen dataclass as the parameters of a node, and refuse what no node has.

A parameter file may name parameters that its node does not declare: ROS ignores them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
import math
from pathlib import Path
from typing import Any, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import ParameterUninitializedException
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter import Parameter
from stewart_description.suggestion import expected_name
from stewart_description.yaml_text import ERRORS, in_words, Loader, parsed
from stewart_node_support.lifecycle import AUTOSTART, state_of
from stewart_tables.errors import ParameterError
from stewart_tables.settings import Rule, rules
import yaml

T = TypeVar('T')

FIXED = (
    'is read when the node is configured: deactivate and clean up the node, set it, and configure '
    'again'
)

INT64 = (-(2**63), 2**63 - 1)
ARRAYS = {
    bool: Parameter.Type.BOOL_ARRAY,
    int: Parameter.Type.INTEGER_ARRAY,
    float: Parameter.Type.DOUBLE_ARRAY,
    str: Parameter.Type.STRING_ARRAY,
}


def declare(node: Node, cls: type[T], prefix: str = '') -> T:
    """Declare every field of `cls` on `node` and return the filled dataclass.

    A lifecycle node that is configured takes no other value: it would have no effect.

    Args:
        cls: Frozen dataclass whose fields were made with `settings.param`.

    Raises:
        ParameterError: If a value has the wrong type or lies outside its limits.
    """
    # Looked at before rclpy does: its own complaint does not say which values are allowed.
    overrides = getattr(node, '_parameter_overrides', {})
    for rule in rules(cls):
        name = prefix + rule.name
        if name in overrides:
            rule.check(overrides[name].value)
        if not node.has_parameter(name):
            node.declare_parameter(name, _ros_default(rule), _descriptor(rule))
    if isinstance(node, LifecycleNode):
        names = {prefix + rule.name for rule in rules(cls)}
        node.add_on_set_parameters_callback(partial(_refuse_when_configured, node, names))
    return read(node, cls, prefix)


def _refuse_when_configured(
    node: LifecycleNode, names: set[str], asked: Sequence[Parameter]
) -> SetParametersResult:
    """Answer who wants to set parameters that are read when the node is configured."""
    if state_of(node) != 'unconfigured':
        for parameter in asked:
            if parameter.name in names:
                return SetParametersResult(successful=False, reason=f'{parameter.name} {FIXED}')
    return SetParametersResult(successful=True)


def read(node: Node, cls: type[T], prefix: str = '') -> T:
    """Read the parameters that `declare` declared again, as they are now; the same errors."""
    return cls(
        **{rule.name: rule.check(_value_on(prefix + rule.name, node)) for rule in rules(cls)}
    )


def _ros_default(rule: Rule) -> Any:
    """Return the default; for an empty array its type, which rclpy cannot infer."""
    if not rule.is_array:
        return rule.default
    return list(rule.default) or ARRAYS[rule.scalar]


def _value_on(name: str, node: Node) -> Any:
    """Return the value that `node` holds; an array never set is empty."""
    try:
        return node.get_parameter(name).value
    except ParameterUninitializedException:
        return ()


def _descriptor(rule: Rule) -> ParameterDescriptor:
    """Describe the parameter to ROS."""
    low, high = rule.metadata['min'], rule.metadata['max']
    low = 0.0 if rule.metadata['positive'] else low
    descriptor = ParameterDescriptor(
        description=rule.metadata['description'],
        read_only=rule.metadata['read_only'],
        additional_constraints=rule.expected(),
    )
    if rule.is_array or (low is None and high is None):
        return descriptor
    if rule.scalar is int:
        low, high = INT64[0] if low is None else low, INT64[1] if high is None else high
        descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
    else:
        low, high = -math.inf if low is None else low, math.inf if high is None else high
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=float(low), to_value=float(high))
        ]
    return descriptor


PARAMETERS = 'ros__parameters'
# Names that are resolved to a topic or belong to rclpy itself.
FOREIGN = ('qos_overrides.',)


class _Loader(Loader):
    """Read what launch writes, too: its lists have Python's tag for a tuple, which ROS ignores."""


def _list(loader: Loader, node: yaml.SequenceNode) -> list[Any]:
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
            expected = expected_name(name, known, 'parameter')
            raise ParameterError(f'{name} of {node.get_name()} in {path}', value, expected)


def known_to(node: Node) -> set[str]:
    """Return the names of a node's parameters, with what a lifecycle node is asked for later."""
    return {*node.list_parameters([], 0).names, AUTOSTART}


def parameters_of(path: Path, node: str) -> dict[str, Any]:
    """Return the parameters, with dots, that a file has for the name of a node.

    Raises:
        ParameterError: If it is no YAML.
    """
    try:
        content = parsed(path.read_text(encoding='utf-8'), _Loader)
    except ERRORS as error:
        raise ParameterError('file', str(path), f'a YAML file ({in_words(error)})') from None
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
