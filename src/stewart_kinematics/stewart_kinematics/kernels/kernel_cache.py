# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where compiled kernels are kept, one folder per state of the sources.

numba compiles a kernel anew when its own file has changed. It does not look at what a kernel
freezes: constants of other modules, and other kernels that are inlined into it. So the name of
the folder contains a digest of every module of ours that a kernel can have anything from: those
that declare kernels and all that they import, however the packages were installed.

The folder is a subfolder of ``$NUMBA_CACHE_DIR``, by default of ``stewart/kernels`` in the user's
cache. Where that cannot be written, as in a clone that another account has set up, it is one of
the user's cache. A process holds a lock on its folder; old folders that nobody holds are removed
when a new one is made.
"""

from __future__ import annotations

from collections.abc import Sequence
import fcntl
from hashlib import blake2b
import os
from pathlib import Path
import re
import shutil
import sys
import tempfile

OURS = 'stewart_'
OWN_NAME = 'stewart_kinematics.kernels.kernel_cache'
# Generated from messages, with ROS only: nothing in there is compiled by numba.
WITHOUT_KERNELS = {'stewart_interfaces'}
# No kernels either, and so many files that they are read only if something imports them.
ROOMS = {'nodes', 'verbs'}
DECLARATION = b'stewart_kinematics.kernels.compiled import'
IMPORT = re.compile(
    rb'^[ \t]*(?:from|import)[ \t]+(stewart_[\w.]+)(?:[ \t]+import[ \t]+(\([^)]*\)|.*))?',
    re.MULTILINE,
)
WORD = re.compile(rb'\w+')
PREFIX = 'kernels-'
LOCK = '.lock'
# Branches and installations take turns; a folder holds some 10 MB.
KEPT = 4

# What lives as long as the process: the descriptor of a lock, or a temporary folder.
_held: list[object] = []


def source_digest(places: Sequence[str] | None = None) -> str:
    """Return 16 hexadecimal digits of the contents of all modules that a kernel can depend on.

    `places` is where to look for packages; where Python does by default.
    """
    whole = blake2b(digest_size=8)
    for name, text in sorted(kernel_sources(places).items()):
        whole.update(f'{name} {len(text)}\n'.encode())
        whole.update(text)
    return whole.hexdigest()


def kernel_sources(places: Sequence[str] | None = None) -> dict[str, bytes]:
    """Return the modules that declare kernels, and what they import of ours, by full name.

    Hashed, not dated: packaging tools set every time stamp to the same second.
    """
    paths = {
        f'{name}{path[len(folder) : -len(".py")]}'.replace(os.sep, '.').removesuffix(
            '.__init__'
        ): path
        for name, folder in _packages(places).items()
        for path in _modules(folder)
    }
    texts = {
        name: _read(path) for name, path in paths.items() if ROOMS.isdisjoint(name.split('.'))
    }
    found: dict[str, bytes] = {}
    pending = [name for name, text in texts.items() if DECLARATION in text]
    while pending:
        name = pending.pop()
        # It chooses the folder; no kernel has anything from it.
        if name in found or name not in paths or name == OWN_NAME:
            continue
        found[name] = texts[name] if name in texts else _read(paths[name])
        for source, names in IMPORT.findall(found[name]):
            module = source.decode()
            pending += [module, *(f'{module}.{word.decode()}' for word in WORD.findall(names))]
    return found


def kernel_folder() -> Path:
    """Return the folder for the kernels of the present sources, and hold it for this process.

    Where none can be written, a temporary one that goes with the process. Why kernels are compiled
    that may be there already is said on standard error, once.
    """
    name = f'{PREFIX}{source_digest()}'
    asked = os.environ.get('NUMBA_CACHE_DIR')
    refused = ''
    for base in (*([Path(asked)] if asked else []), _user_cache()):
        folder = base / name
        is_new = not folder.exists()
        try:
            _held.append(_hold(folder))
        except OSError as error:
            refused += f'{base}: {error.strerror}; '
            continue
        if is_new:
            remove_old(base)
            if refused:
                _say(f'{refused}compiled kernels are kept in {base}')
        return folder
    _say(f'{refused}kernels are compiled for this process alone, which takes a while')
    temporary = tempfile.TemporaryDirectory(prefix='stewart-kernels-')
    _held.append(temporary)
    return Path(temporary.name)


def remove_old(base: Path, kept: int = KEPT) -> None:
    """Remove kernel folders, but for the last `kept` used ones and those that a process holds."""
    locks = sorted(base.glob(f'{PREFIX}*/{LOCK}'), key=_last_use, reverse=True)
    for lock in locks[kept:]:
        try:
            with lock.open() as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent)
        except OSError:
            continue


def _hold(folder: Path) -> int:
    """Lock a folder until the returned descriptor is closed, and note that it is used."""
    lock = folder / LOCK
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        try:
            if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                os.utime(lock)
                return descriptor
        except FileNotFoundError:
            pass
        # Another process has removed it between the two calls.
        os.close(descriptor)


def _last_use(lock: Path) -> float:
    try:
        return lock.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _user_cache() -> Path:
    return Path(os.environ.get('XDG_CACHE_HOME') or '~/.cache').expanduser() / 'stewart/kernels'


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _packages(places: Sequence[str] | None) -> dict[str, str]:
    """Return the folders of our packages by name, as Python would find them."""
    found: dict[str, str] = {}
    for place in places or (*sys.path, str(Path(__file__).parents[1])):
        try:
            names = [name for name in os.listdir(place or '.') if name.startswith(OURS)]
        except OSError:
            continue
        for name in names:
            folder = os.path.join(place, name)
            if os.path.isfile(os.path.join(folder, '__init__.py')):
                found.setdefault(name, folder)
    return {name: folder for name, folder in found.items() if name not in WITHOUT_KERNELS}


def _modules(folder: str) -> list[str]:
    """Return the paths of all modules below a folder, in a fixed order."""
    paths: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != '__pycache__')
        paths += [os.path.join(place, name) for name in sorted(names) if name.endswith('.py')]
    return paths


def _read(path: str) -> bytes:
    with open(path, 'rb', buffering=0) as stream:
        return stream.read()
