# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The site is built without a warning, and a link that leads nowhere is one."""

from __future__ import annotations

from pathlib import Path
import runpy
import shutil
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]


def built(folder: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a folder, in the environment of this one."""
    return subprocess.run(
        ['scripts/docs', '--site-dir', str(site)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_newcomer_is_sent_to_the_first_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    # MkDocs is not in this environment.
    for name in ('mkdocs', 'mkdocs.structure', 'mkdocs.structure.files'):
        stub = ModuleType(name)
        vars(stub)['File'] = None
        monkeypatch.setitem(sys.modules, name, stub)
    site = runpy.run_path(str(ROOT / 'docs' / 'site.py'))

    assert site['uri_of']('docs/tutorials') == 'tutorials/first_wave.md'
    assert site['uri_of']('docs/decisions') == 'decisions/0001-ros-from-wheels.md'
    nav = site['on_config'](SimpleNamespace()).nav
    listed = [page for part in nav for pages in part.values() for page in listed_in(pages)]
    assert 'docker.md' in listed
    for path in (ROOT / 'docs').rglob('*.md'):
        assert path.relative_to(ROOT / 'docs').as_posix() in listed


def listed_in(pages: str | list[str]) -> list[str]:
    """Return the pages of one part of the navigation."""
    return [pages] if isinstance(pages, str) else pages


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_site_has_all_pages_and_no_dead_link(tmp_path: Path) -> None:
    run = built(ROOT, tmp_path / 'site')
    assert run.returncode == 0, run.stdout + run.stderr
    # pip, which installs the builder the first time, has warnings of its own: 'WARNING: '.
    assert 'WARNING -' not in run.stderr

    assert (tmp_path / 'site' / 'site.css').is_file()
    assert 'A first session' in (tmp_path / 'site' / 'index.html').read_text(encoding='utf-8')
    api = (tmp_path / 'site' / 'api' / 'stewart_kinematics.html').read_text(encoding='utf-8')
    assert 'stewart_kinematics.solvers.forward.forward' in api

    copy = tmp_path / 'copy'
    for name in ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'CITATION.cff', 'mkdocs.yml'):
        copy.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, copy)
    for name in ('docs', 'docker', 'scripts', 'requirements'):
        shutil.copytree(ROOT / name, copy / name)
    (copy / 'src').symlink_to(ROOT / 'src')
    (copy / '.cache').mkdir()
    (copy / '.cache' / 'docs').symlink_to(ROOT / '.cache' / 'docs')
    with (copy / 'docs' / 'safety.md').open('a') as page:
        page.write('\n[nowhere](nowhere.md)\n')
    run = built(copy, tmp_path / 'other')
    assert run.returncode != 0
    assert 'nowhere.md' in run.stderr
