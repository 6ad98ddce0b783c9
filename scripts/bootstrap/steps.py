# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps: one set-up at a time, each with its progress, its log and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
import fcntl
import hashlib
import os
from pathlib import Path
import re
import shlex
import signal
import subprocess
import sys
import time

import places

SIGINT_GRACE = 10.0


class SetupError(Exception):
    """What is missing, in one sentence for the person who called make."""


def show(text: str, *, end: str = '\n') -> None:
    """Tell the person; on a terminal the line may be overwritten by the next."""
    print(f'\r\033[K{text}' if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)


def run(
    command: list[str],
    environment: Mapping[str, str],
    progress: Callable[[str], str | None] = lambda _line: None,
    path: Path | None = None,
) -> None:
    """Run a command into a log, and show what `progress` makes of its lines."""
    start = time.monotonic()
    path = path or places.LOG
    with path.open('w', buffering=1) as log:
        log.write(f'$ {shlex.join(command)}\n')
        with subprocess.Popen(
            command,
            cwd=places.ROOT,
            env=dict(environment),
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    log.write(line)
                    text = progress(line)
                    if text and sys.stderr.isatty():
                        show(f'  {text}, {time.monotonic() - start:.0f} s', end='')
            except BaseException:
                interrupt(process)
                raise
    if process.returncode != 0:
        raise SetupError(explain_failure(path.read_text(errors='replace'), path))


def interrupt(process: subprocess.Popen[str]) -> None:
    """End a command and its children, so that nothing writes into folders that are moved next."""
    # Ctrl-C reaches all of them by itself, `kill -INT` does not.
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=SIGINT_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()


def explain_failure(log: str, path: Path) -> str:
    """Say in one sentence what went wrong; where that is not known, show the end of the log."""
    offline = 'name resolution|NewConnectionError|ConnectTimeout|Network is unreachable'
    if re.search('No space left on device', log):
        reason = 'The disk is full.'
    elif re.search(offline, log):
        reason = 'The package registry cannot be reached: is the network up?'
    else:
        tail = (f'  | {line[:150]}\n' for line in log.splitlines()[-20:])
        reason = f'{"".join(tail)}The set-up failed.'
    return f'{reason} The whole log is in {path.relative_to(places.ROOT)}.'


@contextmanager
def step(name: str) -> Iterator[None]:
    """Show that a step begins, and how long it took."""
    start = time.monotonic()
    show(f'{name} …')
    yield
    show(f'{name}: done in {time.monotonic() - start:.0f} s')


def is_stamped(stamp: Path, key: str) -> bool:
    """Return whether a step was completed, for what it depends on as it is now."""
    return stamp.exists() and stamp.read_text() == key


@contextmanager
def alone() -> Iterator[None]:
    """Wait for another set-up of this clone, or for what a killed one has left running."""
    with (places.CACHE / 'bootstrap.lock').open('w') as lock:
        # The children hold the lock, too: pip and colcon may outlive this process.
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            show('Waiting for another set-up of this clone …')
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def digest(*parts: str | bytes) -> str:
    """Return a short name for everything that a step depends on."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode() if isinstance(part, str) else part)
        whole.update(b'\0')
    return whole.hexdigest()[:16]
