# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every case on which a parser once broke ends in its typed error, or in an answer."""

from __future__ import annotations

from pathlib import Path
import re
import subprocess
import sys

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
