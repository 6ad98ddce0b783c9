# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a YAML file is said in a sentence, however long the file is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from stewart_tables.errors import ConfigurationError
from stewart_tables.yaml_models import read_model


@dataclass(frozen=True)
class Model:
    """Keys of a file."""

    platform: str


def test_of_many_keys_the_first_are_shown(tmp_path: Path) -> None:
    path = tmp_path / 'model.yaml'
    path.write_text('\n'.join(f'{number}: 0' for number in range(30)))
    with pytest.raises(ConfigurationError, match=r'its keys are 0, 1, .*, 11 and 18 more\)'):
        read_model(path, Model)
