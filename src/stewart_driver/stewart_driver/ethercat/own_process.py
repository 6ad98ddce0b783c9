# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Ask something of the drives in a process of its own.

Only a process with a single thread can enter a network namespace. It is started as
``python -m MODULE REQUEST``, with a request in JSON, and prints its answer in JSON or one sentence
on why there is none.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import subprocess
import sys
from typing import Any

from stewart_driver.control.child_process import environment
from stewart_driver.errors import DriverError, TransportError

TIMEOUT = 30.0


def ask(module: str, request: Any) -> Any:
    """Ask a module of this package in another process.

    Args:
        module: Which calls `answer`.
        request: What JSON can say.

    Returns:
        Its answer.

    Raises:
        TransportError: If there is none; the reason of the other process.
    """
    done = subprocess.run(
        [sys.executable, '-m', module, json.dumps(request)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        reason = done.stderr.strip().rpartition('\n')[2]
        raise TransportError(reason or 'the drives were not asked')
    return json.loads(done.stdout)


def answer(function: Callable[[Any], Any]) -> int:
    """Answer the request on the command line; return the exit code."""
    try:
        result = function(json.loads(sys.argv[1]))
    except DriverError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(result))
    return 0
