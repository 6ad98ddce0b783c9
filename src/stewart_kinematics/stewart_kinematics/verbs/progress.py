# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One line that says how far a long step has come, where somebody watches."""

from __future__ import annotations

from collections.abc import Callable
import sys


def show_part(step: str) -> Callable[[float], None]:
    """
    Make a line of progress on standard error.

    Parameters
    ----------
    step : str
        What is being done, in a word or two.

    Returns
    -------
    callable
        Takes the part done, 0 to 1; shows nothing unless standard error is a terminal.

    """

    def show(part: float) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f'\r{step}: {100.0 * part:3.0f} %' + ('\n' if part >= 1.0 else ''))
            sys.stderr.flush()

    return show
