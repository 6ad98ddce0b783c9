# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Message definitions without ROS.

The types of ROS 2 Jazzy come with rosbags. Those of stewart_interfaces, and of any other package,
are read from the ``.msg`` files that the package installs, or from the source tree beside this
package, so that no definition is kept twice. A bag brings its own definitions and needs none of
this to be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
import importlib
import os
from pathlib import Path
from typing import Any

from rosbags.interfaces import Connection, MessageDefinitionFormat
from rosbags.interfaces.typing import Typesdict
from rosbags.typesys import (
    get_types_from_idl,
    get_types_from_msg,
    get_typestore,
    Stores,
    TypesysError,
)
from rosbags.typesys.store import Typestore
from stewart_bags.errors import UnknownType

OWN = 'stewart_interfaces'
IDL_SEPARATOR = '=' * 80 + '\n'


def interface_directories(package: str) -> Iterator[Path]:
    """Yield where the ``.msg`` files of a package lie: installed ones, then the source tree."""
    prefixes = [Path(item) for item in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)]
    candidates = [prefix / 'share' / package for prefix in prefixes if prefix != Path()]
    candidates.append(Path(__file__).resolve().parents[2] / package)
    for candidate in candidates:
        if (candidate / 'msg').is_dir():
            yield candidate / 'msg'


def jazzy_typestore() -> Typestore:
    """Return the store with the types of ROS 2 Jazzy and, where found, of stewart_interfaces.

    It is one per process and search path: rosbags generates code for every type of every store,
    which takes as long as some thousand messages. Other types come to it by `require`.
    """
    return _jazzy_typestore(os.environ.get('AMENT_PREFIX_PATH', ''))


@lru_cache
def _jazzy_typestore(_: str) -> Typestore:
    store = get_typestore(Stores.ROS2_JAZZY)
    for directory in interface_directories(OWN):
        types = {}
        for path in sorted(directory.glob('*.msg')):
            types.update(get_types_from_msg(path.read_text('utf-8'), f'{OWN}/msg/{path.stem}'))
        store.register(types)
        break
    return store


def require(store: Typestore, msgtype: str) -> None:
    """Make sure that a type store knows a type and everything in it, from ``.msg`` files.

    Raises:
        UnknownType: If there is no such definition here.
    """
    if msgtype in store.fielddefs:
        return
    package, kind, name = [*msgtype.split('/'), '', ''][:3]
    if kind != 'msg' or not name:
        raise UnknownType(msgtype, 'expected the form package/msg/Name')
    for directory in interface_directories(package):
        path = directory / f'{name}.msg'
        if path.is_file():
            try:
                types = get_types_from_msg(path.read_text('utf-8'), msgtype)
            except TypesysError as error:
                raise UnknownType(msgtype, f'{path}: {error}') from error
            for _, fields in types.values():
                for inner in nested(fields):
                    require(store, inner)
            store.register(types)
            return
    raise UnknownType(
        msgtype, f'it is not part of ROS 2 Jazzy, and there is no {name}.msg of {package} here'
    )


def message_class(msgtype: str) -> Any:
    """Import the class with the type support that rclpy needs, by the name of the type.

    Raises:
        UnknownType: If its package is not installed here.
    """
    package, kind, name = [*msgtype.split('/'), '', ''][:3]
    try:
        return getattr(importlib.import_module(f'{package}.{kind}'), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownType(msgtype, f'its package is not installed here ({error})') from error


@lru_cache
def hash_of(definition: str, msgtype: str) -> str | None:
    """Compute the RIHS01 hash of a full definition; None if it is not complete."""
    store = get_typestore(Stores.EMPTY)
    try:
        store.register(_parsed(definition, msgtype))
        return store.hash_rihs01(msgtype)
    except (TypesysError, KeyError):
        return None


def differs_here(definition: str, msgtype: str) -> bool:
    """Tell whether a full definition of a type, as in a bag, is another one than ours."""
    store = jazzy_typestore()
    try:
        require(store, msgtype)
    except UnknownType:
        return False
    theirs = hash_of(definition, msgtype)
    return theirs is not None and theirs != store.hash_rihs01(msgtype)


def typestore_of(connections: list[Connection]) -> Typestore:
    """Return the type store of a bag: its own definitions first, ours where it has none.

    Bags with the same definitions share it.
    """
    told = [(each.msgtype, each.msgdef.format, each.msgdef.data) for each in connections]
    return _typestore_of(tuple(dict.fromkeys(told)), os.environ.get('AMENT_PREFIX_PATH', ''))


@lru_cache(maxsize=16)
def _typestore_of(told: tuple[tuple[str, MessageDefinitionFormat, str], ...], _: str) -> Typestore:
    types = {}
    for msgtype, language, definition in told:
        if language == MessageDefinitionFormat.NONE:
            continue
        try:
            types.update(_parsed(definition, msgtype))
        except TypesysError:
            continue  # as good as none: the definitions of this machine take its place
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    wanted = {name for _, fields in types.values() for name in nested(fields)}
    wanted |= {msgtype for msgtype, _, _ in told}
    if not wanted <= types.keys():
        ours = jazzy_typestore().fielddefs
        store.register({name: ours[name] for name in ours if name not in types})
    return store


def _parsed(definition: str, msgtype: str) -> Typesdict:
    """Parse a definition as it stands in a bag, in either of the two languages of ROS."""
    if not definition.startswith(f'{IDL_SEPARATOR}IDL: '):
        return get_types_from_msg(definition, msgtype)
    types = {}
    for part in definition.split(IDL_SEPARATOR)[1:]:
        types.update(get_types_from_idl(part.split('\n', 1)[1]))
    return types


def nested(fields: object) -> Iterator[str]:
    """Yield the names of the message types inside a parsed definition."""
    if isinstance(fields, str) and fields.count('/') == 2:
        yield fields
    elif isinstance(fields, (tuple, list)):
        for item in fields:
            yield from nested(item)
