# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of back ends, which know no ROS, as parameters of a node."""

from __future__ import annotations

from dataclasses import fields, MISSING
from typing import Any, ClassVar, Protocol

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node


class TakesOptions(Protocol):
    """A back end, or another part of the core that is told what to do by plain options."""

    name: ClassVar[str]
    options_type: ClassVar[type]


def declare_options(node: Node, backend_type: type[TakesOptions]) -> Any:
    """
    Declare the options of a back end as parameters ``<backend>.<option>`` and return them.

    The back end may live in a package without ROS, so its options are a plain dataclass whose
    fields have a default and, as metadata, a description.

    Parameters
    ----------
    node : rclpy.node.Node
        Node that owns the parameters.
    backend_type : type
        Class of the back end.

    Returns
    -------
    object
        Instance of the back end's `options_type`, checked by itself.

    Raises
    ------
    ConfigurationError
        If the back end refuses a value.

    """
    values = {}
    for item in fields(backend_type.options_type):
        assert item.default is not MISSING, f'option {item.name} has no default'
        descriptor = ParameterDescriptor(
            description=item.metadata.get('description', ''), read_only=True
        )
        name = f'{backend_type.name}.{item.name}'
        values[item.name] = node.declare_parameter(name, item.default, descriptor).value
    return backend_type.options_type(**values)
