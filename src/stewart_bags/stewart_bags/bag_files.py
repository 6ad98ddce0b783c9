# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The storage files behind a path: one file, or a rosbag2 directory with or without metadata.

A directory is understood from its files alone. ``metadata.yaml`` is only asked which files there
should be, so a recording that ended before it was written is not lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import errno
import os
from pathlib import Path, PurePath
import shutil
from tempfile import gettempdir

from stewart_bags.decompression import decompress_file, SUFFIXES
from stewart_bags.errors import DamagedBag, NoRoom, NotABag
from stewart_description.yaml_text import ERRORS, parsed
from stewart_tables.errors import listed

STORAGES = {'.mcap': 'mcap', '.db3': 'sqlite3'}
# Left behind by sqlite when the process that wrote was killed.
SIDE_FILES = ('-wal', '-journal')
# A file may be so many times as large as what it was compressed to.
EXPANSION = 4
FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class StorageFile:
    """One file of a bag.

    Attributes:
        storage: ``mcap`` or ``sqlite3``.
        compression: ``zstd`` or ``lz4`` if the file as a whole is compressed.
    """

    path: Path
    storage: str
    compression: str | None

    @property
    def plain_name(self) -> str:
        """Name without the suffix of the compression."""
        return self.path.stem if self.compression else self.path.name

    def left_behind(self) -> Path | None:
        """Return sqlite's side file if there is one with content: then nobody closed the bag."""
        for suffix in SIDE_FILES:
            side = self.path.with_name(self.path.name + suffix)
            if side.is_file() and side.stat().st_size:
                return side
        return None


def is_bag(path: Path) -> bool:
    """Tell whether this is a directory, or a file that is named like one of a bag."""
    return path.is_dir() or _classify(path) is not None


def storage_files(path: Path, *, complete: bool = True) -> list[StorageFile]:
    """Find the storage files of a bag, in the order of their names.

    Args:
        path: Directory, ``.mcap`` or ``.db3`` file, or one of these with ``.zstd`` or ``.lz4``
            behind.
        complete: Whether every file that ``metadata.yaml`` names has to be there.

    Raises:
        NotABag: If there is nothing of that kind.
        DamagedBag: If ``metadata.yaml`` names files that are not there.
    """
    if not path.exists():
        raise NotABag(path, 'it does not exist')
    if path.is_file():
        found = _classify(path)
        if found is None:
            raise NotABag(path, 'expected a directory or a file named .mcap, .db3 or .db3.zstd')
        return [found]
    files = [found for item in sorted(path.iterdir(), key=_natural) if (found := _classify(item))]
    if complete and (missing := missing_files(path)):
        names = listed([item.name for item in missing])
        raise DamagedBag(path, f'metadata.yaml names {names}, not there')
    if not files:
        raise NotABag(path, 'it has no .mcap and no .db3 file')
    # While a file is being compressed, and after a crash in between, both forms are there.
    plain = {item.path.name for item in files if not item.compression}
    return [item for item in files if not (item.compression and item.plain_name in plain)]


def missing_files(path: Path) -> list[Path]:
    """Return the files of a bag that its ``metadata.yaml`` names and that are not there."""
    # Not looked for by their names, of which some no file can have.
    there = {item.name for item in path.glob('*') if item.is_file()}
    return [path / name for name in sorted(_promised(path) - there)]


def room_for(files: Sequence[StorageFile]) -> Path | None:
    """Choose where to unpack or copy files: beside them if the usual place lacks the room.

    Returns:
        Directory for temporary files; None for the usual one.
    """
    needed = EXPANSION * sum(item.path.stat().st_size for item in files)
    beside = files[0].path.parent
    free = shutil.disk_usage(gettempdir()).free
    if free > needed or not os.access(beside, os.W_OK):
        return None
    return beside if shutil.disk_usage(beside).free > free else None


def unpack(item: StorageFile, target: Path) -> str | None:
    """Decompress a file that is compressed as a whole, as far as it goes.

    Returns:
        Why there is not more; None if it is whole.

    Raises:
        NoRoom: If the disk is full.
    """
    try:
        return decompress_file(item.path, target, item.compression or '')
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise NoRoom(item.path, target.parent, os.strerror(error.errno)) from error


def _classify(path: Path) -> StorageFile | None:
    if not path.is_file():
        return None
    compression = SUFFIXES.get(path.suffix)
    storage = STORAGES.get(Path(path.stem).suffix if compression else path.suffix)
    return StorageFile(path, storage, compression) if storage else None


def _natural(path: Path) -> tuple[int, str]:
    # rosbag2 numbers the parts of a split bag without leading zeros: bag_2 before bag_10.
    return len(path.name), path.name


def _promised(path: Path) -> set[str]:
    """Return the file names in metadata.yaml; none if it is missing or unreadable."""
    try:
        document = parsed((path / 'metadata.yaml').read_text('utf-8'))
        names = document['rosbag2_bagfile_information']['relative_file_paths']
        return {PurePath(str(name)).name for name in names}
    except (OSError, *ERRORS):
        return set()
