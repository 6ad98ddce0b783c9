# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An environment that works is there until the one that replaces it is complete."""

from __future__ import annotations

import builtins
from collections.abc import Callable
import os
from pathlib import Path
import shutil
from types import SimpleNamespace

import pins
import places
import pytest
import steps
import virtual_environment


@pytest.fixture
def built(empty_clone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of a package built with the complete environment of older pins."""
    for name in ('check_python_parts', 'check_tools'):
        monkeypatch.setattr(virtual_environment, name, lambda: None)
    monkeypatch.setattr(virtual_environment, 'run', lambda *_, **__: None)
    disk_of(monkeypatch, 10e9)
    places.VENV.mkdir()
    (places.VENV / '.stamp').write_text('older pins')
    (places.VENV / 'old').touch()
    stamp = places.ROOT / 'install/stewart_x/.stamp'
    stamp.parent.mkdir(parents=True)
    stamp.touch()
    return stamp


def disk_of(monkeypatch: pytest.MonkeyPatch, free: float) -> None:
    """Give the clone a disk with so many free bytes."""
    disk = SimpleNamespace(free=int(free))
    monkeypatch.setattr(shutil, 'disk_usage', lambda _path: disk)


@pytest.fixture
def make_venv(built: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return ``make_venv`` with a stand-in for ``install``.

    It installs one file, looks at what is there meanwhile, and ends with an error if there is one.
    """

    def make(error: BaseException | None = None, look: Callable[[], None] | None = None) -> None:
        def install(_files: list[Path]) -> None:
            places.VENV.mkdir(exist_ok=True)
            (places.VENV / 'new').touch()
            if look is not None:
                look()
            if error is not None:
                raise error

        monkeypatch.setattr(virtual_environment, 'install', install)
        virtual_environment.make_venv()

    return make


def contents(folder: Path) -> set[str]:
    """Return the names in a folder."""
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize('kind', ['SetupError', 'OSError', 'KeyboardInterrupt'])
def test_set_up_that_fails_leaves_what_was_there(
    kind: str, built: Path, make_venv: Callable[..., None]
) -> None:
    error = getattr(steps, kind, None) or getattr(builtins, kind)
    with pytest.raises(error):
        make_venv(error('the network is down'))
    assert contents(places.VENV) == {'.stamp', 'old'}
    assert built.exists()


def test_first_set_up_that_fails_leaves_nothing(make_venv: Callable[..., None]) -> None:
    shutil.rmtree(places.VENV)
    with pytest.raises(KeyboardInterrupt):
        make_venv(KeyboardInterrupt())
    assert not places.VENV.exists()


def test_complete_environment_takes_the_place_of_the_old_one(
    built: Path, make_venv: Callable[..., None]
) -> None:
    def look() -> None:
        assert contents(places.BEFORE) == {'.stamp', 'old'}
        assert built.exists()

    make_venv(look=look)
    assert contents(places.VENV) == {'.stamp', 'new'}
    assert not places.BEFORE.exists()
    assert not built.exists()


def test_what_a_killed_set_up_put_aside_is_put_back(
    built: Path, make_venv: Callable[..., None]
) -> None:
    (places.VENV / '.stamp').write_text(pins.venv_key())
    places.VENV.rename(places.BEFORE)
    (places.VENV / 'half').mkdir(parents=True)
    make_venv(AssertionError('installed once more'))
    assert contents(places.VENV) == {'.stamp', 'old'}
    assert built.exists()


def test_environment_is_removed_first_where_two_have_no_room(
    make_venv: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_of(monkeypatch, 2e9)
    monkeypatch.setattr(virtual_environment, 'size_of', lambda *_folders: 0.5e9)
    with pytest.raises(steps.SetupError, match=r'2\.5 GB are free'):
        make_venv()
    assert contents(places.VENV) == {'.stamp', 'old'}

    monkeypatch.setattr(virtual_environment, 'size_of', lambda *_folders: 1.5e9)
    with pytest.raises(KeyboardInterrupt):
        make_venv(KeyboardInterrupt())
    assert not places.VENV.exists()


def test_size_counts_what_two_folders_share_once(tmp_path: Path) -> None:
    folders = [tmp_path / 'venv', tmp_path / 'cache']
    for folder in folders:
        folder.mkdir()
    (folders[0] / 'wheel').write_bytes(bytes(1_000_000))
    os.link(folders[0] / 'wheel', folders[1] / 'wheel')
    assert 1_000_000 <= virtual_environment.size_of(*folders, tmp_path / 'absent') < 1_100_000


@pytest.mark.parametrize('error', [KeyboardInterrupt, OSError])
def test_interrupted_command_has_ended_before_its_files_are_moved(
    empty_clone: Path, error: type[BaseException]
) -> None:
    code = 'import os, time; print(os.getpid(), flush=True); time.sleep(60)'
    pids = []

    def interrupt(line: str) -> None:
        pids.append(int(line))
        raise error

    default = 'import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); '
    with pytest.raises(error):
        steps.run([places.INTERPRETER, '-c', default + code], {}, interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
