# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How the numerical kernels are compiled.

A kernel has one fixed signature, is compiled when its module is imported and kept on disk. So
no argument (another layout, a read-only array) can ever cause a compile pause while the
platform moves: what does not fit the signature is a TypeError.

Every kernel of ours is declared by one of the decorators below, so that all are kept in the
folder of `kernel_cache`.

With ``NUMBA_DISABLE_JIT=1`` kernels are plain Python, as in numba itself, and numba is not even
imported: that is slow to run, quick to start, and a debugger can step through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
import os
import sys
from typing import Any, cast, TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.kernels.kernel_cache import kernel_folder

PLAIN = os.environ.get('NUMBA_DISABLE_JIT') == '1'
# What numba takes along where it is installed, in a third of the time that a first kernel takes to
# load: to learn whether coverage measures, which does so with its module loaded, and whether there
# is a BLAS. Modules whose kernels call that `load_blas`.
NEEDLESS = ('coverage', 'scipy.linalg.cython_blas')


@contextmanager
def _without(*modules: str) -> Iterator[None]:
    """Let modules that are not loaded yet seem not to be installed."""
    hidden: dict[str, Any] = dict.fromkeys(set(modules).difference(sys.modules))
    sys.modules.update(hidden)
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


if TYPE_CHECKING or not PLAIN:
    with _without(*NEEDLESS):
        import numba
        from numba import types

        import_module('numba.np.arraymath')

    numba.config.CACHE_DIR = str(kernel_folder())
else:

    class types:  # noqa: N801 - in place of numba's module
        """Stand-ins for the types of signatures, which nobody reads."""

        boolean = int64 = float64 = void = Tuple = staticmethod(lambda *_: None)
        Array = staticmethod(lambda *_, **__: None)


Array = NDArray[np.float64]
Function = TypeVar('Function', bound=Callable[..., Any])
Kernel = Callable[..., Any]

FLAG = types.boolean
INTEGER = types.int64
SCALAR = types.float64
TRIPLE = types.Tuple((types.float64,) * 3)
VOID = types.void
# Inputs are declared read-only: a writable array is accepted there as well, not the reverse.
VECTOR = types.Array(types.float64, 1, 'C', readonly=True)
MATRIX = types.Array(types.float64, 2, 'C', readonly=True)
STACK = types.Array(types.float64, 3, 'C', readonly=True)
INTEGERS_OUT = types.Array(types.int64, 1, 'C')
FLAG_ROWS_OUT = types.Array(types.boolean, 2, 'C')
VECTOR_OUT = types.Array(types.float64, 1, 'C')
MATRIX_OUT = types.Array(types.float64, 2, 'C')
STACK_OUT = types.Array(types.float64, 3, 'C')
# Position, quaternion, twist, acceleration: `Motion.rows`.
MOTION, MOTION_OUT = (MATRIX,) * 4, (MATRIX_OUT,) * 4

FUSED: dict[str, Any] = {'error_model': 'numpy', 'fastmath': {'contract'}}


def load_blas() -> None:
    """Load what kernels call for ``@`` and ``numpy.linalg``: else their first call would."""
    for name in () if PLAIN else ('cython_blas', 'cython_lapack'):
        import_module(f'scipy.linalg.{name}')


def tuple_of(*fields: types.Type) -> types.Type:
    """Return the type of a tuple."""
    return types.Tuple(fields)


def kernel(
    returns: types.Type, *arguments: types.Type, fused: bool = True
) -> Callable[[Kernel], Kernel]:
    """Compile a function over plain arrays for one signature: what it returns, and its arguments.

    ``fastmath`` is limited to fused multiply-add: NaN and infinity keep their meaning, and
    division by zero gives them, as in numpy. Without `fused` it has the arithmetic of Python.
    """
    return _compiler(returns(*arguments), **(FUSED if fused else {}))


def part(function: Function) -> Function:
    """Compile a function that only kernels call, to be inlined into them whatever its size."""
    # A way in from Python would be compiled with the whole function in it.
    return _compiler(**FUSED, forceinline=True, no_cpython_wrapper=True)(function)


def section(function: Function) -> Function:
    """Make a function a piece of the one kernel that calls it, as if it was written there.

    A large `part` is optimised by itself, and again with all that it calls in every function
    above it. Arguments that start with an asterisk are not possible in here.
    """
    return _compiler(**FUSED, inline='always')(function)


def inferred(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call, for the types that they call it with.

    It has the arithmetic of Python.
    """
    return _compiler()(function)


def _compiler(*signature: Any, **options: Any) -> Callable[[Function], Function]:
    if PLAIN:
        return lambda function: function
    # Nor does anybody call one from C.
    decorate = numba.njit(*signature, cache=True, no_cfunc_wrapper=True, **options)

    def compiled(function: Function) -> Function:
        # numba keeps the kernels of every path by themselves; a linked source is one source.
        code = function.__code__
        function.__code__ = code.replace(co_filename=os.path.realpath(code.co_filename))
        return cast(Function, decorate(function))

    return compiled
