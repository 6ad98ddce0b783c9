# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What packages offer is found wherever the path of this process leads."""

from __future__ import annotations

from pathlib import Path
import sys

import pytest
from stewart_tables.installed import installed


def test_what_a_package_offers_is_found_once_it_is_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / 'fake.egg-info'
    info.mkdir()
    (info / 'PKG-INFO').write_text('Metadata-Version: 2.1\nName: fake\nVersion: 1\n')
    (info / 'entry_points.txt').write_text('[stewart.fakes]\none = json:dumps\n')
    assert not installed('stewart.fakes')

    monkeypatch.setattr(sys, 'path', [str(tmp_path), *sys.path])
    assert installed('stewart.fakes').names == {'one'}

    monkeypatch.undo()
    assert not installed('stewart.fakes')
