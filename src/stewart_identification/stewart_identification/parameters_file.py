# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``parameters.yaml``: a platform file with the body that was identified.

It is the description that the identification began with, its platform and payload replaced by the
one body found. The block ``identification`` holds covariance, intervals and provenance; whoever
reads a platform leaves it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from stewart_description import platform_path
from stewart_description.yaml_text import parsed
from stewart_identification.errors import NotIdentifiable
from stewart_identification.outcome import Outcome
from stewart_tables.whole_files import whole_file
import yaml

NAME, BEFORE = 'parameters.yaml', 'parameters.before.yaml'
REPLACED = ('masses.platform', 'masses.payload')
HEAD = """\
# Identified from a recording by `stewart identify`; see the block `identification` below.
"""


def parameters_document(outcome: Outcome, description: str | Path) -> dict[str, Any]:
    """Make the content of a platform file.

    Args:
        outcome: With a body.
        description: Platform that the identification began with, by name or path.

    Raises:
        NotIdentifiable: If the recording does not determine a body that can exist.
    """
    body = outcome.body
    if body is None:
        raise NotIdentifiable(f'no {NAME} is written: {outcome.verdict}')
    content = renewed(description, 'identified', REPLACED)
    content['masses'].pop('payload', None)
    content['masses']['platform'] = {
        'mass_kg': float(body.mass),
        'centre_of_mass_m': body.centre_of_mass.tolist(),
        'inertia_kgm2': body.inertia.tolist(),
    }
    bags = ', '.join(str(item.get('bag', '?')) for item in outcome.provenance['recordings'])
    content['sources']['masses.platform'] = f'identified from {bags}, payload included'
    content['identification'] = _identification(outcome)
    return content


def renewed(description: str | Path, how: str, replaced: Sequence[str]) -> dict[str, Any]:
    """Return the content of a platform file, named after `how` it is renewed.

    It has no sources any more for what is `replaced`, nor for parts of that.
    """
    content: dict[str, Any] = parsed(platform_path(description).read_text('utf-8'))
    content['name'], content['title'] = f'{content["name"]}_{how}', f'{content["title"]}, {how}'
    content['sources'] = {
        key: text
        for key, text in content['sources'].items()
        if not any(key == gone or key.startswith(f'{gone}.') for gone in replaced)
    }
    return content


def _identification(outcome: Outcome) -> dict[str, Any]:
    ten, others = outcome.parameters[:10], outcome.parameters[10:]
    return {
        'names': [item.name for item in ten],
        'units': [item.unit for item in ten],
        'values': [item.value for item in ten],
        'intervals': [[item.low, item.high] for item in ten],
        'covariance': np.asarray(outcome.covariance).tolist(),
        'friction': {item.name: item.as_dict() for item in others},
        'fit': outcome.fit.as_dict(),
        'validation': None if outcome.validation is None else outcome.validation.as_dict(),
        'remarks': list(outcome.remarks),
        'interrupted': outcome.interrupted,
        'provenance': dict(outcome.provenance),
    }


def write_parameters(outcome: Outcome, description: str | Path, target: Path) -> None:
    """Write a platform file, as a whole or not at all; see `parameters_document`."""
    write_platform(parameters_document(outcome, description), HEAD, target)


def write_platform(content: dict[str, Any], head: str, target: str | Path) -> None:
    """Write the content of a platform file below a comment, as a whole or not at all."""
    # Rows of numbers on one line, sentences one below the other.
    parts = [
        yaml.dump(
            {key: value},
            sort_keys=False,
            allow_unicode=True,
            width=99,
            default_flow_style=None
            if isinstance(value, (dict, list)) and key != 'sources'
            else False,
        )
        for key, value in content.items()
    ]
    with whole_file(target) as stream:
        stream.write(head + ''.join(parts))
