# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A page is served where it was asked for, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
import socket
from urllib.error import HTTPError
from urllib.request import build_opener, HTTPCookieProcessor, Request, urlopen

import pytest
from stewart_kinematics.errors import ConfigurationError
from stewart_viewer import server as page_server
from stewart_viewer.server import AddressTaken, open_page, open_server, Page
from stewart_viewer.verbs import view
from typed_words import parsed
import viser

TOKEN = 'abc-DEF_123'


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


def test_any_port_is_one_that_nobody_has_taken_meanwhile(
    server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = page_server._free_port
    taken = server.get_port()
    # Of those for the address, the server behind the gate and the gate.
    found = iter([taken, find('127.0.0.1', 0), taken])
    monkeypatch.setattr(page_server, '_free_port', lambda *where: next(found, 0) or find(*where))
    with closing(open_page('127.0.0.1', 0)) as page:
        assert page.gate.port != taken
        assert asked(page.url)[0] == 200


def asked(url: str, cookie: str = '', **fields: str) -> tuple[int, bytes]:
    """Return status and content of an address, as a browser with a cookie gets it."""
    headers = {'Cookie': cookie} if cookie else {}
    headers |= {name.replace('_', '-'): value for name, value in fields.items()}
    try:
        with urlopen(Request(url, headers=headers), timeout=60) as answer:
            return answer.status, answer.read(4096)
    except HTTPError as error:
        return error.code, error.read()


@pytest.fixture(scope='module')
def bare() -> Iterator[Page]:
    """Serve a page without a token."""
    opened = open_page('127.0.0.1', 0)
    yield opened
    opened.close()


def test_a_page_closes_without_a_word_under_its_browsers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    page = open_page('127.0.0.1', 0)
    with socket.create_connection(('127.0.0.1', page.gate.port)) as browser:
        # Who comes later is answered when the gate has this one, too.
        assert asked(page.url)[0] == 200
        page.close()
        assert browser.recv(100) == b''
    assert not caplog.records


def handshake(port: int, **fields: str) -> int:
    """Return the status with which a websocket to a page begins, as its browser asks for it."""
    headers = {
        'Upgrade': 'websocket',
        'Connection': 'Upgrade',
        'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'Sec-WebSocket-Version': '13',
    }
    headers |= {name.replace('_', '-'): value for name, value in fields.items()}
    connection = HTTPConnection('127.0.0.1', port, timeout=60)
    with closing(connection):
        connection.request('GET', '/', headers=headers)
        return connection.getresponse().status


def test_pages_of_other_sites_reach_nothing(bare: Page) -> None:
    for origin in ('http://evil.example', 'null', 'http://127.0.0.1:1', f'{bare.url}.example'):
        assert handshake(bare.gate.port, Origin=origin) == 403
        assert asked(bare.url, Origin=origin)[0] == 403
    # Its own page, and what is no browser.
    for fields in ({'Origin': bare.url}, {}):
        assert handshake(bare.gate.port, **fields) == 101
        assert b'<html' in asked(bare.url, **fields)[1].lower()


def test_names_that_others_make_lead_here_reach_nothing(bare: Page) -> None:
    port = bare.gate.port
    found = {
        host: asked(bare.url, Host=f'{host}:{port}')[0]
        for host in (
            'evil.example',
            'localhost.evil.example',
            '',
            'localhost',
            '[::1]',
            '10.0.0.7',
        )
    }
    assert list(found.values()) == [403, 403, 403, 200, 200, 200], found


def test_the_page_is_not_shown_within_others(bare: Page) -> None:
    frame = {'Sec_Fetch_Dest': 'iframe', 'Sec_Fetch_Site': 'cross-site'}
    assert asked(bare.url, **frame)[0] == 403
    assert asked(bare.url, Sec_Fetch_Dest='document', Sec_Fetch_Site='cross-site')[0] == 200


@pytest.mark.parametrize(
    'up', ['..', '%2e%2e', '..%2f..', '%2E%2E%2F%2E%2E', 'assets/../..', '....//..', '..%5c..']
)
def test_no_address_leads_out_of_the_pages_folder(up: str, bare: Page) -> None:
    # Two folders above the page's own there is a file of the library.
    for path in (f'/{up}/__init__.py', f'/{up}/{up}/__init__.py', f'/{up}/{up}/{up}/etc/passwd'):
        status, content = asked(f'{bare.url}{path}')
        assert status in {400, 403, 404}, path
        assert b'ViserServer' not in content
    assert asked(f'{bare.url}/{viser.__file__}')[0] in {400, 403, 404}


def test_the_server_behind_the_gate_hears_the_gate_alone(bare: Page) -> None:
    assert asked(f'http://127.0.0.1:{bare.server.get_port()}')[0] == 403
    assert handshake(bare.server.get_port()) == 403
    assert handshake(bare.server.get_port(), X_Stewart_Gate='guessed') == 403


@pytest.fixture
def page() -> Iterator[Page]:
    opened = open_page('127.0.0.1', 0, TOKEN)
    yield opened
    opened.close()


def test_the_page_behind_a_token_is_there_for_who_knows_it(page: Page) -> None:
    plain = page.url.split('?')[0]
    jar = build_opener(HTTPCookieProcessor())

    with jar.open(page.url, timeout=60) as answer:
        assert answer.url == plain
        assert b'<html' in answer.read(4096).lower()
    cookie = f'stewart_token_{page.gate.port}={TOKEN}'
    assert asked(plain, cookie)[0] == 200
    for other in ('theme=dark', 'prefs={"a":1,"b":2}', 'a b=1', 'theme', 'n=Jörg', 'x=["1"]'):
        assert asked(plain, f'{other}; {cookie}')[0] == 200
    assert asked(plain, cookie, Origin='http://evil.example')[0] == 403


def test_two_pages_of_one_host_are_open_in_one_browser(page: Page) -> None:
    jar = build_opener(HTTPCookieProcessor())
    with closing(open_page('127.0.0.1', 0, 'another-token')) as other:
        for url in (page.url, other.url, page.url.split('?')[0]):
            with jar.open(url, timeout=60) as answer:
                assert b'<html' in answer.read(4096).lower()


@pytest.mark.parametrize(
    ('query', 'cookie'),
    [
        ('', ''),
        ('?token=', ''),
        (f'?token={TOKEN[:-1]}', ''),
        (f'?token={TOKEN}x', ''),
        ('', f'stewart_token_{{}}={TOKEN[:-1]}'),
        ('', f'other={TOKEN}'),
    ],
)
def test_who_does_not_know_the_token_gets_nothing(page: Page, query: str, cookie: str) -> None:
    status, content = asked(page.url.split('?')[0] + query, cookie.format(page.gate.port))
    assert (status, b'<html' in content.lower()) == (403, False)


def test_a_page_at_an_address_of_ipv6_is_there() -> None:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(('::1', 0))
        except OSError as error:
            pytest.skip(f'no IPv6 here: {error}')
    with closing(open_page('::1', 0)) as page:
        assert page.url == f'http://[::1]:{page.gate.port}'
        assert asked(page.url, Origin=page.url)[0] == 200
        assert asked(page.url, Origin='http://[::2]')[0] == 403


def test_what_is_no_request_is_closed_without_an_answer(page: Page) -> None:
    port = int(page.url.split(':')[2].split('/')[0])
    with socket.create_connection(('127.0.0.1', port), timeout=60.0) as rude:
        rude.sendall(b'\x00\x01\r\n\r\n')
        assert rude.recv(100) == b''


@pytest.mark.parametrize(
    ('host', 'token', 'words'),
    [
        ('0.0.0.0', '', r'STEWART_TOKEN for host 0\.0\.0\.0: expected a token'),
        ('127.0.0.1', 'short', '8 to 128 letters'),
        ('127.0.0.1', 'not a token\r\n', '8 to 128 letters'),
    ],
)
def test_a_page_for_others_needs_a_token(host: str, token: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        open_page(host, 0, token)


@pytest.mark.parametrize('port', ['-1', '65536', 'http', '8080.0', ''])
def test_what_is_no_port_is_a_usage_error(capsys: pytest.CaptureFixture[str], port: str) -> None:
    with pytest.raises(SystemExit, match='2'):
        parsed(view, f'--port={port}')
    assert f'expected a port from 0 to 65535, got {port!r}' in capsys.readouterr().err
    assert parsed(view, '--port', '65535').port == 65535


@pytest.mark.parametrize('option', ['--taught-to', '--record-to'])
def test_a_place_that_cannot_be_written_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    with pytest.raises(SystemExit, match='2'):
        parsed(view, option, f'{__file__}/below')
    assert f'argument {option}: expected a f' in capsys.readouterr().err
