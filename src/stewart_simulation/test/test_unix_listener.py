# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path
import socket
import threading

import pytest
from stewart_simulation.unix_listener import unix_listener


def test_what_is_there_answers(tmp_path: Path) -> None:
    path, refused, connected = tmp_path / 'control', [], threading.Event()

    def knock() -> None:
        """Connect as soon as there is something to connect to, as a program that waits does."""
        while not path.exists():
            pass
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            try:
                client.connect(str(path))
            except OSError as error:
                refused.append(error)
        connected.set()

    for _ in range(50):
        connected.clear()
        thread = threading.Thread(target=knock)
        thread.start()
        with unix_listener(path, socket.SOCK_STREAM):
            assert connected.wait(10.0)
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


def test_a_name_may_be_as_long_as_the_kernel_allows(tmp_path: Path) -> None:
    path = tmp_path / ('c' * (107 - len(os.fsencode(tmp_path)) - 1))
    with unix_listener(path, socket.SOCK_STREAM), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    assert list(tmp_path.iterdir()) == [path]
