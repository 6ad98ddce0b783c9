# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that are written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import shutil

from stewart_bags.errors import BagExists, WriteFailed
from stewart_bags.storages import write_metadata
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_tables.whole_files import rename_folder, whole_file
import yaml


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

    def renamed(name: str) -> str:
        return name.replace(before.name, after.name, 1)

    for item in before.iterdir():
        if item.name.startswith(before.name):
            item.rename(before / renamed(item.name))
    path = before / 'metadata.yaml'
    document = yaml.load(path.read_text('utf-8'), yaml.CSafeLoader)
    information = document['rosbag2_bagfile_information']
    information['relative_file_paths'] = [
        renamed(name) for name in information['relative_file_paths']
    ]
    for file in information['files']:
        file['path'] = renamed(file['path'])
    with whole_file(path) as stream:
        # Dumped, for YAML has to quote some names, such as "#1".
        write_metadata(document, stream)
    rename_folder(before, after)
