# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Back ends are found by name, and a wrong name never moves another drive."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

from loopback import LoopbackBackend, LoopbackOptions
import pytest
from stewart_driver import backend
from stewart_driver.backend import Backend, find_backend, GROUP
from stewart_driver.errors import UnknownBackend

OFFERED = EntryPoints(
    [
        EntryPoint('loopback', 'loopback:LoopbackBackend', GROUP),
        EntryPoint('ethercat', 'nobody.has.this:Backend', GROUP),
    ]
)


@pytest.fixture(autouse=True)
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that two packages with back ends are installed."""
    monkeypatch.setattr(backend, 'installed', lambda group: OFFERED.select(group=group))


def test_a_back_end_is_found_by_its_name() -> None:
    assert find_backend('loopback') is LoopbackBackend


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        UnknownBackend, match="'simulate'; installed are: ethercat, loopback"
    ) as raised:
        find_backend('simulate')
    assert raised.value.known == ('ethercat', 'loopback')


def test_a_broken_back_end_is_not_replaced_by_another() -> None:
    with pytest.raises(ModuleNotFoundError, match='nobody'):
        find_backend('ethercat')


def test_where_none_is_installed_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, 'installed', lambda group: EntryPoints())
    with pytest.raises(UnknownBackend, match='installed are: none'):
        find_backend('simulated')


def test_a_back_end_that_says_nothing_more_has_an_answer_to_every_question() -> None:
    quiet = LoopbackBackend(LoopbackOptions())
    assert isinstance(quiet, Backend)
    assert quiet.wire is None
    assert (quiet.notes, quiet.why_live, quiet.rescue(), quiet.details) == ('', '', '', {})
    assert quiet.shift == 0.0
    assert quiet.now < 0.0
    assert quiet.stall_limit == float('inf')
