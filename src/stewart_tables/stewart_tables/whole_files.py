# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import errno
import os
from pathlib import Path
import signal
import threading
from types import FrameType
from typing import Any, IO
from uuid import uuid4


class OutputName(str):
    """Name of a file that will be written, so that no verb reads the same one."""

    __slots__ = ()


@contextmanager
def whole_file(target: str | os.PathLike[str], *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file that takes its place when it is complete; text in UTF-8, or bytes.

    What is written goes into a hidden file beside the target, which replaces the target at the
    end. If writing fails or is interrupted, a target that was there stays as it was and nothing
    else is left. The file reaches the disk before it replaces the target, and the folder's entry
    afterwards, so that a loss of power leaves the old file or the new one. A device or a pipe is
    written to directly; a link is followed.

    Raises:
        OSError: If the target cannot be written; it carries the target's name.
    """
    path = Path(os.path.realpath(target))
    mode, encoding = ('b', None) if binary else ('', 'utf-8')
    straight = path.exists() and not path.is_file()
    part = path if straight else path.with_name(f'.{path.name}.{uuid4().hex[:8]}')
    with terminated_as_interrupted():
        try:
            with part.open(f'w{mode}' if straight else f'x{mode}', encoding=encoding) as stream:
                yield stream
                if not straight:
                    if path.exists():
                        os.fchmod(stream.fileno(), path.stat().st_mode)
                    stream.flush()
                    os.fsync(stream.fileno())
            if not straight:
                part.replace(path)
                sync(path.parent)
        except BaseException as error:
            if not straight:
                part.unlink(missing_ok=True)
            if isinstance(error, OSError):
                error.filename, error.filename2 = str(target), None
            raise


def rename_folder(source: str | Path, target: str | Path) -> None:
    """Rename a folder once all that is in it has reached the disk.

    The target is on the same file system and must not exist, unless it is an empty folder.
    """
    before, after = Path(source), Path(target)
    for path in (*before.rglob('*'), before):
        sync(path)
    before.rename(after)
    for parent in {before.parent, after.parent}:
        sync(parent)


def sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, have reached the disk.

    Some file systems cannot sync a folder, and need not.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT does, so that blocks clean up.

    Only where they would end the process: whoever has a handler keeps it, and nohup its ignoring.
    The first of them raises and the others are ignored until the block has ended, for a terminal
    that is closed sends SIGHUP twice. Does nothing outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    ]

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in caught:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in caught:
            signal.signal(number, interrupt)
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
