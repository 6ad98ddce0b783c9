# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the data files of this package, with or without ament."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path


class UnknownPlatformError(ValueError):
    """No platform of that name is stored."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(
            f'unknown platform {name!r}: known are {", ".join(known)}, '
            'or give the path of a .yaml file'
        )
        self.name = name
        self.known = known


def platform_path(name_or_path: str | os.PathLike[str]) -> Path:
    """Find the YAML file of a platform, by its name (``vigo``) or path.

    What has a suffix or a directory part is taken for a path.

    Raises:
        UnknownPlatformError: If no platform of that name is stored.
        FileNotFoundError: If a path was given and there is no such file, or the data files are not
            installed.
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and not path.suffix and path.name == name_or_path:
        stored = _share() / 'platforms' / f'{name_or_path}.yaml'
        if not stored.is_file():
            raise UnknownPlatformError(name_or_path, platform_names())
        return stored
    if not path.is_file():
        raise FileNotFoundError(f'no platform file at {path.absolute()}')
    return path


def platform_names() -> list[str]:
    """Return the names of the stored platforms, sorted."""
    return sorted(path.stem for path in (_share() / 'platforms').glob('*.yaml'))


def urdf_path() -> Path:
    """Return the parametric xacro file."""
    return _share() / 'urdf' / 'stewart.urdf.xacro'


def rviz_path() -> Path:
    """Return the RViz configuration."""
    return _share() / 'rviz' / 'stewart.rviz'


def data_folder(package_folder: Path, name: str) -> Path:
    """Find a data folder of the package whose Python package is in a folder of the same name.

    Raises:
        FileNotFoundError: If it is not installed.
    """
    for directory in _candidates(package_folder):
        if (directory / name).is_dir():
            return directory / name
    raise FileNotFoundError(
        f'the data files of {package_folder.name} are neither beside the package nor under '
        'AMENT_PREFIX_PATH'
    )


def _share() -> Path:
    """Return the directory that holds ``platforms/``, ``urdf/`` and ``rviz/``."""
    return data_folder(Path(__file__).absolute().parent, 'platforms').parent


def _candidates(package_folder: Path) -> Iterator[Path]:
    """Yield where the data may be, the place that belongs to this very package first.

    An overlay's module must not read an underlay's files, so AMENT_PREFIX_PATH comes last.
    Resolving the symlinks finds the sources for an editable or a ``--symlink-install`` install.
    """
    share = Path('share', package_folder.name)
    yield package_folder.resolve().parent
    for ancestor in package_folder.parents:
        yield ancestor / share
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if prefix:
            yield prefix / share
