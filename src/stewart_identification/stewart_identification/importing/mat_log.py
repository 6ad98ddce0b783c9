# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""MATLAB files of an IMU or of legs, as the supplement of the EX800 paper has one.

WitMotion's program writes such a file beside its text log; which names it gives the variables is
not documented, and the paper's file is not part of this repository. So the variables are known by
the same names as the columns of the text logs - one variable per column, one (n, 3) matrix per
vector, fields of a struct, or one matrix with as many columns as a cell array names - and a
variable that is called otherwise is named by hand. Where several structs have a ``t``, they are
``imu.t`` and ``legs.t``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.sparse import issparse
from stewart_identification.importing.imu_log import (
    NoImuLog,
    refuse_taken_up,
    Stamps,
    stamps_of_numbers,
)
from stewart_identification.importing.leg_log import sixes, UNITS
from stewart_identification.importing.mat_elements import check_elements
from stewart_identification.importing.named_columns import (
    LogTable,
    plain,
    QUANTITIES,
    split_unit,
    TIMES,
    unit_of,
    vector_places,
)
from stewart_kinematics.motion import Array

ROLES = ('time', *QUANTITIES, *UNITS)
DEEPEST = 3
FULL = 'save it as a full real matrix'


def mat_table(
    path: Path,
    *,
    names: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    rate: float | None = None,
) -> LogTable:
    """Read the variables of a MATLAB file as columns.

    Args:
        path: File up to version 7; those of version 7.3 are HDF5 and are refused.
        names: Variable for each of `ROLES` that is not found by its name.
        units: What the user says of units, by quantity.
        rate: Sampling rate, for a file without times [Hz].

    Raises:
        NoImuLog: If it is no such file, or a variable that was named is not there.
        OSError: If the file cannot be read.
    """
    (variables, unread), chosen, said = _variables(path), dict(names or {}), dict(units or {})
    unknown = sorted(set(chosen) - set(ROLES))
    if unknown:
        raise NoImuLog(f'{path}: no role {unknown[0]!r}, there are {", ".join(ROLES)}')
    for role, name in chosen.items():
        if name in unread:
            raise NoImuLog(f'{path}: {role} is {name}, which is {unread[name]}, {FULL}')
    inventory = f'variables {_listed(variables)}: say which one it is{_told(unread)}'
    columns = _columns(variables, chosen, path)
    heads, remarks = list(columns), list[str]()
    if unread:
        remarks.append(f'{path}: variables are left out{_told(unread)}')
    every = list(columns.values())

    def numbers(places: list[int]) -> Array:
        return _of_one_length([every[place] for place in places], path)

    def stamps(start_ns: int) -> Stamps:
        used = _used(columns) or every
        count = max(map(len, used))
        seconds, unit = _times(variables, chosen, rate, count, path, unread)
        unit = said.get('time', unit) if rate is None else 's'
        _of_one_length([*used, seconds], path)
        found, about = stamps_of_numbers(seconds, unit, start_ns, str(path))
        refuse_taken_up(found, lambda sample: f'{path}: sample {sample + 1}')
        remarks.extend(text for text in about if text not in remarks)
        return found

    origin = f'{path.name}, MATLAB variables {", ".join(variables)}'
    return LogTable(str(path), heads, numbers, stamps, origin, inventory, said, remarks)


def _used(columns: Mapping[str, Array]) -> list[Array]:
    """Return the columns of an IMU and of legs, which have to have one length."""
    names, every = list(columns), list(columns.values())
    places = [place for key in QUANTITIES for place in vector_places(names, key) or ()]
    places += [place for six in sixes(names) if six.role is not None for place in six.places]
    return [every[place] for place in places]


def _columns(
    variables: Mapping[str, Array], chosen: Mapping[str, str], path: Path
) -> dict[str, Array]:
    """Return all columns by name, first those of matrices that were named by hand."""
    found: dict[str, Array] = {}
    roles = {name: role for role, name in chosen.items() if role in QUANTITIES}
    for name in roles:
        if name not in variables:
            raise NoImuLog(f'{path}: no variable {name}, there are {_listed(variables)}')
    for name in (*roles, *variables):
        values = variables[name]
        known = (role for role in QUANTITIES if plain(name) in QUANTITIES[role])
        role = roles.get(name) or (next(known, None) if values.ndim == 2 else None)
        if role is None and values.ndim == 2 and 6 in values.shape:
            rows = values.T if values.shape[1] == 6 else values
            for leg, row in enumerate(rows, 1):
                found.setdefault(f'{name}_{leg}', row)
            continue
        if role is None:
            found.setdefault(name, np.ravel(values))
            continue
        if values.ndim != 2 or 3 not in values.shape:
            raise NoImuLog(f'{path}: {name} has shape {values.shape}, expected (n, 3)')
        rows = values.T if values.shape[1] == 3 else values
        for axis, row in zip('xyz', rows, strict=True):
            found.setdefault(f'{QUANTITIES[role][0]}{axis}({unit_of(name)})', row)
    return found


def _of_one_length(columns: Sequence[Array], path: Path) -> Array:
    lengths = {len(item) for item in columns}
    if len(lengths) > 1:
        raise NoImuLog(f'{path}: its variables have different lengths, {sorted(lengths)}')
    return np.column_stack(columns)


def _variables(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """Return every numeric variable, (n,) or (n, k), those of structs and named columns, too.

    Returns:
        Variables by name.
        What others that hold numbers are instead, as ``complex``, by name.
    """
    data = path.read_bytes()
    if b'MATLAB 7.3' in data[:128]:
        raise NoImuLog(f'{path}: MATLAB 7.3, save it with -v7 in MATLAB')
    try:
        check_elements(data)
        content = loadmat(BytesIO(data), squeeze_me=True, struct_as_record=False)
    except Exception as error:  # scipy raises almost anything on what is no MATLAB file
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise NoImuLog(f'{path}: no MATLAB file ({reason})') from error
    gathered: list[tuple[str, str, Array]] = []
    unread: dict[str, str] = {}
    content = {k: v for k, v in content.items() if not k.startswith('__')}
    _gather(content, gathered, unread, '', DEEPEST)
    if not gathered:
        raise NoImuLog(f'{path}: there is no numeric variable in it{_told(unread)}')
    found: dict[str, Array] = {}
    for place, name, values in gathered:
        # A name that stands for several things is none: whose it is has to be said.
        alike = all(np.array_equal(v, values, True) for _, n, v in gathered if n == name)
        found[name if alike else place + name] = values
    return found, unread


def _gather(
    content: Mapping[str, Any],
    found: list[tuple[str, str, Array]],
    unread: dict[str, str],
    place: str,
    depth: int,
) -> None:
    """Append the place, as ``imu.``, the name and the values of every numeric variable.

    What is no full matrix of real numbers goes to `unread`.
    """
    texts = [
        [str(cell) for cell in value]
        for value in content.values()
        if isinstance(value, np.ndarray)
        and value.ndim == 1
        and value.dtype.kind in 'OU'
        and all(isinstance(cell, str) for cell in value)
    ]
    for name, value in content.items():
        fields = getattr(value, '_fieldnames', None)
        if fields is not None and depth:
            inside = {key: getattr(value, key) for key in fields}
            _gather(inside, found, unread, f'{place}{name}.', depth - 1)
        elif issparse(value):
            unread[place + name] = 'sparse'
        elif isinstance(value, np.ndarray) and value.dtype.kind == 'c':
            unread[place + name] = 'complex'
        elif isinstance(value, np.ndarray) and value.dtype.kind in 'fiu' and value.size > 1:
            array = np.asarray(value, dtype=float)
            titles = next((t for t in texts if array.ndim == 2 and len(t) == array.shape[1]), None)
            if titles is None:
                found.append((place, name, array))
            else:
                inside = dict(zip(titles, array.T, strict=True))
                found.extend((f'{place}{name}.', title, row) for title, row in inside.items())


def _times(
    variables: Mapping[str, Array],
    chosen: Mapping[str, str],
    rate: float | None,
    count: int,
    path: Path,
    unread: Mapping[str, str],
) -> tuple[Array, str]:
    """Return times as they are, and their unit if the name says it."""
    if rate is not None:
        return np.arange(count) / rate, 's'
    for name in variables:
        body, unit = split_unit(name)
        if name == chosen.get('time') or ('time' not in chosen and plain(body) in TIMES):
            return np.ravel(variables[name]), unit
    raise NoImuLog(
        f'{path}: no variable is the time, there are {_listed(variables)}; say which one it is, '
        f'or the sampling rate{_told(unread)}'
    )


def _listed(variables: Mapping[str, Array]) -> str:
    return ', '.join(f'{name} {values.shape}' for name, values in variables.items())


def _told(unread: Mapping[str, str]) -> str:
    """Return what to append to a sentence about variables that are not read."""
    return ''.join(f'; {name} is {kind}, {FULL}' for name, kind in unread.items())
