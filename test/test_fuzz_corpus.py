# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every case on which a parser once broke ends in its typed error, or in an answer."""

from __future__ import annotations

from pathlib import Path
import re
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

FUZZ = Path(__file__).parents[1] / 'fuzz'


@pytest.mark.ros
def test_no_case_of_the_corpus_breaks_its_parser_again() -> None:
    command = [sys.executable, str(FUZZ / 'fuzz.py'), '--replay']
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    cases = re.search(r'(\d+) cases of', done.stdout)
    assert cases is not None
    assert int(cases[1]) > len(list(FUZZ.glob('corpus/*/*.bin')))


def test_a_sample_that_its_parser_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, 'path', [str(FUZZ), *sys.path])
    refused_samples = runpy.run_path(str(FUZZ / 'fuzz.py'))['refused_samples']
    parser = SimpleNamespace(typed=(ValueError,))

    found = refused_samples(parser, [b'7', b'x'], int)
    assert found == ['sample 1: refused']
    assert refused_samples(parser, [b'0'], lambda data: 6 // int(data)) == [
        'sample 0: ZeroDivisionError at no line of ours'
    ]
