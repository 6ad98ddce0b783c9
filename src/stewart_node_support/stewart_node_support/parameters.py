# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Declare a frozen dataclass as the parameters of a node."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterUninitializedException
from rclpy.node import Node
from rclpy.parameter import Parameter
from stewart_node_support.fields import param, Rule, rules

__all__ = ['declare', 'param', 'read']

T = TypeVar('T')

INT64 = (-(2**63), 2**63 - 1)
ARRAYS = {
    bool: Parameter.Type.BOOL_ARRAY,
    int: Parameter.Type.INTEGER_ARRAY,
    float: Parameter.Type.DOUBLE_ARRAY,
    str: Parameter.Type.STRING_ARRAY,
}


def declare(node: Node, cls: type[T], prefix: str = '') -> T:
    """Declare every field of `cls` on `node` and return the filled dataclass.

    Args:
        cls: Frozen dataclass whose fields were made with `param`, or with the driver's `option`.

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
    return read(node, cls, prefix)


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
