# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An environment that works is there until the one that replaces it is complete."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
import shutil
from types import ModuleType, SimpleNamespace

import pytest


@pytest.fixture
def built(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of a package built with the complete environment of older pins."""
    for name in ('check_python_parts', 'check_tools'):
        monkeypatch.setattr(bootstrap, name, lambda: None)
    monkeypatch.setattr(bootstrap, 'run', lambda *_, **__: None)
    disk_of(bootstrap, monkeypatch, 10e9)
    bootstrap.VENV.mkdir()
    (bootstrap.VENV / '.stamp').write_text('older pins')
    (bootstrap.VENV / 'old').touch()
    stamp = bootstrap.ROOT / 'install/stewart_x/.stamp'
    stamp.parent.mkdir(parents=True)
    stamp.touch()
    return stamp


def disk_of(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, free: float) -> None:
    """Give the clone a disk with so many free bytes."""
    disk = SimpleNamespace(free=int(free))
    monkeypatch.setattr(bootstrap.shutil, 'disk_usage', lambda _path: disk)


def installing(bootstrap: ModuleType, error: BaseException | None = None) -> object:
    """Return what stands in for ``install``: half an environment, then perhaps an error."""

    def install(_files: list[Path]) -> None:
        bootstrap.VENV.mkdir(exist_ok=True)
        (bootstrap.VENV / 'new').touch()
        if error is not None:
            raise error

    return install


def contents(folder: Path) -> set[str]:
    """Return the names in a folder."""
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize('kind', ['SetupError', 'OSError', 'KeyboardInterrupt'])
def test_set_up_that_fails_leaves_what_was_there(
    kind: str, bootstrap: ModuleType, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = getattr(bootstrap, kind, None) or getattr(builtins, kind)
    monkeypatch.setattr(bootstrap, 'install', installing(bootstrap, error('the network is down')))
    with pytest.raises(error):
        bootstrap.make_venv()
    assert contents(bootstrap.VENV) == {'.stamp', 'old'}
    assert built.exists()


def test_first_set_up_that_fails_leaves_nothing(
    bootstrap: ModuleType, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(bootstrap.VENV)
    monkeypatch.setattr(bootstrap, 'install', installing(bootstrap, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        bootstrap.make_venv()
    assert not bootstrap.VENV.exists()


def test_complete_environment_takes_the_place_of_the_old_one(
    bootstrap: ModuleType, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def install(files: list[Path]) -> None:
        assert contents(bootstrap.BEFORE) == {'.stamp', 'old'}
        assert built.exists()
        installing(bootstrap)(files)

    monkeypatch.setattr(bootstrap, 'install', install)
    bootstrap.make_venv()
    assert contents(bootstrap.VENV) == {'.stamp', 'new'}
    assert not bootstrap.BEFORE.exists()
    assert not built.exists()


def test_what_a_killed_set_up_put_aside_is_put_back(
    bootstrap: ModuleType, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bootstrap.VENV / '.stamp').write_text(bootstrap.venv_key())
    bootstrap.VENV.rename(bootstrap.BEFORE)
    (bootstrap.VENV / 'half').mkdir(parents=True)
    monkeypatch.setattr(bootstrap, 'install', installing(bootstrap, AssertionError()))
    bootstrap.make_venv()
    assert contents(bootstrap.VENV) == {'.stamp', 'old'}
    assert built.exists()


def test_environment_is_removed_first_where_two_have_no_room(
    bootstrap: ModuleType, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_of(bootstrap, monkeypatch, 2e9)
    monkeypatch.setattr(bootstrap, 'size_of', lambda *_folders: 0.5e9)
    with pytest.raises(bootstrap.SetupError, match=r'2\.5 GB are free'):
        bootstrap.make_venv()
    assert contents(bootstrap.VENV) == {'.stamp', 'old'}

    monkeypatch.setattr(bootstrap, 'size_of', lambda *_folders: 1.5e9)
    monkeypatch.setattr(bootstrap, 'install', installing(bootstrap, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        bootstrap.make_venv()
    assert not bootstrap.VENV.exists()


def test_size_counts_what_two_folders_share_once(bootstrap: ModuleType, tmp_path: Path) -> None:
    folders = [tmp_path / 'venv', tmp_path / 'cache']
    for folder in folders:
        folder.mkdir()
    (folders[0] / 'wheel').write_bytes(bytes(1_000_000))
    os.link(folders[0] / 'wheel', folders[1] / 'wheel')
    assert 1_000_000 <= bootstrap.size_of(*folders, tmp_path / 'absent') < 1_100_000


@pytest.mark.parametrize('error', [KeyboardInterrupt, OSError])
def test_interrupted_command_has_ended_before_its_files_are_moved(
    bootstrap: ModuleType, error: type[BaseException]
) -> None:
    code = 'import os, time; print(os.getpid(), flush=True); time.sleep(60)'
    pids = []

    def interrupt(line: str) -> None:
        pids.append(int(line))
        raise error

    default = 'import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); '
    with pytest.raises(error):
        bootstrap.run([bootstrap.INTERPRETER, '-c', default + code], {}, interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
