# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A page is served where it was asked for, or not at all."""

from __future__ import annotations

import argparse
import socket
from urllib.request import urlopen

import pytest
from stewart_viewer.server import AddressTaken, open_server
from stewart_viewer.verbs import view
import viser


def test_the_page_is_there(server: viser.ViserServer) -> None:
    with urlopen(f'http://127.0.0.1:{server.get_port()}', timeout=60) as answer:
        assert b'<html' in answer.read(4096).lower()


def test_nobody_else_reaches_it(server: viser.ViserServer) -> None:
    with socket.socket() as outside:
        outside.settimeout(2.0)
        with pytest.raises(OSError, match='refused'):
            outside.connect(('127.0.0.2', server.get_port()))


def test_a_taken_port_is_refused_in_a_sentence(server: viser.ViserServer) -> None:
    with pytest.raises(AddressTaken, match=rf'127\.0\.0\.1:{server.get_port()}: it is taken'):
        open_server('127.0.0.1', server.get_port())


@pytest.mark.parametrize('port', ['-1', '65536', 'http', '8080.0', ''])
def test_what_is_no_port_is_a_usage_error(capsys: pytest.CaptureFixture[str], port: str) -> None:
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)

    with pytest.raises(SystemExit, match='2'):
        parser.parse_args([f'--port={port}'])
    assert f'expected a port from 0 to 65535, got {port!r}' in capsys.readouterr().err
    assert parser.parse_args(['--port', '65535']).port == 65535
