# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that are written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import shutil

from stewart_bags.errors import BagExists, WriteFailed
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_tables.whole_files import rename_folder, whole_file


@contextmanager
def whole_bag(
    path: Path,
    storage: Storage = Storage.MCAP,
    compression: Compression = Compression.NONE,
    **custom: str,
) -> Iterator[BagWriter]:
    """Write a bag that gets its name when it is complete.

    Args:
        path: Directory to be made; must not exist.
        storage, compression: How messages lie on disk.
        **custom: Kept in the metadata.

    Yields:
        Open; closed and renamed when the block ends, removed when it fails.

    Raises:
        BagExists: If the path is taken.
        WriteFailed: If the disk takes no more.
    """
    if path.exists() or path.is_symlink():
        raise BagExists(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f'~{path.name}')
    shutil.rmtree(beside, ignore_errors=True)
    try:
        with BagWriter(
            beside, storage=storage, compression=compression, custom_data=custom
        ) as writer:
            yield writer
        _rename(beside, path)
    except BaseException as error:
        shutil.rmtree(beside, ignore_errors=True)
        if isinstance(error, WriteFailed):
            raise WriteFailed(path, error.written, error.reason, kept=False) from error
        raise


def _rename(before: Path, after: Path) -> None:
    """Rename a closed bag, its file and what the metadata call it."""
    for item in before.iterdir():
        if item.name.startswith(before.name):
            item.rename(before / item.name.replace(before.name, after.name, 1))
    metadata = before / 'metadata.yaml'
    text = metadata.read_text('utf-8')
    with whole_file(metadata) as stream:
        stream.write(text.replace(before.name, after.name))
    rename_folder(before, after)
