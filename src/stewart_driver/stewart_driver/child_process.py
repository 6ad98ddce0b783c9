# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What became of a process that was started here."""

from __future__ import annotations

from collections.abc import Callable
import subprocess


def epitaph(process: subprocess.Popen[bytes], name: str, said: Callable[[], str]) -> str:
    """
    Return one sentence on why a process is gone.

    Parameters
    ----------
    process : Popen
        The process.
    name : str
        What it is called in the sentence.
    said : callable
        Returns what it gave as the reason; asked only if it is gone, may return nothing.

    Returns
    -------
    str
        The sentence; empty while it runs.

    """
    code = process.poll()
    if code is None:
        return ''
    how = f'was killed by signal {-code}' if code < 0 else f'ended with code {code}'
    reason = said()
    return f'{name} {how}' + (f': {reason}' if reason else '')
