# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/reference.md says of nodes, back ends and verbs what the code says."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
import os
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from rclpy.utilities import get_default_context

DOCS = Path(__file__).resolve().parents[1] / 'docs'


def test_the_reference_is_what_the_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    script = import_module('reference')
    domains, nodes = [], script.nodes

    def watched(folder: Path) -> Iterator[Any]:
        domains.append(get_default_context().get_domain_id())
        yield from nodes(folder)

    monkeypatch.setattr(script, 'nodes', watched)

    written = script.REFERENCE.read_text(encoding='utf-8')
    assert script.reference() == written, 'write it anew: python docs/reference.py'
    # Where other nodes run the recorder would have their topics.
    assert domains != [int(os.environ['ROS_DOMAIN_ID'])]
