# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
MATLAB files of an IMU, as the supplement of the EX800 paper has one.

WitMotion's program writes such a file beside its text log; which names it gives the variables is
not documented, and the paper's file is not part of this repository. So the variables are known by
the same names as the columns of the text logs - one variable per column, one (n, 3) matrix per
vector, fields of a struct, or one matrix with as many columns as a cell array names - and a
variable that is called otherwise is named by hand.

"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from stewart_identification.importing.imu_log import (
    attitude_of,
    ImuLog,
    in_si,
    NoImuLog,
    plain,
    QUANTITIES,
    quaternion_columns,
    TIMES,
    unit_of,
    vector_columns,
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
    """
    Read a MATLAB file.

    Parameters
    ----------
    path : Path
        File up to version 7; those of version 7.3 are HDF5 and are refused.
    names : mapping of str to str, optional
        Variable for each of `ROLES` that is not found by its name.
    rate : float, optional
        Sampling rate, for a file without times [Hz].
    start_ns : int
        When it begins [ns since the epoch].

    Returns
    -------
    ImuLog
        In SI units.

    Raises
    ------
    NoImuLog
        If a vector or the time is not found; the message lists the variables that there are.
    OSError
        If the file cannot be read.

    """
    variables = _variables(path)
    chosen = dict(names or {})
    unknown = sorted(set(chosen) - set(ROLES))
    if unknown:
        raise NoImuLog(f'{path}: no role {unknown[0]!r}, there are {", ".join(ROLES)}')
    force = _vector(variables, 'acceleration', chosen, path)
    turning = _vector(variables, 'angular velocity', chosen, path)
    angles = _vector(variables, 'angle', chosen, path, needed=False)
    assert force is not None
    assert turning is not None
    listed = list(variables)
    columns = quaternion_columns(listed)
    quaternion = None
    if columns is not None:
        quaternion = np.column_stack([np.ravel(variables[listed[i]]) for i in columns])
    seconds = _seconds(variables, chosen, rate, len(force), path)
    lengths = {
        len(item) for item in (force, turning, angles, quaternion, seconds) if item is not None
    }
    if len(lengths) > 1:
        raise NoImuLog(f'{path}: its variables have different lengths, {sorted(lengths)}')
    stamps = start_ns + np.round((seconds - seconds[0]) * 1e9).astype(np.int64)
    origin = f'{path.name}, MATLAB variables {", ".join(variables)}'
    return ImuLog(stamps, force, turning, attitude_of(quaternion, angles), origin)


def _variables(path: Path) -> dict[str, Array]:
    """Return every numeric variable, (n,) or (n, k), those of structs and named columns, too."""
    with path.open('rb') as stream:
        if b'MATLAB 7.3' in stream.read(128):
            raise NoImuLog(f'{path}: MATLAB 7.3, save it with -v7 in MATLAB')
    try:
        content = loadmat(path, squeeze_me=True, struct_as_record=False)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise NoImuLog(f'{path}: no MATLAB file ({" ".join(str(error).split())})') from error
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


def _vector(
    variables: Mapping[str, Array],
    role: str,
    chosen: Mapping[str, str],
    path: Path,
    *,
    needed: bool = True,
) -> Array | None:
    listed = list(variables)
    if role in chosen:
        return in_si(
            _matrix(variables, chosen[role], path), unit_of(chosen[role]), role, str(path)
        )
    columns = vector_columns(listed, QUANTITIES[role])
    if columns is not None:
        values = np.column_stack([np.ravel(variables[listed[i]]) for i in columns])
        return in_si(values, unit_of(listed[columns[0]]), role, str(path))
    for name in listed:
        if plain(name) in QUANTITIES[role] and variables[name].ndim == 2:
            return in_si(_matrix(variables, name, path), unit_of(name), role, str(path))
    if not needed:
        return None
    raise NoImuLog(
        f'{path}: no variable is the {role}, there are {_listed(variables)}; say which one it is'
    )


def _matrix(variables: Mapping[str, Array], name: str, path: Path) -> Array:
    if name not in variables:
        raise NoImuLog(f'{path}: no variable {name}, there are {_listed(variables)}')
    values = variables[name]
    if values.ndim == 2 and values.shape[1] == 3:
        return values
    if values.ndim == 2 and values.shape[0] == 3:
        return np.ascontiguousarray(values.T)
    raise NoImuLog(f'{path}: {name} has shape {values.shape}, expected (n, 3)')


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
