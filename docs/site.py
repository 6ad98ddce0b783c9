# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The site that `make docs` builds: the pages of the repository, and an API page per package.

A hook of MkDocs (mkdocs.yml). READMEs become pages where they stand, links between files of the
repository become links between pages, and the docstrings become pages; nothing is written twice.
"""

from __future__ import annotations

from functools import cache
import os
from pathlib import Path
import re
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
# Text in brackets, then a target that is no address and no place on the same page.
LINK = re.compile(r'(\]\(|src=")(?!https?:|mailto:|#)([^)\s"#]+)')
# In the order of README.md, which is that of a newcomer.
TUTORIALS = [
    f'tutorials/{name}.md'
    for name in (
        'first_wave',
        'own_platform',
        'imu',
        'ethercat',
        'commissioning',
        'calibration',
        'identification',
    )
]
GUIDES = [
    f'{name}.md'
    for name in (
        'architecture',
        'conventions',
        'safety',
        'hardware',
        'driver',
        'ethercat',
        'analogue_card',
        'ros2_control',
        'imu',
        'move_by_hand',
        'motion_cueing',
        'heave_compensation',
        'docker',
    )
]
DECISIONS = [
    f'decisions/{path.name}' for path in sorted((ROOT / 'docs' / 'decisions').glob('*.md'))
]
# What a link to a folder leads to.
FIRST = {'docs/tutorials': TUTORIALS[0], 'docs/decisions': DECISIONS[0]}
NO_API = {'nodes', 'verbs', 'launch', 'demo'}


def on_config(config: Any) -> Any:
    """Lay the pages out."""
    config.nav = [
        {'stewart': 'index.md'},
        {'Tutorials': TUTORIALS},
        {'Guides': GUIDES},
        {'Security': 'security.md'},
        {'Troubleshooting': 'troubleshooting.md'},
        {'Reference': ['reference.md', 'fault_matrix.md', 'measurements.md']},
        {'Packages': [f'packages/{path.name}.md' for path in packages()]},
        {'API': [f'api/{path.name}.md' for path in packages() if modules(path)]},
        {'Decisions': DECISIONS},
        {'Contributing': ['contributing.md', 'changelog.md']},
    ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add what stands outside of docs/: READMEs, what they show, and the API."""
    for place, uri in outside().items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / place)))
    for path in packages():
        if found := modules(path):
            blocks = '\n'.join(f'::: {name}\n' for name in found)
            page = f'# {path.name}\n\n{blocks}'
            files.append(File.generated(config, f'api/{path.name}.md', content=page))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links at pages, wherever the file stands that they are written in."""
    places = {uri: place for place, uri in outside().items()}
    uri = page.file.src_uri
    here = Path(places.get(uri, f'docs/{uri}')).parent

    def pointed(match: re.Match[str]) -> str:
        target = os.path.normpath(here / match[2])
        found = uri_of(target)
        if found is None:
            return match[0]
        return match[1] + os.path.relpath(found, Path(uri).parent)

    return LINK.sub(pointed, markdown)


def packages() -> list[Path]:
    """Return the folders of the packages."""
    return sorted(path.parent for path in ROOT.glob('src/*/package.xml'))


def modules(package: Path) -> list[str]:
    """Return the names of the core modules of a package."""
    top = package / package.name
    return [
        '.'.join(path.relative_to(package).with_suffix('').parts)
        for path in sorted(top.rglob('*.py'))
        if not NO_API & set(path.relative_to(top).parts) and not path.name.startswith('_')
    ]


@cache
def outside() -> dict[str, str]:
    """Return the pages and files that stand outside of docs/, and where they go in the site."""
    known = {
        'README.md': 'index.md',
        'CONTRIBUTING.md': 'contributing.md',
        'CHANGELOG.md': 'changelog.md',
        'docker/README.md': 'docker.md',
    }
    for path in sorted(ROOT.glob('src/**/README.md')):
        known[str(path.relative_to(ROOT))] = f'packages/{path.parent.name}.md'
    for place in (*known, *(str(path.relative_to(ROOT)) for path in ROOT.glob('docs/**/*.md'))):
        for _, target in LINK.findall((ROOT / place).read_text(encoding='utf-8')):
            file = os.path.normpath(Path(place).parent / target)
            if (ROOT / file).is_file() and not file.endswith('.md') and file[:5] != 'docs/':
                known.setdefault(file, f'files/{file}')
    return known


def uri_of(place: str) -> str | None:
    """Return where a file or folder of the repository is in the site; None if it is not."""
    known = outside()
    for name in (place, f'{place}/README.md'):
        if name in known:
            return known[name]
    if not place.startswith('docs/'):
        return None
    return FIRST.get(place, place.removeprefix('docs/'))
