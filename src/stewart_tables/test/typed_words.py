# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Verbs of ``stewart``, called as if their words had been typed."""

from __future__ import annotations

import argparse
from typing import Any


def parsed(verb: Any, *words: object) -> argparse.Namespace:
    """Return what a verb's options make of the words of a command line."""
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    return parser.parse_args([str(word) for word in words])


def typed(verb: Any, *words: object) -> int:
    """Run a verb with the words of a command line; return its exit code."""
    return int(verb.main(parsed(verb, *words)))
