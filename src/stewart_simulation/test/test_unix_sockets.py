# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from contextlib import nullcontext
import os
from pathlib import Path
import socket
import threading
from types import SimpleNamespace

import pytest
from stewart_simulation.errors import RigError
from stewart_simulation.loop import unix_connection, unix_listener
from stewart_simulation.rig.directory import claim


def test_what_is_there_answers(tmp_path: Path) -> None:
    path, refused, connected = tmp_path / 'control', [], threading.Event()

    def knock() -> None:
        """Connect as soon as there is something to connect to, as a program that waits does."""
        while not path.exists():
            pass
        try:
            unix_connection(path, socket.SOCK_STREAM).close()
        except OSError as error:
            refused.append(error)
        connected.set()

    for _ in range(50):
        connected.clear()
        thread = threading.Thread(target=knock)
        thread.start()
        with unix_listener(path, socket.SOCK_STREAM):
            assert connected.wait(60.0)
            thread.join()
        path.unlink()
    assert not refused
    assert not list(tmp_path.iterdir())


def test_nobody_is_pushed_aside(tmp_path: Path) -> None:
    path = tmp_path / 'control'
    path.write_text('somebody else')
    with pytest.raises(FileExistsError):
        unix_listener(path, socket.SOCK_STREAM)
    assert [entry.name for entry in tmp_path.iterdir()] == ['control']
    assert path.read_text() == 'somebody else'


def test_a_folder_may_be_of_any_depth(tmp_path: Path) -> None:
    path = tmp_path / ('d' * 200) / ('e' * 200) / 'control'
    path.parent.mkdir(parents=True)
    before = os.listdir('/proc/self/fd')
    with (
        unix_listener(path, socket.SOCK_STREAM) as listener,
        unix_connection(path, socket.SOCK_STREAM) as client,
    ):
        client.sendall(b'heard')
        answering, _ = listener.accept()
        with answering:
            assert answering.recv(5) == b'heard'
    assert list(path.parent.iterdir()) == [path]
    assert os.listdir('/proc/self/fd') == before


def test_where_nobody_listens_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        unix_connection(tmp_path / 'folder' / 'control', socket.SOCK_STREAM)
    with pytest.raises(FileNotFoundError):
        unix_connection(tmp_path / 'control', socket.SOCK_STREAM)
    unix_listener(tmp_path / 'control', socket.SOCK_STREAM).close()
    with pytest.raises(ConnectionRefusedError):
        unix_connection(tmp_path / 'control', socket.SOCK_STREAM)


@pytest.mark.parametrize(('mode', 'refused'), [(0o777, True), (0o1777, False), (0o755, False)])
def test_a_rig_takes_no_folder_that_others_could_exchange(
    tmp_path: Path, mode: int, refused: bool
) -> None:
    folder = tmp_path / 'shared' / 'ex800'
    folder.mkdir(parents=True)
    folder.parent.chmod(mode)

    with pytest.raises(RigError, match='is open to others') if refused else nullcontext():
        claim(folder)


def test_a_rig_takes_no_folder_in_a_folder_of_somebody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'ex800').mkdir()
    theirs = SimpleNamespace(st_mode=0o40755, st_uid=os.geteuid() + 1)

    def stat(path: Path, *, follow_symlinks: bool = True) -> object:
        return theirs if path == tmp_path else os.stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, 'stat', stat)
    with pytest.raises(RigError, match='is open to others'):
        claim(tmp_path / 'ex800')
