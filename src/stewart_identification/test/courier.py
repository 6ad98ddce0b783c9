# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An executor that works here, but sends everything through pickle as processes do."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
import pickle
from typing import Any


class Courier(Executor):
    """Counts what it was given."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.count += 1
        work, arguments, named = pickle.loads(pickle.dumps((work, arguments, named)))
        done: Future[Any] = Future()
        done.set_result(pickle.loads(pickle.dumps(work(*arguments, **named))))
        return done
