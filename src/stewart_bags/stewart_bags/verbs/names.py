# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the ROS graph on the command line, refused with what was expected."""

from __future__ import annotations

import argparse
import re

WORD = '[a-z_][a-z0-9_]*'
NAMES = re.compile(f'/?{WORD}(/{WORD})*', re.IGNORECASE | re.ASCII)


def graph_name(text: str) -> str:
    """Return the name of a topic or of a namespace."""
    if not NAMES.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f'expected names of letters, digits and _ with / between them, got {text!r}'
        )
    return text


def graph_prefix(text: str) -> str:
    """Return what stands before names, such as a namespace; it may be empty."""
    return text and graph_name(text)
