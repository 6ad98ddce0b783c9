# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The packages of the workspace: which have changed, and how colcon builds those."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import hashlib
import os
from pathlib import Path
import re
import shutil

from machine import check_tools
from pins import requirement_files, venv_key
import places
from ros_environment import underlay
from steps import digest, is_stamped, run, step

# What CMake and setuptools read.
BUILT_FROM = re.compile(r'(package\.xml|setup\.(py|cfg)|CMakeLists\.txt|.*\.(msg|srv|action))$')


def package_folders() -> dict[str, Path]:
    """Return the folder of every package of the workspace by its name."""
    files = sorted(places.ROOT.glob('src/*/package.xml'))
    return {file.parent.name: file.parent for file in files}


def files_of(package: Path) -> Iterator[Path]:
    """Return the files of a package but its tests, in a fixed order."""
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(f for f in folders if f not in {'__pycache__', 'test'})
        yield from (Path(folder, name) for name in sorted(names))


def package_key(package: Path) -> str:
    """Return what the build of a package depends on.

    The folder of the Python modules is linked, so they do not count. Other files are linked one
    by one, launch files among them, and count by name. What CMake and setuptools read counts
    in full.
    """
    parts: list[str | bytes] = [venv_key()]
    for path in files_of(package):
        if BUILT_FROM.match(path.name):
            parts.append(path.read_bytes())
        if path.suffix != '.py' or 'launch' in path.parent.name:
            parts.append(str(path.relative_to(package)))
    return digest(*parts)


def write_sums() -> None:
    """Write the checksums of what the build was made from, for env.sh to tell a change."""
    paths = requirement_files()
    for package in package_folders().values():
        paths += [path for path in files_of(package) if BUILT_FROM.match(path.name)]
    sums = (
        f'{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(places.ROOT)}\n'
        for path in paths
    )
    (places.VENV / 'built.sha256').write_text(''.join(sums))


def built_packages() -> set[str]:
    """Return the names of the packages that a set-up has built; nothing else is ours to remove."""
    return {stamp.parent.name for stamp in places.ROOT.glob('install/*/.stamp')}


def remove_builds(names: Iterable[str]) -> None:
    """Remove what was built of some packages; other folders in build/ are somebody's results."""
    for name in names:
        shutil.rmtree(places.ROOT / 'build' / name, ignore_errors=True)
        shutil.rmtree(places.ROOT / 'install' / name, ignore_errors=True)


def build_workspace() -> None:
    """Build what has changed, with links to the sources, and remove packages that have gone."""
    packages = package_folders()
    remove_builds(built_packages() - set(packages))
    keys = {name: package_key(folder) for name, folder in packages.items()}
    stamps = {name: places.ROOT / 'install' / name / '.stamp' for name in packages}
    due = [name for name in packages if not is_stamped(stamps[name], keys[name])]
    if not due:
        return
    with step(f'Building {len(due)} of {len(packages)} packages of the workspace'):
        check_tools()
        remove_builds(due)
        colcon_build(due)
        for name in due:
            stamps[name].write_text(keys[name])


def colcon_build(packages: list[str]) -> None:
    """Build some packages."""
    done = 0

    def progress(line: str) -> str | None:
        nonlocal done
        done += line.startswith('Finished <<<')
        return f'{done} of {len(packages)} packages'

    command = ['colcon', '--log-base', 'log/colcon', '--log-level', 'error', 'build']
    command += ['--base-paths', 'src', '--symlink-install', '--parallel-workers', '2']
    command += ['--packages-select', *packages, '--cmake-args', '-DBUILD_TESTING=OFF', '-Wno-dev']
    run(command, underlay(), progress)
