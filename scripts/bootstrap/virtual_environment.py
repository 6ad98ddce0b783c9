# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The virtual environment: one that works stays until the one that replaces it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import shutil

from machine import check_disk, check_python_parts, check_tools, DISK_SPACE_GB
from pins import install, relocate_cmake_exports, requirement_files, venv_key
import places
from ros_environment import outside_environment
from steps import is_stamped, run, show, step
from workspace import built_packages, package_folders, remove_builds


def is_complete(venv: Path) -> bool:
    """Return whether a set-up came to the end of an environment, whatever its pins were."""
    stamp = venv / '.stamp'
    return stamp.exists() and stamp.read_text() != ''


def keep_one_environment() -> None:
    """Remove the environment of before if its successor is complete, else put it back."""
    if not is_complete(places.VENV):
        shutil.rmtree(places.VENV, ignore_errors=True)
        if places.BEFORE.exists():
            places.BEFORE.rename(places.VENV)
            show('What was set up before is back in .venv.')
    shutil.rmtree(places.BEFORE, ignore_errors=True)


@contextmanager
def replaced_environment() -> Iterator[None]:
    """Put the environment aside while a new one is made, and back if that fails."""
    try:
        if places.VENV.exists():
            try:
                places.VENV.rename(places.BEFORE)
            except OSError:  # .cache may be on another disk.
                shutil.rmtree(places.VENV, ignore_errors=True)
        yield
    finally:
        keep_one_environment()


def size_of(*folders: Path) -> int:
    """Return the bytes that removing some folders frees; uv links its cache into .venv."""
    inodes = {}
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                status = os.lstat(os.path.join(place, name))
                inodes[status.st_dev, status.st_ino] = 512 * status.st_blocks
    return sum(inodes.values())


def make_room() -> None:
    """Refuse a full disk, and remove the old environment if there is no room beside it."""
    free = shutil.disk_usage(places.ROOT).free
    if free >= 1e9 * DISK_SPACE_GB:
        return
    ours = (places.VENV, places.CACHE / 'uv')
    check_disk(free + size_of(*ours))
    if places.VENV.exists():
        show('There is no room for two environments: removing the old one first.')
    for folder in ours:
        shutil.rmtree(folder, ignore_errors=True)


def make_venv() -> None:
    """Make the virtual environment anew, unless it is as it should be."""
    keep_one_environment()  # A killed set-up has left two.
    stamp = places.VENV / '.stamp'
    key = venv_key()
    if is_stamped(stamp, key):
        return
    check_python_parts()
    check_tools()
    make_room()
    name = 'Installing ROS 2 Jazzy and the pinned packages into .venv'
    with step(name), replaced_environment():
        run([places.INTERPRETER, '-m', 'venv', str(places.VENV)], outside_environment())
        install(requirement_files())
        relocate_cmake_exports()
        stamp.write_text(key)
        remove_builds({*built_packages(), *package_folders()})
