# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path
import socket
import threading

import pytest
from stewart_simulation.loop import unix_connection, unix_listener


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
