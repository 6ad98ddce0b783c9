# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/reference.md says of nodes, back ends and verbs what the code says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

DOCS = Path(__file__).resolve().parents[1] / 'docs'


def test_the_reference_is_what_the_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    script = import_module('reference')

    written = script.REFERENCE.read_text(encoding='utf-8')
    assert script.reference() == written, 'write it anew: python docs/reference.py'
