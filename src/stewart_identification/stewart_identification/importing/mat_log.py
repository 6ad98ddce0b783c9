# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""MATLAB files of an IMU, as the supplement of the EX800 paper has one.

WitMotion's program writes such a file beside its text log; which names it gives the variables is
not documented, and the paper's file is not part of this repository. So the variables are known by
the same names as the columns of the text logs - one variable per column, one (n, 3) matrix per
vector, fields of a struct, or one matrix with as many columns as a cell array names - and a
variable that is called otherwise is named by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from stewart_identification.importing.imu_log import (
    attitude_of,
    ImuLog,
    NoImuLog,
    stamps_after,
)
from stewart_identification.importing.named_columns import (
    in_si,
    NamedColumns,
    plain,
    QUANTITIES,
    TIMES,
    unit_of,
)
from stewart_kinematics.motion import Array

ROLES = ('time', 'acceleration', 'angular velocity', 'angle')
DEEPEST = 3


def read_mat_log(
    path: Path,
    *,
    names: Mapping[str, str] | None = None,
    rate: float | None = None,
    start_ns: int = 0,
) -> ImuLog:
    """Read a MATLAB file.

    Args:
        path: File up to version 7; those of version 7.3 are HDF5 and are refused.
        names: Variable for each of `ROLES` that is not found by its name.
        rate: Sampling rate, for a file without times [Hz].
        start_ns: When it begins [ns since the epoch].

    Returns:
        In SI units.

    Raises:
        NoImuLog: If a vector or the time is not found; the message lists the variables that there
            are.
        OSError: If the file cannot be read.
    """
    variables = _variables(path)
    chosen = dict(names or {})
    unknown = sorted(set(chosen) - set(ROLES))
    if unknown:
        raise NoImuLog(f'{path}: no role {unknown[0]!r}, there are {", ".join(ROLES)}')
    listed = list(variables)

    def numbers(places: list[int]) -> Array:
        found = [np.ravel(variables[listed[place]]) for place in places]
        _of_one_length(found, path)
        return np.column_stack(found)

    columns = NamedColumns(str(path), listed, numbers)
    force = _needed(columns, variables, 'acceleration', chosen)
    turning = _needed(columns, variables, 'angular velocity', chosen)
    angles = _vector(columns, variables, 'angle', chosen)
    quaternion = columns.quaternion()
    seconds = _seconds(variables, chosen, rate, len(force), path)
    _of_one_length([force, turning, angles, quaternion, seconds], path)
    stamps = stamps_after(start_ns, seconds, str(path))
    origin = f'{path.name}, MATLAB variables {", ".join(variables)}'
    return ImuLog(stamps, force, turning, attitude_of(quaternion, angles), origin)


def _of_one_length(columns: Sequence[Array | None], path: Path) -> None:
    lengths = {len(item) for item in columns if item is not None}
    if len(lengths) > 1:
        raise NoImuLog(f'{path}: its variables have different lengths, {sorted(lengths)}')


def _variables(path: Path) -> dict[str, Array]:
    """Return every numeric variable, (n,) or (n, k), those of structs and named columns, too."""
    data = path.read_bytes()
    if b'MATLAB 7.3' in data[:128]:
        raise NoImuLog(f'{path}: MATLAB 7.3, save it with -v7 in MATLAB')
    try:
        content = loadmat(BytesIO(data), squeeze_me=True, struct_as_record=False)
    except Exception as error:  # scipy raises almost anything on what is no MATLAB file
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise NoImuLog(f'{path}: no MATLAB file ({reason})') from error
    found: dict[str, Array] = {}
    _gather({k: v for k, v in content.items() if not k.startswith('__')}, found, DEEPEST)
    if not found:
        raise NoImuLog(f'{path}: there is no numeric variable in it')
    return found


def _gather(content: Mapping[str, Any], found: dict[str, Array], depth: int) -> None:
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
            _gather({key: getattr(value, key) for key in fields}, found, depth - 1)
        elif isinstance(value, np.ndarray) and value.dtype.kind in 'fiu' and value.size > 1:
            array = np.asarray(value, dtype=float)
            titles = next((t for t in texts if array.ndim == 2 and len(t) == array.shape[1]), None)
            if titles is None:
                found[name] = array
            else:
                found.update(zip(titles, array.T, strict=True))


def _needed(
    columns: NamedColumns, variables: Mapping[str, Array], role: str, chosen: Mapping[str, str]
) -> Array:
    found = _vector(columns, variables, role, chosen)
    if found is None:
        raise NoImuLog(
            f'{columns.place}: no variable is the {role}, there are {_listed(variables)}; '
            'say which one it is'
        )
    return found


def _vector(
    columns: NamedColumns, variables: Mapping[str, Array], role: str, chosen: Mapping[str, str]
) -> Array | None:
    """Return a vector from the variable that was named for it, three columns, or one matrix."""
    name = chosen.get(role)
    if name is None:
        found = columns.vector(role)
        if found is not None:
            return found
        name = next((n for n, v in variables.items() if _is_matrix(n, v, role)), None)
    if name is None:
        return None
    return in_si(_matrix(variables, name, columns.place), unit_of(name), role, columns.place)


def _is_matrix(name: str, values: Array, role: str) -> bool:
    return plain(name) in QUANTITIES[role] and values.ndim == 2


def _matrix(variables: Mapping[str, Array], name: str, place: str) -> Array:
    if name not in variables:
        raise NoImuLog(f'{place}: no variable {name}, there are {_listed(variables)}')
    values = variables[name]
    if values.ndim == 2 and values.shape[1] == 3:
        return values
    if values.ndim == 2 and values.shape[0] == 3:
        return np.ascontiguousarray(values.T)
    raise NoImuLog(f'{place}: {name} has shape {values.shape}, expected (n, 3)')


def _seconds(
    variables: Mapping[str, Array],
    chosen: Mapping[str, str],
    rate: float | None,
    count: int,
    path: Path,
) -> Array:
    if rate is not None:
        return np.arange(count) / rate
    for name in variables:
        if name == chosen.get('time') or ('time' not in chosen and plain(name) in (*TIMES, 't')):
            return np.ravel(variables[name])
    raise NoImuLog(
        f'{path}: no variable is the time, there are {_listed(variables)}; say which one it is, '
        'or the sampling rate'
    )


def _listed(variables: Mapping[str, Array]) -> str:
    return ', '.join(f'{name} {values.shape}' for name, values in variables.items())
