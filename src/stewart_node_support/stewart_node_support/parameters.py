# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Declare a frozen dataclass as the parameters of a node."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, Field, field, fields
import math
from typing import Any, get_args, get_origin, get_type_hints, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterUninitializedException
from rclpy.node import Node
from rclpy.parameter import Parameter
from stewart_node_support.errors import ParameterError

T = TypeVar('T')

INT64 = (-(2**63), 2**63 - 1)
ARRAYS = {
    bool: Parameter.Type.BOOL_ARRAY,
    int: Parameter.Type.INTEGER_ARRAY,
    float: Parameter.Type.DOUBLE_ARRAY,
    str: Parameter.Type.STRING_ARRAY,
}
WORDS = {bool: 'true or false', int: 'an integer', float: 'a decimal number', str: 'a text'}


def param(
    default: Any,
    description: str,
    *,
    min: float | None = None,
    max: float | None = None,
    choices: Sequence[str] = (),
    read_only: bool = True,
) -> Any:
    """
    Describe one parameter: default, meaning with unit, limits.

    Parameters
    ----------
    default : bool, int, float, str or tuple
        Value used when nothing overrides it. A tuple becomes an array.
    description : str
        What it means and its unit, shown by ``ros2 param describe``.
    min, max : float, optional
        Inclusive limits in the unit of `default`; of every element, where that is a tuple.
    choices : sequence of str, optional
        The only values allowed.
    read_only : bool
        False lets a running node take a new value, which counts when the node next calls `read`.

    Returns
    -------
    dataclasses.Field
        Field to place in a frozen dataclass whose annotation gives the ROS type: ``bool``,
        ``int``, ``float``, ``str`` or a ``tuple`` of one of them.

    """
    return field(
        default=default,
        metadata={
            'description': description,
            'min': min,
            'max': max,
            'choices': tuple(choices),
            'read_only': read_only,
        },
    )


def declare(node: Node, cls: type[T]) -> T:
    """
    Declare every field of `cls` on `node` and return the filled dataclass.

    Parameters
    ----------
    node : rclpy.node.Node
        Node that owns the parameters.
    cls : type
        Frozen dataclass whose fields were made with `param`.

    Returns
    -------
    object
        Instance of `cls` with the values in effect, validated.

    Raises
    ------
    ParameterError
        If a value has the wrong type or lies outside its limits.

    """
    # Looked at before rclpy does: its own complaint does not say which values are allowed.
    overrides = getattr(node, '_parameter_overrides', {})
    for rule in _rules(cls):
        if rule.name in overrides:
            rule.check(overrides[rule.name].value)
        if not node.has_parameter(rule.name):
            node.declare_parameter(rule.name, rule.ros_default(), rule.descriptor())
    return read(node, cls)


def read(node: Node, cls: type[T]) -> T:
    """
    Read the parameters of `cls` again, as they are now.

    Parameters
    ----------
    node : rclpy.node.Node
        Node on which `declare` was called.
    cls : type
        The same dataclass.

    Returns
    -------
    object
        Instance of `cls` with the values in effect, validated.

    Raises
    ------
    ParameterError
        If a value lies outside its limits.

    """
    return cls(**{rule.name: rule.check(rule.value_on(node)) for rule in _rules(cls)})


@dataclass(frozen=True)
class _Rule:
    """What one field allows."""

    name: str
    default: Any
    scalar: type
    is_array: bool
    length: int | None
    metadata: Any

    def check(self, value: Any) -> Any:
        """Return `value` as the dataclass wants it, or refuse it."""
        if not self.is_array:
            self._check_scalar(value, value)
            return value
        if not isinstance(value, (list, tuple, array)):
            raise ParameterError(self.name, value, self.expected())
        if self.length is not None and len(value) != self.length:
            raise ParameterError(self.name, list(value), self.expected())
        for element in value:
            self._check_scalar(element, list(value))
        return tuple(value)

    def _check_scalar(self, value: Any, shown: Any) -> None:
        low, high, choices = (self.metadata[key] for key in ('min', 'max', 'choices'))
        allowed = type(value) is self.scalar
        allowed = allowed and not (isinstance(value, float) and math.isnan(value))
        allowed = allowed and (low is None or value >= low) and (high is None or value <= high)
        if not allowed or (choices and value not in choices):
            raise ParameterError(self.name, shown, self.expected())

    def expected(self) -> str:
        """Say what is allowed."""
        low, high, choices = (self.metadata[key] for key in ('min', 'max', 'choices'))
        said = WORDS[self.scalar]
        if self.is_array:
            said = f'a list of {"" if self.length is None else f"{self.length} times "}{said}'
        if choices:
            said += ' out of ' + ', '.join(choices)
        elif low is not None and high is not None:
            said += f' from {low:g} to {high:g}'
        elif low is not None:
            said += f' of at least {low:g}'
        elif high is not None:
            said += f' of at most {high:g}'
        return said

    def ros_default(self) -> Any:
        """Return the default; for an empty array its type, which rclpy cannot infer."""
        if not self.is_array:
            return self.default
        return list(self.default) or ARRAYS[self.scalar]

    def value_on(self, node: Node) -> Any:
        """Return the value that `node` holds; an array never set is empty."""
        try:
            return node.get_parameter(self.name).value
        except ParameterUninitializedException:
            return ()

    def descriptor(self) -> ParameterDescriptor:
        """Describe the parameter to ROS."""
        low, high = self.metadata['min'], self.metadata['max']
        descriptor = ParameterDescriptor(
            description=self.metadata['description'],
            read_only=self.metadata['read_only'],
            additional_constraints=self.expected(),
        )
        if self.is_array or (low is None and high is None):
            return descriptor
        if self.scalar is int:
            low, high = INT64[0] if low is None else low, INT64[1] if high is None else high
            descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
        else:
            low, high = -math.inf if low is None else low, math.inf if high is None else high
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(low), to_value=float(high))
            ]
        return descriptor


def _rules(cls: type) -> list[_Rule]:
    hints = get_type_hints(cls)
    return [_rule(item, hints[item.name]) for item in fields(cls)]


def _rule(item: Field[Any], hint: Any) -> _Rule:
    if get_origin(hint) is not tuple:
        return _Rule(item.name, item.default, hint, False, None, item.metadata)
    elements = get_args(hint)
    length = None if elements[-1] is Ellipsis else len(elements)
    return _Rule(item.name, item.default, elements[0], True, length, item.metadata)
