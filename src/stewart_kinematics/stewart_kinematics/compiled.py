# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
How the numerical kernels are compiled.

A kernel has one fixed signature, is compiled when its module is imported and kept on disk. So
no argument (another layout, a read-only array) can ever cause a compile pause while the
platform moves: what does not fit the signature is a TypeError.

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, TypeVar

import numba
from numba import types

Function = TypeVar('Function', bound=Callable[..., Any])

FLAG = types.boolean
INTEGER = types.int64
SCALAR = types.float64
VOID = types.void
# Inputs are declared read-only: a writable array is accepted there as well, not the reverse.
VECTOR = types.Array(types.float64, 1, 'C', readonly=True)
MATRIX = types.Array(types.float64, 2, 'C', readonly=True)
INTEGERS_OUT = types.Array(types.int64, 1, 'C')
VECTOR_OUT = types.Array(types.float64, 1, 'C')
MATRIX_OUT = types.Array(types.float64, 2, 'C')
STACK_OUT = types.Array(types.float64, 3, 'C')
# The fields of a motion, in their order: `Motion.rows`.
MOTION, MOTION_OUT = (MATRIX,) * 6, (MATRIX_OUT,) * 6


def kernel(returns: types.Type, *arguments: types.Type) -> Callable[[Function], Function]:
    """
    Compile a function over plain arrays for one signature.

    Parameters
    ----------
    returns : numba type
        What the kernel returns.
    *arguments : numba types
        One type for every argument.

    Returns
    -------
    callable
        Decorator that replaces the function by its compiled form.

    Notes
    -----
    ``fastmath`` is limited to fused multiply-add: NaN and infinity keep their meaning, and
    division by zero gives them, as in numpy.

    """
    decorate = numba.njit(
        returns(*arguments), cache=True, error_model='numpy', fastmath={'contract'}
    )
    return cast('Callable[[Function], Function]', decorate)


def part(function: Function) -> Function:
    """Compile a function that only kernels call, to be inlined into them whatever its size."""
    decorate = numba.njit(cache=True, error_model='numpy', fastmath={'contract'}, forceinline=True)
    return cast(Function, decorate(function))
