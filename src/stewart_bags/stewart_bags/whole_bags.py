# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that are written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import fcntl
import os
from pathlib import Path
import shutil

from stewart_bags.errors import BagExists, BagInWork, WriteFailed
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_tables.whole_files import rename_folder, terminated_as_interrupted


@contextmanager
def whole_bag(
    path: Path,
    storage: Storage = Storage.MCAP,
    compression: Compression = Compression.NONE,
    **custom: str,
) -> Iterator[BagWriter]:
    """Write a bag that gets its place when it is complete.

    Until then it is in a folder beside, ``~`` and its name. What a run that was killed has left
    there is removed.

    Args:
        path: Directory to be made; must not exist.
        **custom: Kept in the metadata.

    Yields:
        Open; closed and moved when the block ends, removed when it fails or is interrupted.

    Raises:
        BagExists: If the path is taken, or another program has taken it in the meantime.
        BagInWork: If another run is writing it.
        WriteFailed: If the disk takes no more.
    """
    _refuse_taken(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with terminated_as_interrupted(), _held(path.with_name(f'~{path.name}'), path) as beside:
        part = beside / path.name
        shutil.rmtree(part, ignore_errors=True)
        try:
            with BagWriter(
                part, storage=storage, compression=compression, custom_data=custom
            ) as writer:
                yield writer
            _refuse_taken(path)
            rename_folder(part, path)
        except WriteFailed as error:
            raise WriteFailed(path, error.written, error.reason, kept=False) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _refuse_taken(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise BagExists(path)


@contextmanager
def _held(folder: Path, path: Path) -> Iterator[Path]:
    """Make a folder and lock it: a process that is killed leaves the folder, and no lock."""
    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BagInWork(path) from error
        except OSError:
            pass  # some file systems of a network lock no folders
        try:
            yield folder
        finally:
            # What else is in it is somebody's.
            with suppress(OSError):
                folder.rmdir()
    finally:
        os.close(descriptor)
