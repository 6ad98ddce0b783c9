# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes from their YAML files, without nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from stewart_bringup.rigs import require_known_nodes, sections
from stewart_description.suggestion import expected_name
from stewart_driver.backend import installed_backends
from stewart_tables.errors import ParameterError
from stewart_tables.settings import filled

T = TypeVar('T')

ROS_OWN = ('autostart', 'use_sim_time')
ROS_OWN_SECTION = 'qos_overrides'


class RigParameters:
    """What some parameter files say, by node.

    Args:
        files: ROS parameter files; a later one wins.
        overrides: Parameters that win over every file, by node.

    Raises:
        ConfigurationError: If a file has a section for a node that does not exist.
    """

    def __init__(
        self, files: Sequence[Path], overrides: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        require_known_nodes(files)
        self._everywhere: dict[str, Any] = {}
        self._nodes: dict[str, dict[str, Any]] = {}
        for path in files:
            for node, values in sections(path):
                own = self._nodes.setdefault(node, {}) if node else self._everywhere
                _lay_over(own, values)
        for node, chosen in (overrides or {}).items():
            _lay_over(self._nodes.setdefault(node, {}), chosen)

    def value(self, node: str, key: str, default: Any) -> Any:
        """Return what a node's section says about a parameter."""
        return self._nodes.get(node, {}).get(key, self._everywhere.get(key, default))

    def seed(self, number: int) -> None:
        """Let everything that is drawn at random, the sea and all noise, begin with a seed."""
        drawn = {'seed': number, 'sea_seed': number}
        for node in ('ocean_trajectory', 'virtual_rig'):
            if node in self._nodes:
                chosen = drawn if node == 'virtual_rig' else {'seed': number}
                _lay_over(self._nodes[node], chosen)
        _lay_over(self._nodes.setdefault('driver', {}), {'simulated': drawn})

    def has(self, node: str) -> bool:
        """Tell whether a file has a section for a node."""
        return node in self._nodes

    def of(self, node: str, cls: type[T], *others: type) -> T:
        """Return the parameters of a node; `others` are further dataclasses of its section.

        Raises:
            ParameterError: If the section has a parameter that the node does not have, or one
                cannot be used.
        """
        known = {item.name for item in fields(cls)}  # type: ignore[arg-type]
        shared = {item.name for other in others for item in fields(other)}
        values = {key: value for key, value in self._everywhere.items() if key in known}
        for key, value in self._nodes.get(node, {}).items():
            # Options of back ends stand in sections of their own, below the name of the back end.
            if isinstance(value, Mapping):
                _require_backend(node, key)
            elif key not in {*ROS_OWN, *shared}:
                values[key] = value
        return filled(cls, values)

    def options(self, name: str, cls: type[T], wired: Mapping[str, Any] | None = None) -> T:
        """Return the options of a back end, which stand below its name in the driver's section.

        The options `wired`, which say where the ends of the wires are, win. Errors as for `of`.
        """
        return filled(cls, {**self._nodes.get('driver', {}).get(name, {}), **(wired or {})})


def _require_backend(node: str, name: str) -> None:
    # Where the packages are on the path and not installed, there are none.
    known = installed_backends()
    if known and name not in {*known, ROS_OWN_SECTION}:
        raise ParameterError(f'{name} of {node}', None, expected_name(name, known, 'back end'))


def _lay_over(own: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Lay parameters over others one by one, as ROS does: a nested section replaces no other."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            before = own.get(key)
            own[key] = {**before} if isinstance(before, Mapping) else {}
            _lay_over(own[key], value)
        else:
            own[key] = value
