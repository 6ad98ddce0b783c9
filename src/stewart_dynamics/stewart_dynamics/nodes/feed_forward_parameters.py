# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the feed-forward node; no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_tables.settings import param


@dataclass(frozen=True)
class FeedForwardParameters:
    """Parameters of the feed-forward node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file; with masses')
    enabled: bool = param(default=True, description='false: publish nothing, masses not needed')
